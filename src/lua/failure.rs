//! Error values: what an engine call fails with, as Lua sees it (spec L94 to L103).

use std::fmt;
use std::panic::Location;

/// The tag of an error value, `err.kind` (spec L95).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An authoring or argument problem, or a runtime error of the prompt's own code.
    Lua,
    /// A failed model call, no model selected, or an engine fault.
    Internal,
    /// A cancel, a stop, or a cancelled task.
    Cancelled,
    /// The context window ran out.
    ContextExhausted,
    /// A model answered nothing.
    EmptyModelReply,
    /// A model loop did not converge.
    ToolLoopExhausted,
    /// A tool failed.
    Tool,
    /// A tool call out of the section's scope.
    OutOfScopeTool,
    /// A tool not bound in the run.
    UnboundTool,
    /// A chain ended with author tasks still live.
    TasksLive,
    /// A task of another chain.
    TaskNotOwned,
    /// A task whose result was taken already.
    TaskConsumed,
    /// A failed store call.
    Store,
}

const KINDS: [(Kind, &str); 13] = [
    (Kind::Lua, "lua"),
    (Kind::Internal, "internal"),
    (Kind::Cancelled, "cancelled"),
    (Kind::ContextExhausted, "context_exhausted"),
    (Kind::EmptyModelReply, "empty_model_reply"),
    (Kind::ToolLoopExhausted, "tool_loop_exhausted"),
    (Kind::Tool, "tool"),
    (Kind::OutOfScopeTool, "out_of_scope_tool"),
    (Kind::UnboundTool, "unbound_tool"),
    (Kind::TasksLive, "tasks_live"),
    (Kind::TaskNotOwned, "task_not_owned"),
    (Kind::TaskConsumed, "task_consumed"),
    (Kind::Store, "store"),
];

impl Kind {
    /// The tag as Lua sees it.
    pub fn tag(self) -> &'static str {
        KINDS
            .iter()
            .find(|(kind, _)| *kind == self)
            .map_or("lua", |(_, tag)| tag)
    }

    /// The kind of a tag.
    pub fn from_tag(tag: &str) -> Option<Self> {
        KINDS.iter().find(|(_, t)| *t == tag).map(|(kind, _)| *kind)
    }
}

/// A field of an error value beside `kind` and `message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// Every field but one is a string.
    Text(String),
    /// `count` of a store anchor.
    Count(i64),
}

/// What a failure ends the run as where its kind alone does not say (spec L95's third column).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// As the kind says.
    Kind,
    /// As the kind says, the message standing alone: no place, no traceback (spec L91).
    Exact,
    /// Raised by the cancel poll in running Lua; no `pcall` keeps it (spec L99).
    Interrupt,
    /// A refused `log`; the text is the run's message.
    Quota(&'static str),
    /// No model selected.
    Binding,
    /// A failed model call.
    Completion,
    /// A broken engine invariant, found broken at this place in the source.
    Internal(&'static Location<'static>),
}

/// A failure raised by an engine call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The tag.
    pub kind: Kind,
    /// The message; `tostring(err)` gives exactly this.
    pub message: String,
    /// The kind's own fields.
    pub fields: Vec<(&'static str, Field)>,
    /// What it ends the run as when it goes uncaught.
    pub class: Class,
    /// Whether it was caught, kept over another suspending call, and raised again (spec L103).
    pub rebuilt: bool,
    /// The text a failed run reports for an ordinary Lua error, place and traceback included
    /// (spec L90). It travels with the failure through callers.
    pub report: Option<String>,
}

/// The message of a cancel and of a stopped round (spec L99).
pub const INTERRUPTED: &str = "interrupted by Ctrl-C";

impl Failure {
    /// A failure of a kind, without fields.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            fields: Vec::new(),
            class: Class::Kind,
            rebuilt: false,
            report: None,
        }
    }

    /// A failure of kind `lua`.
    pub fn lua(message: impl Into<String>) -> Self {
        Self::new(Kind::Lua, message)
    }

    /// The interrupted error.
    pub fn interrupted() -> Self {
        Self::new(Kind::Cancelled, INTERRUPTED)
    }

    /// A failure of kind `lua` whose message a failed run reports alone.
    pub fn exact(message: impl Into<String>) -> Self {
        Self {
            class: Class::Exact,
            ..Self::lua(message)
        }
    }

    /// A broken invariant of the engine, with the place that says so.
    #[track_caller]
    pub fn internal(message: impl Into<String>) -> Self {
        Self {
            class: Class::Internal(Location::caller()),
            ..Self::new(Kind::Internal, message)
        }
    }

    /// The same failure with a string field more.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, Field::Text(value.into())));
        self
    }

    /// The value of a string field.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find_map(|(n, value)| match value {
            Field::Text(text) if *n == name => Some(text.as_str()),
            _ => None,
        })
    }

    /// What a failed run reports.
    pub fn into_report(self) -> String {
        self.report.unwrap_or(self.message)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<Failure> for mlua::Error {
    fn from(failure: Failure) -> Self {
        mlua::Error::external(failure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_tag() {
        for (kind, tag) in KINDS {
            assert_eq!(kind.tag(), tag);
            assert_eq!(Kind::from_tag(tag), Some(kind));
        }
        assert_eq!(Kind::from_tag("other"), None);
    }
}
