//! Calls of tools that live outside a run, and the units that bring them (spec T22, R21).

use std::fmt;
use std::sync::Arc;

use crate::lua::Data;

/// A tool that a unit brings.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitTool {
    /// Its short name, one segment (spec T1).
    pub name: Arc<str>,
    /// What it does.
    pub description: Arc<str>,
    /// The JSON Schema of its arguments, as declared.
    pub parameters: Data,
    /// Whether its output is passed on as it is; else it is put in the untrusted envelope.
    pub trusted: bool,
    /// Whether its output is JSON that a script gets as a value (spec T89).
    pub structured: bool,
}

/// A failed tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFailure {
    /// What kind of failure; it is in the record and never in Lua (spec T103).
    pub class: ToolClass,
    /// A short text that a model may see.
    pub message: String,
}

/// The kinds of a tool's failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolClass {
    /// The arguments were refused.
    InvalidArguments,
    /// The tool could not be reached, or the answer not be read.
    Transport,
    /// The tool itself failed.
    Backend,
}

impl ToolClass {
    /// The class as a record names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::InvalidArguments => "InvalidArguments",
            Self::Transport => "Transport",
            Self::Backend => "Backend",
        }
    }

    /// The class of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::InvalidArguments, Self::Transport, Self::Backend]
            .into_iter()
            .find(|class| class.name() == name)
    }
}

impl ToolFailure {
    /// A failure of a class.
    pub fn new(class: ToolClass, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
        }
    }
}

impl fmt::Display for ToolFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ToolFailure {}
