//! What is in force for a prompt: options of the profile, the manifest, the prompt and the command
//! line, the later over the earlier (spec P8, P16).

use std::sync::LazyLock;
use std::time::Duration;

use serde::Serialize;
use serde_yaml::{Mapping, Value};

use super::alias::Aliases;
use super::error::PacketError;
use super::front_matter;
use super::keys::{Keys, integer};
use super::merge::merge;
use super::words::{
    CliConfirmation, Diff, EventsMode, FailurePolicy, LogMeta, LogMode, PermissionMode,
    ProviderKind, Thinking, ToolOutput,
};

/// The keys that a prompt may have of these (spec P12).
pub(super) const PROMPT_KEYS: &[&str] = &[
    "provider",
    "model",
    "reasoning_effort",
    "permission_mode",
    "allowed_tools",
    "timeout",
    "system_prompt",
    "append_system_prompt",
    "max_turns",
    "cli_confirmation",
    "command",
    "runvil",
    "recovery",
];

/// How long a session may take that has no bound of its own: seven days (spec P125).
pub const UNBOUNDED: Duration = Duration::from_millis(604_800_000);

/// The defaults of `recovery` (spec P79).
const RECOVERY: &str = "\
resume_attempts: 2
max_steers: 3
retry:
  max_attempts: 3
  base_delay_ms: 1000
  max_delay_ms: 30000
  jitter: true
  class_attempts:
    provider_capacity: 5
    provider_rate_limit: 5
    provider_auth_claim: 3
    provider_config_claim: 3
    provider_runtime_claim: 3
    transport_disconnect: 4
    transport_timeout: 4
    protocol_error: 4
    unknown: 3
repair:
  enabled: true
  max_attempts: 2
  trigger_on_nominal_success_with_failed_verifier: true
  trigger_on_provider_failure_with_workspace_changes: true
  trigger_on_retry_exhaustion_with_workspace_changes: true
  consecutive: false
";

/// The defaults of `recovery`, as a map (spec P79).
#[must_use]
pub fn default_recovery() -> &'static Mapping {
    static READ: LazyLock<Mapping> =
        LazyLock::new(|| front_matter::read(RECOVERY).unwrap_or_default());
    &READ
}

/// The provider in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Provider {
    /// Its name as written, which may be an alias.
    pub name: String,
    /// What it is; `None` for a name that is neither built in nor an alias.
    pub kind: Option<ProviderKind>,
}

/// The options in force.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Options {
    /// Who runs prompts; `None` where no layer says.
    pub provider: Option<Provider>,
    /// The model's id.
    pub model: Option<String>,
    /// Handed to the provider.
    pub reasoning_effort: Option<String>,
    /// What the provider may do without asking.
    pub permission_mode: PermissionMode,
    /// The tools that the provider may use; `None` for all.
    pub allowed_tools: Option<Vec<String>>,
    /// How long a session may take, its resumes included.
    #[serde(rename = "timeout_ms", serialize_with = "milliseconds")]
    pub timeout: Duration,
    /// Stands for the provider's own system text.
    pub system_prompt: Option<String>,
    /// Comes after the system text.
    pub append_system_prompt: Option<String>,
    /// The most rounds of a session.
    pub max_turns: Option<u64>,
    /// What a model means that is not the configured one.
    pub cli_confirmation: CliConfirmation,
    /// How a run is shown.
    pub log_mode: LogMode,
    /// Whether a provider's standard error is shown with a failure.
    pub log_meta: LogMeta,
    /// How provider events are written.
    pub events_mode: EventsMode,
    /// How much of a tool's output is shown.
    pub tool_output: ToolOutput,
    /// Whether reasoning is shown.
    pub thinking: Thinking,
    /// How changes are shown.
    pub diff: Diff,
    /// What a failed prompt means for the rest.
    pub failure_policy: FailurePolicy,
    /// The block of the `command` provider.
    pub command: Mapping,
    /// The block of the `runvil` provider.
    pub runvil: Mapping,
    /// All settings of `recovery`, merged over their defaults; none of them is checked.
    pub recovery: Mapping,
}

