//! Store operations and their values (spec S section 1.1, R21).

use serde::{Deserialize, Serialize};

use super::lines::LineRange;
use super::path::check_path;
use super::{Glob, StoreFailure};

/// One store operation. It is written as a record's effect holds it: `op`, then the fields in the
/// order they have here (spec R21).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum StoreOp {
    /// Creates the file or replaces its whole text.
    Write {
        /// The file.
        path: String,
        /// Its new text.
        contents: String,
    },
    /// Adds at the end of the file, creating it when absent.
    Append {
        /// The file.
        path: String,
        /// The text to add.
        contents: String,
    },
    /// Reads the file, or the lines `start` to `end`.
    Read {
        /// The file.
        path: String,
        /// The first line, as given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start: Option<i64>,
        /// The last line, as given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        end: Option<i64>,
    },
    /// Reads with line numbers.
    ReadNumbered {
        /// The file.
        path: String,
        /// The first line, as given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start: Option<i64>,
        /// The last line, as given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        end: Option<i64>,
    },
    /// Replaces the one occurrence of `old` by `new`.
    Replace {
        /// The file.
        path: String,
        /// The anchor, not empty.
        old: String,
        /// The text that takes its place.
        new: String,
    },
    /// Removes a file or an empty directory.
    Delete {
        /// The file or directory.
        path: String,
    },
    /// Asks whether a file or directory is there.
    Exists {
        /// The file or directory.
        path: String,
    },
    /// Lists what a pattern matches.
    Glob {
        /// The pattern.
        pattern: String,
    },
    /// Opens the store for a task, where its backend declares that it checks (spec S58).
    Open {
        /// The task's id.
        task: String,
    },
}

impl StoreOp {
    /// The checks that need neither the store nor a policy: path and pattern rules first, then a
    /// range without its start and an empty anchor (spec S40 steps 2 and 3).
    ///
    /// # Errors
    ///
    /// `invalid_path`, `invalid_range` or `anchor`.
    pub fn check(&self) -> Result<(), StoreFailure> {
        match self {
            Self::Write { path, .. }
            | Self::Append { path, .. }
            | Self::Delete { path }
            | Self::Exists { path } => check_path(path),
            Self::Read { path, start, end } | Self::ReadNumbered { path, start, end } => {
                check_path(path)?;
                LineRange {
                    start: *start,
                    end: *end,
                }
                .check(path)
            }
            Self::Replace { path, old, .. } => {
                check_path(path)?;
                if old.is_empty() {
                    Err(StoreFailure::empty_anchor(path))
                } else {
                    Ok(())
                }
            }
            Self::Glob { pattern } => Glob::check(pattern),
            Self::Open { .. } => Ok(()),
        }
    }

    /// The path or pattern, as the prompt wrote it; opening has none.
    pub fn target(&self) -> Option<&str> {
        match self {
            Self::Write { path, .. }
            | Self::Append { path, .. }
            | Self::Read { path, .. }
            | Self::ReadNumbered { path, .. }
            | Self::Replace { path, .. }
            | Self::Delete { path }
            | Self::Exists { path } => Some(path),
            Self::Glob { pattern } => Some(pattern),
            Self::Open { .. } => None,
        }
    }

    /// Whether the operation changes the store, whatever comes of it.
    pub fn changes(&self) -> bool {
        matches!(
            self,
            Self::Write { .. } | Self::Append { .. } | Self::Replace { .. } | Self::Delete { .. }
        )
    }

    /// The operation's name in its events; `None` where it has none (spec S46, K187).
    pub fn event_name(&self) -> Option<&'static str> {
        match self {
            Self::Write { .. } => Some("write"),
            Self::Append { .. } => Some("append"),
            Self::Read { .. } => Some("read"),
            Self::ReadNumbered { .. } => Some("read_numbered"),
            Self::Replace { .. } => Some("replace"),
            Self::Delete { .. } => Some("delete"),
            Self::Glob { .. } => Some("glob"),
            Self::Exists { .. } | Self::Open { .. } => None,
        }
    }
}

impl StoreOp {
    /// Whether a value is of the kind that the operation gives back.
    pub fn gives(&self, value: &StoreValue) -> bool {
        match self {
            Self::Read { .. } | Self::ReadNumbered { .. } => matches!(value, StoreValue::Text(_)),
            Self::Exists { .. } => matches!(value, StoreValue::Bool(_)),
            Self::Glob { .. } => matches!(value, StoreValue::List(_)),
            Self::Write { .. }
            | Self::Append { .. }
            | Self::Replace { .. }
            | Self::Delete { .. }
            | Self::Open { .. } => *value == StoreValue::Null,
        }
    }
}

/// What a store operation gives back, written as the bare value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum StoreValue {
    /// Nothing.
    Null,
    /// The text read.
    Text(String),
    /// Whether it is there.
    Bool(bool),
    /// The sorted paths.
    List(Vec<String>),
}
