//! A rule of a script: which rounds it answers, and with what (spec C8).

use std::sync::Arc;
use std::time::Duration;

use regex::Regex;
use serde::Deserialize;

use super::file::RuleFile;
use crate::engine::model::{Message, ModelFailure, Role, Round, Usage};
use crate::lua::Data;

/// A rule.
#[derive(Debug, Deserialize)]
#[serde(try_from = "RuleFile")]
pub(super) struct Rule {
    pub(super) when: When,
    /// How often it may answer; `None` for without end.
    pub(super) times: Option<u64>,
    pub(super) delay: Duration,
    pub(super) act: Act,
}

/// What a round's last message must be; all that is there must hold.
#[derive(Debug)]
pub(super) struct When {
    pub(super) contains: Option<String>,
    pub(super) matches: Option<Regex>,
    pub(super) tool_result: Option<String>,
}

/// What a rule answers.
#[derive(Debug)]
pub(super) enum Act {
    Fail {
        failure: ModelFailure,
        /// The body of the reply that it is; may be empty.
        body: String,
    },
    Reply {
        said: Said,
        reasoning: Arc<str>,
        finish_reason: Option<String>,
        usage: Option<Usage>,
    },
}

/// What a reply is made of.
#[derive(Debug)]
pub(super) enum Said {
    Text(Arc<str>),
    Calls(Vec<Call>),
}

/// A call without its id.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) name: Arc<str>,
    pub(super) arguments: Data,
}

/// What rules look at: a round's last message.
pub(super) struct Last<'a> {
    pub(super) text: String,
    /// The tool whose result it is.
    tool: Option<&'a str>,
}

impl<'a> Last<'a> {
    pub(super) fn of(round: &'a Round) -> Self {
        let last = round.messages.last();
        Self {
            text: last.map(|last| last.content.joined()).unwrap_or_default(),
            tool: last.and_then(|last| tool_of(last, &round.messages)),
        }
    }
}

/// The tool whose result a message is, by the nearest assistant message that made its call.
fn tool_of<'a>(result: &Message, messages: &'a [Message]) -> Option<&'a str> {
    let id = result.tool_call_id.as_ref()?;
    let mut before = messages.iter().rev();
    let caller = before.find(|message| message.role == Role::Assistant)?;
    let mut calls = caller.tool_calls.iter();
    calls.find(|call| call.id == *id).map(|call| &*call.name)
}

impl When {
    pub(super) fn holds(&self, last: &Last<'_>) -> bool {
        let contains = self.contains.as_ref();
        let matches = self.matches.as_ref();
        let tool = self.tool_result.as_deref();
        contains.is_none_or(|part| last.text.contains(part))
            && matches.is_none_or(|regex| regex.is_match(&last.text))
            && tool.is_none_or(|tool| last.tool == Some(tool))
    }
}