impl Options {
    /// The provider in force.
    ///
    /// # Errors
    /// [`PacketError::NoProvider`] where no layer names one.
    pub fn provider(&self) -> Result<&Provider, PacketError> {
        self.provider.as_ref().ok_or(PacketError::NoProvider)
    }

    /// Looks at the options of one layer.
    ///
    /// # Errors
    /// The first value that a key cannot have (spec P10).
    pub(super) fn check(keys: Keys<'_>) -> Result<(), PacketError> {
        Self::read(keys, None).map(drop)
    }

    /// The options that layers make, the lowest first. The keys of an alias are a layer just under
    /// the one that names it (spec P128).
    pub(super) fn resolve(layers: &[&Mapping], aliases: &Aliases) -> Result<Self, PacketError> {
        let namer = layers.iter().rposition(|it| it.contains_key("provider"));
        let mut merged = Mapping::new();
        let mut provider = None;
        for (at, layer) in layers.iter().enumerate() {
            let name = layer.get("provider").and_then(Value::as_str);
            if let Some(name) = name.filter(|_| namer == Some(at)) {
                let (kind, keys) = aliases.provider(name)?;
                merge(&mut merged, &keys);
                provider = Some(Provider {
                    name: name.to_owned(),
                    kind,
                });
            }
            merge(&mut merged, layer);
        }
        Self::read(Keys::new(&merged, None), provider)
    }

    fn read(keys: Keys<'_>, provider: Option<Provider>) -> Result<Self, PacketError> {
        let mut recovery = default_recovery().clone();
        if let Some(own) = keys.map("recovery")? {
            merge(&mut recovery, own);
        }
        keys.read("provider", Value::as_str)?;
        Ok(Self {
            provider,
            model: keys.text("model")?,
            reasoning_effort: keys.text("reasoning_effort")?,
            permission_mode: keys
                .read("permission_mode", |value| {
                    PermissionMode::parse(value.as_str()?)
                })?
                .unwrap_or_default(),
            allowed_tools: keys.texts("allowed_tools")?,
            timeout: keys.read("timeout", timeout)?.unwrap_or(UNBOUNDED),
            system_prompt: keys.text("system_prompt")?,
            append_system_prompt: keys.text("append_system_prompt")?,
            max_turns: keys.read("max_turns", positive)?,
            cli_confirmation: cli_confirmation(keys)?.unwrap_or_default(),
            log_mode: keys.word("log_mode", LogMode::WORDS)?.unwrap_or_default(),
            log_meta: keys.word("log_meta", LogMeta::WORDS)?.unwrap_or_default(),
            events_mode: keys
                .word("events_mode", EventsMode::WORDS)?
                .unwrap_or_default(),
            tool_output: keys
                .word("tool_output", ToolOutput::WORDS)?
                .unwrap_or_default(),
            thinking: keys.word("thinking", Thinking::WORDS)?.unwrap_or_default(),
            diff: keys.word("diff", Diff::WORDS)?.unwrap_or_default(),
            failure_policy: keys
                .word("failure_policy", FailurePolicy::WORDS)?
                .unwrap_or_default(),
            command: keys.map("command")?.cloned().unwrap_or_default(),
            runvil: keys.map("runvil")?.cloned().unwrap_or_default(),
            recovery,
        })
    }
}

fn cli_confirmation(keys: Keys<'_>) -> Result<Option<CliConfirmation>, PacketError> {
    match keys.get("cli_confirmation") {
        Some(Value::Bool(false)) => Ok(Some(CliConfirmation::Off)),
        _ => keys.word("cli_confirmation", CliConfirmation::WORDS),
    }
}

/// A bound on a session: milliseconds above 0, or a word for none.
fn timeout(value: &Value) -> Option<Duration> {
    match value.as_str() {
        Some("unbounded" | "infinity" | "infinite") => Some(UNBOUNDED),
        _ => positive(value).map(Duration::from_millis),
    }
}

/// A whole number above 0, or its digits.
fn positive(value: &Value) -> Option<u64> {
    let number = u64::try_from(integer(value)?).ok()?;
    (number > 0).then_some(number)
}

fn milliseconds<S: serde::Serializer>(
    duration: &Duration,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let milliseconds = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    serializer.serialize_u64(milliseconds)
}
