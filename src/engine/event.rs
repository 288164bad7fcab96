//! What a run reports while it goes (spec K182 to K190).

use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::store::StoreOp;

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
}

impl EventKind {
    /// The kind's name as it is written.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Plain(name) | Self::Require { name, .. } => name,
            Self::Checkpoint { .. } => "lua",
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
