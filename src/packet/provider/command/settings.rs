//! The block `command` (spec P134).

use std::collections::BTreeMap;
use std::time::Duration;

use serde_yaml::{Mapping, Value};

use super::rules::Rule;
use super::template::Template;
use crate::packet::contract::data::plain;
use crate::packet::environment::is_variable;
use crate::packet::error::PacketError;
use crate::packet::failure::FailureClass;
use crate::packet::keys::{Keys, scalar};
use crate::packet::scalar::natural;

const KEYS: &[&str] = &[
    "argv",
    "prompt",
    "output",
    "events",
    "kinds",
    "exit_codes",
    "require_done",
    "resume_argv",
    "repo_args",
    "env",
    "unset",
    "idle_timeout_ms",
    "max_output_bytes",
];

/// How many bytes of output there may be.
const MOST_OUTPUT: u64 = 256 << 20;

/// How the program is told the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Delivery {
    /// Its standard input.
    #[default]
    Stdin,
    /// A file.
    File,
    /// An argument.
    Arg,
}

/// What the program's standard output is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// Messages, one a line.
    #[default]
    Text,
    /// Events, a JSON object each.
    JsonLines,
}

/// The block as read.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) argv: Template,
    pub(super) resume_argv: Option<Template>,
    pub(super) repo_args: Template,
    pub(super) delivery: Delivery,
    pub(super) form: Form,
    pub(super) rules: Vec<Rule>,
    pub(super) kinds: BTreeMap<String, FailureClass>,
    /// The class of each exit status that means something; `None` for success.
    pub(super) exit_codes: BTreeMap<i32, Option<FailureClass>>,
    pub(super) require_done: bool,
    pub(super) env: Vec<(String, String)>,
    pub(super) unset: Vec<String>,
    pub(super) idle: Option<Duration>,
    pub(super) most_output: u64,
}

impl Settings {
    /// Reads the block; what is wrong with it otherwise.
    pub(super) fn read(block: &Mapping) -> Result<Self, String> {
        let strange = block.keys().map(|key| scalar(key).unwrap_or_default());
        if let Some(key) = strange.into_iter().find(|key| !KEYS.contains(&&**key)) {
            return Err(format!("command: unknown key {key:?}"));
        }
        let keys = Keys::new(block, Some("command"));
        let said = |error: PacketError| error.to_string();
        let argv = template(keys, "argv")?;
        Ok(Self {
            argv: argv.ok_or("command: argv is missing")?,
            resume_argv: template(keys, "resume_argv")?,
            repo_args: template(keys, "repo_args")?.unwrap_or_default(),
            delivery: keys
                .word(
                    "prompt",
                    &[
                        ("stdin", Delivery::Stdin),
                        ("file", Delivery::File),
                        ("arg", Delivery::Arg),
                    ],
                )
                .map_err(said)?
                .unwrap_or_default(),
            form: keys
                .word(
                    "output",
                    &[("text", Form::Text), ("jsonl", Form::JsonLines)],
                )
                .map_err(said)?
                .unwrap_or_default(),
            rules: match keys.get("events") {
                None => Rule::native(),
                Some(value) => Rule::read_all(value)?,
            },
            kinds: classes(
                keys,
                "kinds",
                |kind| Some(kind.to_owned()),
                FailureClass::of_kind,
            )?,
            exit_codes: classes(
                keys,
                "exit_codes",
                |code| code.parse().ok().filter(|code| (0..256).contains(code)),
                |class| match class {
                    "ok" => Some(None),
                    class => FailureClass::of_kind(class).map(Some),
                },
            )?,
            require_done: keys
                .read("require_done", Value::as_bool)
                .map_err(said)?
                .unwrap_or(false),
            env: environment(keys)?,
            unset: unset(keys)?,
            idle: keys
                .read("idle_timeout_ms", positive)
                .map_err(said)?
                .map(Duration::from_millis),
            most_output: keys
                .read("max_output_bytes", positive)
                .map_err(said)?
                .unwrap_or(MOST_OUTPUT),
        })
    }
}

fn positive(value: &Value) -> Option<u64> {
    natural(&plain(value)).filter(|number| *number > 0)
}

fn template(keys: Keys<'_>, key: &str) -> Result<Option<Template>, String> {
    let Some(value) = keys.get(key) else {
        return Ok(None);
    };
    let template = Template::read(value)?;
    let template = template.ok_or_else(|| keys.invalid(key, value).to_string())?;
    Ok(Some(template))
}

/// A map of what the program says to classes of failures.
fn classes<K: Ord, C>(
    keys: Keys<'_>,
    key: &str,
    name: impl Fn(&str) -> Option<K>,
    class: impl Fn(&str) -> Option<C>,
) -> Result<BTreeMap<K, C>, String> {
    let map = keys.map(key).map_err(|error| error.to_string())?;
    let entries = map.into_iter().flatten().map(|(code, value)| {
        let read = || Some((name(&scalar(code)?)?, class(value.as_str()?)?));
        let written = || scalar(code).unwrap_or_default();
        read().ok_or_else(|| {
            keys.invalid(&format!("{key}.{}", written()), value)
                .to_string()
        })
    });
    entries.collect()
}

fn unset(keys: Keys<'_>) -> Result<Vec<String>, String> {
    let names = keys.texts("unset").map_err(|error| error.to_string())?;
    let names = names.unwrap_or_default();
    match (
        names.iter().all(|name| is_variable(name, "")),
        keys.get("unset"),
    ) {
        (false, Some(value)) => Err(keys.invalid("unset", value).to_string()),
        _ => Ok(names),
    }
}

fn environment(keys: Keys<'_>) -> Result<Vec<(String, String)>, String> {
    let map = keys.map("env").map_err(|error| error.to_string())?;
    let entries = map.into_iter().flatten().map(|(name, value)| {
        let read = || {
            let pair = (scalar(name)?, scalar(value)?);
            is_variable(&pair.0, &pair.1).then_some(pair)
        };
        read().ok_or_else(|| keys.invalid("env", value).to_string())
    });
    entries.collect()
}
