//! What a run reports while it goes (spec K182 to K190).

use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::model::{Metrics, ToolCall};
use super::store::StoreOp;
use crate::lua::Data;

/// One event, with its coordinates (spec K182, K183).
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What happened, with the kind's own fields.
    pub kind: EventKind,
    /// The run's name.
    pub execution: Arc<str>,
    /// The heading text of the section it is reported under.
    pub section: Arc<str>,
    /// The id of the nearest task.
    pub task: Arc<str>,
    /// The number within the task.
    pub seq: u32,
}

/// The kinds of event, with the fields each adds.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// A kind without fields of its own, by its written name.
    Plain(&'static str),
    /// `lua`: an author's checkpoint.
    Checkpoint {
        /// The message, verbatim.
        message: String,
    },
    /// `lua_require_started`, `_succeeded` or `_failed` (spec R11).
    Require {
        /// The written name of the kind.
        name: &'static str,
        /// The required section's heading text.
        target: Arc<str>,
    },
    /// `task_started` (spec K184).
    TaskStarted(Box<TaskStarted>),
    /// `task_succeeded`, `task_failed` or `task_cancelled`.
    TaskEnded {
        /// The written name of the kind.
        name: &'static str,
        /// The task's id.
        task: Arc<str>,
    },
    /// `model_metadata_degraded`.
    Degraded {
        /// The round's number in its task.
        turn: u32,
        /// What was ignored, and why.
        message: String,
    },
    /// `thinking`: the reasoning that came with a reply.
    Thinking {
        /// The round's number in its task.
        turn: u32,
        /// The model that the provider named.
        model: Arc<str>,
        /// The reasoning.
        text: Arc<str>,
    },
    /// `assistant_reply` (spec K187).
    AssistantReply(Box<AssistantReply>),
    /// `assistant_tool_calls`.
    AssistantToolCalls {
        /// The round's number in its task.
        turn: u32,
        /// The model that the provider named.
        model: Arc<str>,
        /// The calls, in order.
        calls: Arc<[ToolCall]>,
    },
    /// `tool_result` (spec K189).
    ToolResult(Box<ToolResult>),
    /// `task_abandoned`.
    TaskAbandoned {
        /// The task's id.
        task: Arc<str>,
        /// Why (spec K135).
        reason: &'static str,
    },
    /// `task_notice`: what the model that started a task is told of its end (spec K165).
    TaskNotice {
        /// How many rounds the owner's task had had answered.
        turn: u32,
        /// The task's id.
        task: Arc<str>,
        /// The notice.
        text: Arc<str>,
    },
}

/// What a task starts with, as its event says.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskStarted {
    /// The task's id.
    pub task: Arc<str>,
    /// The heading text of the section it starts at.
    pub target: Arc<str>,
    /// `author` or `model`.
    pub origin: &'static str,
    /// Its own argument string, if it was given one.
    pub input: Option<Arc<str>>,
    /// Its item, if it was given one.
    pub item: Option<Data>,
    /// Its index, if it was given one.
    pub index: Option<i64>,
    /// The snapshot of `var`.
    pub var: Data,
}

/// A model's answer, as its event says.
#[derive(Clone, Debug, PartialEq)]
pub struct AssistantReply {
    /// The round's number in its task.
    pub turn: u32,
    /// The whole text.
    pub text: Arc<str>,
    /// Why the provider says it ended.
    pub finish_reason: Option<String>,
    /// The model that the provider named.
    pub model: Arc<str>,
    /// What started the round.
    pub origin: &'static str,
    /// What it cost, where the reply says so.
    pub metrics: Metrics,
}

/// The result of a tool call, as its event says.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The number of the round that called, or of those before a script's call.
    pub turn: u32,
    /// The model's call; empty for a script's.
    pub tool_call_id: Arc<str>,
    /// The name it is counted under.
    pub alias: Arc<str>,
    /// The text that script or model received.
    pub content: Arc<str>,
    /// Whether the tool is trusted.
    pub trusted: bool,
}

impl EventKind {
    /// The kind's name as it is written.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Plain(name) | Self::Require { name, .. } | Self::TaskEnded { name, .. } => name,
            Self::Checkpoint { .. } => "lua",
            Self::TaskStarted(_) => "task_started",
            Self::TaskAbandoned { .. } => "task_abandoned",
            Self::TaskNotice { .. } => "task_notice",
            Self::Degraded { .. } => "model_metadata_degraded",
            Self::Thinking { .. } => "thinking",
            Self::AssistantReply(_) => "assistant_reply",
            Self::AssistantToolCalls { .. } => "assistant_tool_calls",
            Self::ToolResult(_) => "tool_result",
        }
    }
}

