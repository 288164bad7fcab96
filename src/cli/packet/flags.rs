//! The flags that `run` and `plan` share (spec P22).

use clap::Args;
use runvil::packet::{Mapping, Selectors};

use super::host::HostFlags;

/// Which prompts, and with which options.
#[derive(Args)]
pub struct RunFlags {
    #[command(flatten)]
    pub selection: SelectionFlags,

    #[command(flatten)]
    pub options: OptionFlags,

    #[command(flatten)]
    #[allow(dead_code, reason = "`plan` takes the flags of `run` and runs nothing")]
    pub host: HostFlags,

    #[command(flatten)]
    #[allow(dead_code, reason = "`plan` takes the flags of `run` and runs nothing")]
    pub run: RunOnlyFlags,
}

/// Which prompts.
#[derive(Args)]
#[command(next_help_heading = "Selection (by default every prompt)")]
pub struct SelectionFlags {
    /// Every prompt
    #[arg(long)]
    all: bool,

    /// The prompts that are not recorded as completed
    #[arg(long)]
    remaining: bool,

    /// The prompts of a phase
    #[arg(long, value_name = "N")]
    phase: Option<i64>,

    /// The first prompt, in packet order
    #[arg(long, value_name = "ID")]
    from: Option<String>,

    /// The last prompt, in packet order
    #[arg(long, value_name = "ID")]
    through: Option<String>,
}

impl SelectionFlags {
    /// What is selected, of these ids where there are any.
    pub fn selectors(&self, ids: &[String]) -> Selectors {
        Selectors {
            ids: ids.to_vec(),
            phase: self.phase,
            remaining: self.remaining,
            from: self.from.clone(),
            through: self.through.clone(),
        }
    }
}

/// Options that go before those of the packet and of its prompts.
#[derive(Args)]
#[command(next_help_heading = "Options (they go before the packet's and each prompt's own)")]
pub struct OptionFlags {
    /// Who runs the prompts: simulated, command, runvil, model, or an alias
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,

    /// The model's id
    #[arg(long, value_name = "ID")]
    model: Option<String>,

    /// How long a session may take, in milliseconds, or `unbounded`
    #[arg(long, value_name = "MS")]
    timeout: Option<String>,

    /// Run on after a failure, with the prompts that do not depend on it
    #[arg(long)]
    keep_going: bool,

    /// compact, verbose or studio
    #[arg(long, value_name = "MODE")]
    log_mode: Option<String>,

    /// none, or full: show a provider's standard error with a failure
    #[arg(long, value_name = "WHAT")]
    log_meta: Option<String>,

    /// compact, full or off
    #[arg(long, value_name = "MODE")]
    events_mode: Option<String>,

    /// summary, preview or full
    #[arg(long, value_name = "HOW")]
    tool_output: Option<String>,

    /// show or hide
    #[arg(long, value_name = "HOW")]
    thinking: Option<String>,

    /// none, stat or full; has no effect yet
    #[arg(long, value_name = "HOW")]
    diff: Option<String>,

    /// off, warn or require: what a model means that is not the configured one
    #[arg(long, value_name = "HOW")]
    cli_confirmation: Option<String>,
}

impl OptionFlags {
    /// The flags under the names of the manifest's keys.
    pub fn keys(&self) -> Mapping {
        let given = [
            ("provider", &self.provider),
            ("model", &self.model),
            ("timeout", &self.timeout),
            ("log_mode", &self.log_mode),
            ("log_meta", &self.log_meta),
            ("events_mode", &self.events_mode),
            ("tool_output", &self.tool_output),
            ("thinking", &self.thinking),
            ("diff", &self.diff),
            ("cli_confirmation", &self.cli_confirmation),
        ];
        let mut keys = Mapping::new();
        for (key, value) in given {
            if let Some(value) = value {
                keys.insert(key.into(), value.as_str().into());
            }
        }
        if self.keep_going {
            keys.insert("failure_policy".into(), "continue_independent".into());
        }
        keys
    }
}

/// Flags of `run` that `plan` takes without a use for them.
#[derive(Args)]
#[command(next_help_heading = "Running")]
#[allow(dead_code, reason = "`plan` takes the flags of `run` and runs nothing")]
pub struct RunOnlyFlags {
    /// Leave an unfinished run behind and begin a new one
    #[arg(long)]
    pub new_run: bool,

    /// Evaluate each contract before its prompt is run, and run no session where it holds; the
    /// default with --remaining and no ids
    #[arg(long, overrides_with = "no_verify_first")]
    pub verify_first: bool,

    /// Evaluate no contract before its prompt is run
    #[arg(long, overrides_with = "verify_first")]
    pub no_verify_first: bool,

    /// Commit nothing: the sessions do
    #[arg(long)]
    pub no_commit: bool,

    /// Who commits: git or noop
    #[arg(long, value_name = "WHO", value_parser = ["git", "noop"], default_value = "git")]
    pub committer: String,

    /// Do not look whether the packet can be run
    #[arg(long)]
    pub skip_preflight: bool,

    /// Show what would be run, and run nothing
    #[arg(long)]
    pub dry_run: bool,
}
