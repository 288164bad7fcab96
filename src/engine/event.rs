//! What a run reports while it goes (spec K182 to K190).

use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};

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
    /// `task_abandoned`.
    TaskAbandoned {
        /// The task's id.
        task: Arc<str>,
        /// Why (spec K135).
        reason: &'static str,
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

impl EventKind {
    /// The kind's name as it is written.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Plain(name) | Self::Require { name, .. } | Self::TaskEnded { name, .. } => name,
            Self::Checkpoint { .. } => "lua",
            Self::TaskStarted(_) => "task_started",
            Self::TaskAbandoned { .. } => "task_abandoned",
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
        map.serialize_entry("kind", self.kind.name())?;
        map.serialize_entry("execution", &*self.execution)?;
        map.serialize_entry("section", &*self.section)?;
        map.serialize_entry(
            "provenance",
            &Provenance {
                task: &self.task,
                seq: self.seq,
            },
        )?;
        match &self.kind {
            EventKind::Plain(_) => {}
            EventKind::Checkpoint { message } => map.serialize_entry("message", message)?,
            EventKind::Require { target, .. } => map.serialize_entry("target", &**target)?,
            EventKind::TaskStarted(started) => {
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
            EventKind::TaskEnded { task, .. } => map.serialize_entry("task", &**task)?,
            EventKind::TaskAbandoned { task, reason } => {
                map.serialize_entry("task", &**task)?;
                map.serialize_entry("reason", reason)?;
            }
        }
        map.end()
    }
}

/// The event of a store operation that was answered, where it has one (spec S46).
pub(super) fn store_event(op: &StoreOp, succeeded: bool) -> Option<&'static str> {
    let (success, failure) = match op.event_name()? {
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
    };
    Some(if succeeded { success } else { failure })
}
