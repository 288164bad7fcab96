//! A script as it is written (spec C8).

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use regex::Regex;
use serde::{Deserialize, Deserializer};

use super::rule::{Act, Call, Rule, Said, When};
use crate::engine::model::{FailureClass, Model, ModelFailure, Thinking, Usage};
use crate::harness::model::{ModelId, classify};
use crate::harness::pattern;
use crate::harness::yaml::Located;
use crate::lua::Data;

/// A script's file.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a map")]
pub(super) struct ScriptFile {
    pub(super) model: ModelEntry,
    pub(super) rounds: Vec<Located<Rule>>,
}

/// The model that the script plays.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a map")]
pub(super) struct ModelEntry {
    id: Option<Located<ModelId>>,
    context: NonZeroU32,
    thinking: Thinking,
    description: String,
}

impl Default for ModelEntry {
    fn default() -> Self {
        Self {
            id: None,
            context: NonZeroU32::new(200_000).unwrap_or(NonZeroU32::MAX),
            thinking: Thinking::Switchable,
            description: "Scripted replies".to_owned(),
        }
    }
}

impl From<ModelEntry> for Model {
    fn from(entry: ModelEntry) -> Self {
        Self {
            id: entry
                .id
                .map_or_else(|| "scripted".into(), |Located(id)| id.into()),
            context: entry.context.get(),
            thinking: entry.thinking,
            description: entry.description.into(),
        }
    }
}

/// A rule.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a map")]
pub(super) struct RuleFile {
    when: WhenFile,
    times: Option<u64>,
    delay_ms: u64,
    reply: Option<String>,
    calls: Vec<CallFile>,
    reasoning: Option<String>,
    #[serde(deserialize_with = "given")]
    finish_reason: Option<Option<String>>,
    usage: Option<UsageFile>,
    error: Option<Located<Failure>>,
}

/// A value that may be null, as one that is there.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a map")]
struct WhenFile {
    contains: Option<String>,
    matches: Option<Located<Pattern>>,
    tool_result: Option<String>,
}

impl From<WhenFile> for When {
    fn from(file: WhenFile) -> Self {
        Self {
            contains: file.contains,
            matches: file.matches.map(|Located(Pattern(regex))| regex),
            tool_result: file.tool_result,
        }
    }
}

/// A regular expression.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Pattern(Regex);

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let compiled = Regex::new(&text).map(Self);
        compiled.map_err(|error| format!("invalid regular expression: {}", pattern::cause(&error)))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a map")]
struct CallFile {
    name: Located<Name>,
    #[serde(default)]
    arguments: Located<Arguments>,
}

impl From<CallFile> for Call {
    fn from(file: CallFile) -> Self {
        let (Located(Name(name)), Located(Arguments(arguments))) = (file.name, file.arguments);
        Self { name, arguments }
    }
}

/// The name of a tool; a blank one would make the reply malformed (spec M67).
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Name(Arc<str>);

impl TryFrom<String> for Name {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.trim().is_empty() {
            true => Err("the name is blank"),
            false => Ok(Self(text.into())),
        }
    }
}

/// The arguments of a call: an object, none by default.
#[derive(Deserialize)]
#[serde(try_from = "Data")]
struct Arguments(Data);

impl Default for Arguments {
    fn default() -> Self {
        Self(Data::empty())
    }
}

/// Whether all numbers are; a file's depth is bounded by its reader.
fn is_finite(data: &Data) -> bool {
    match data {
        Data::Float(number) => number.is_finite(),
        Data::List(items) => items.iter().all(is_finite),
        Data::Map(entries) => entries.values().all(is_finite),
        _ => true,
    }
}

impl TryFrom<Data> for Arguments {
    type Error = &'static str;

    fn try_from(data: Data) -> Result<Self, Self::Error> {
        if !matches!(data, Data::Map(_)) {
            return Err("arguments are a map");
        }
        match is_finite(&data) {
            true => Ok(Self(data)),
            false => Err("arguments are JSON, which has no number that is not finite"),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a map")]
struct UsageFile {
    prompt_tokens: u32,
    completion_tokens: u32,
    cached_tokens: Option<u32>,
    reasoning_tokens: Option<u32>,
}

impl From<UsageFile> for Usage {
    fn from(file: UsageFile) -> Self {
        Self {
            prompt_tokens: file.prompt_tokens,
            completion_tokens: file.completion_tokens,
            total_tokens: file.prompt_tokens.saturating_add(file.completion_tokens),
            cached_tokens: file.cached_tokens,
            reasoning_tokens: file.reasoning_tokens,
        }
    }
}

#[derive(Deserialize)]
#[serde(try_from = "ErrorFile")]
struct Failure {
    failure: ModelFailure,
    /// The body of the reply that it is.
    body: String,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a map")]
struct ErrorFile {
    transport: Option<bool>,
    timeout: Option<bool>,
    status: Option<u16>,
    body: Option<String>,
    malformed: Option<String>,
    overflow: Option<bool>,
}

impl TryFrom<ErrorFile> for Failure {
    type Error = &'static str;

    fn try_from(file: ErrorFile) -> Result<Self, Self::Error> {
        let of = |class, status| Ok(ModelFailure::new(class, status));
        let flag = |flag: Option<bool>, failure: Result<ModelFailure, _>| {
            flag.map(|set| {
                if set {
                    failure
                } else {
                    Err("it is `true`, or not there")
                }
            })
        };
        if file.body.is_some() && file.status.is_none() {
            return Err("a `body` goes with a `status`");
        }
        let body = file.body.unwrap_or_default();
        let kinds = [
            flag(file.transport, of(FailureClass::Connection, None)),
            flag(file.timeout, of(FailureClass::Timeout, None)),
            flag(file.overflow, of(FailureClass::Overflow, Some(400))),
            file.malformed.map(|what| Ok(ModelFailure::malformed(what))),
            file.status.map(|status| match status {
                100..=199 | 300..=999 => Ok(classify(status, &body)),
                _ => Err("`status` is an HTTP status that tells of a failure"),
            }),
        ];
        let mut given = kinds.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(failure), None) => failure.map(|failure| Self { failure, body }),
            _ => {
                Err("an error is one of `transport`, `timeout`, `status`, `malformed`, `overflow`")
            }
        }
    }
}

impl TryFrom<RuleFile> for Rule {
    type Error = &'static str;

    fn try_from(file: RuleFile) -> Result<Self, Self::Error> {
        let act = match file.error {
            Some(Located(Failure { failure, body })) => {
                let said = file.reply.is_some() || !file.calls.is_empty();
                let told = file.reasoning.is_some() || file.usage.is_some();
                if said || told || file.finish_reason.is_some() {
                    return Err("a rule with an `error` has no reply");
                }
                Act::Fail { failure, body }
            }
            None => {
                let said = match (file.reply, file.calls.is_empty()) {
                    (None, true) => return Err("a rule has a `reply`, `calls` or an `error`"),
                    (text, true) => Said::Text(text.unwrap_or_default().into()),
                    (_, false) => Said::Calls(file.calls.into_iter().map(Call::from).collect()),
                };
                let usual = match said {
                    Said::Text(_) => "stop",
                    Said::Calls(_) => "tool_calls",
                };
                Act::Reply {
                    said,
                    reasoning: file.reasoning.unwrap_or_default().into(),
                    finish_reason: file.finish_reason.unwrap_or(Some(usual.to_owned())),
                    usage: file.usage.map(Usage::from),
                }
            }
        };
        Ok(Self {
            when: file.when.into(),
            times: file.times,
            delay: Duration::from_millis(file.delay_ms),
            act,
        })
    }
}