/// A tool call as events write it.
#[derive(serde::Serialize)]
struct Call<'a> {
    id: &'a str,
    name: &'a str,
    arguments: &'a Data,
}

impl<'a> Call<'a> {
    fn new(call: &'a ToolCall) -> Self {
        Self {
            id: &call.id,
            name: &call.name,
            arguments: &call.arguments,
        }
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Provenance<'a> {
            task: &'a str,
            seq: u32,
        }
        let mut map = serializer.serialize_map(None)?;
        self.head(&mut map)?;
        let provenance = Provenance {
            task: &self.task,
            seq: self.seq,
        };
        map.serialize_entry("provenance", &provenance)?;
        self.kind.fields(&mut map)?;
        map.end()
    }
}

impl Event {
    /// Writes what every event has before its coordinates.
    fn head<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("kind", self.kind.name())?;
        map.serialize_entry("execution", &*self.execution)?;
        map.serialize_entry("section", &*self.section)
    }
}

impl EventKind {
    /// Writes the kind's own fields.
    pub(crate) fn fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Self::Plain(_) => {}
            Self::Checkpoint { message } => map.serialize_entry("message", message)?,
            Self::Require { target, .. } => map.serialize_entry("target", &**target)?,
            Self::TaskStarted(started) => {
                map.serialize_entry("task", &*started.task)?;
                map.serialize_entry("target", &*started.target)?;
                map.serialize_entry("origin", started.origin)?;
                if let Some(input) = &started.input {
                    map.serialize_entry("input", &**input)?;
                }
                if let Some(item) = &started.item {
                    map.serialize_entry("item", item)?;
                }
                if let Some(index) = started.index {
                    map.serialize_entry("index", &index)?;
                }
                map.serialize_entry("var", &started.var)?;
            }
            Self::TaskEnded { task, .. } => map.serialize_entry("task", &**task)?,
            Self::TaskAbandoned { task, reason } => {
                map.serialize_entry("task", &**task)?;
                map.serialize_entry("reason", reason)?;
            }
            Self::TaskNotice { turn, task, text } => {
                map.serialize_entry("turn", turn)?;
                map.serialize_entry("task", &**task)?;
                map.serialize_entry("text", &**text)?;
            }
            Self::Degraded { turn, message } => {
                map.serialize_entry("turn", turn)?;
                map.serialize_entry("message", message)?;
            }
            Self::Thinking { turn, model, text } => {
                map.serialize_entry("turn", turn)?;
                map.serialize_entry("model", &**model)?;
                map.serialize_entry("text", &**text)?;
            }
            Self::AssistantReply(reply) => {
                map.serialize_entry("turn", &reply.turn)?;
                map.serialize_entry("text", &*reply.text)?;
                if let Some(reason) = &reply.finish_reason {
                    map.serialize_entry("finish_reason", reason)?;
                }
                map.serialize_entry("model", &*reply.model)?;
                map.serialize_entry("origin", reply.origin)?;
                if !reply.metrics.is_empty() {
                    map.serialize_entry("metrics", &reply.metrics)?;
                }
            }
            Self::AssistantToolCalls { turn, model, calls } => {
                map.serialize_entry("turn", turn)?;
                map.serialize_entry("model", &**model)?;
                let calls: Vec<Call> = calls.iter().map(Call::new).collect();
                map.serialize_entry("calls", &calls)?;
            }
            Self::ToolResult(result) => {
                map.serialize_entry("turn", &result.turn)?;
                map.serialize_entry("tool_call_id", &*result.tool_call_id)?;
                map.serialize_entry("alias", &*result.alias)?;
                map.serialize_entry("content", &*result.content)?;
                map.serialize_entry("trusted", &result.trusted)?;
            }
        }
        Ok(())
    }
}

/// The events of a store operation's success and failure, where it has them (spec S46).
pub(super) fn store_events(op: &StoreOp) -> Option<(&'static str, &'static str)> {
    Some(match op.event_name()? {
        "write" => ("store_write_succeeded", "store_write_failed"),
        "append" => ("store_append_succeeded", "store_append_failed"),
        "read" => ("store_read_succeeded", "store_read_failed"),
        "read_numbered" => (
            "store_read_numbered_succeeded",
            "store_read_numbered_failed",
        ),
        "replace" => ("store_replace_succeeded", "store_replace_failed"),
        "delete" => ("store_delete_succeeded", "store_delete_failed"),
        "glob" => ("store_glob_succeeded", "store_glob_failed"),
        _ => return None,
    })
}
