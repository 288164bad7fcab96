//! How a run ends (spec R3, R4).

use std::fmt;
use std::panic;

use crate::prompt::{Location, ParseError, ParseErrorKind};

/// The one outcome of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The run's result text.
    Completed(String),
    /// The run was cancelled, which is no failure.
    Cancelled,
    /// The error that ended the run.
    Failed(RunError),
}

/// What a failed run names as having failed (spec R4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunErrorKind {
    /// The file does not parse, or has no version key.
    Parse,
    /// The declared major version is not 0.
    Version,
    /// A round was asked for with no model selected.
    Binding,
    /// A model call failed.
    Completion,
    /// A tool call failed.
    Tool,
    /// A store operation failed.
    Vfs,
    /// Two unordered accesses of the store conflict.
    Determinism,
    /// Lua failed at run time.
    Lua,
    /// A log quota ran out.
    Quota,
    /// The model's context window ran out.
    ContextExhausted,
    /// The engine broke an invariant of its own.
    Internal,
    /// Prepare or the H1 gate refused the run.
    RequirementsUnmet,
    /// Runvil: the launch's input text and the declared input file do not fit.
    Input,
}

impl RunErrorKind {
    /// The kind's name as records and the command line show it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parse => "Parse",
            Self::Version => "Version",
            Self::Binding => "Binding",
            Self::Completion => "Completion",
            Self::Tool => "Tool",
            Self::Vfs => "Vfs",
            Self::Determinism => "Determinism",
            Self::Lua => "Lua",
            Self::Quota => "Quota",
            Self::ContextExhausted => "ContextExhausted",
            Self::Internal => "Internal",
            Self::RequirementsUnmet => "RequirementsUnmet",
            Self::Input => "Input",
        }
    }

    /// The kind of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        const ALL: [RunErrorKind; 13] = [
            RunErrorKind::Parse,
            RunErrorKind::Version,
            RunErrorKind::Binding,
            RunErrorKind::Completion,
            RunErrorKind::Tool,
            RunErrorKind::Vfs,
            RunErrorKind::Determinism,
            RunErrorKind::Lua,
            RunErrorKind::Quota,
            RunErrorKind::ContextExhausted,
            RunErrorKind::Internal,
            RunErrorKind::RequirementsUnmet,
            RunErrorKind::Input,
        ];
        ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A failed run: its kind, the underlying error's own text, and a place where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError {
    /// What failed.
    pub kind: RunErrorKind,
    /// The parse error kind, for [`RunErrorKind::Parse`].
    pub parse_kind: Option<ParseErrorKind>,
    /// The message.
    pub message: String,
    /// The place: of a parse failure in the prompt, of an internal one in the engine's source.
    pub location: Option<Location>,
}

impl RunError {
    /// An error without a place.
    pub fn new(kind: RunErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            parse_kind: None,
            message: message.into(),
            location: None,
        }
    }

    /// An error of kind `Internal`, at the place in the engine's source that makes it.
    #[track_caller]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::internal_at(message, panic::Location::caller())
    }

    /// An error of kind `Internal`, at a place in the engine's source.
    pub fn internal_at(message: impl Into<String>, source: &panic::Location<'_>) -> Self {
        Self {
            location: Some(in_source(source)),
            ..Self::new(RunErrorKind::Internal, message)
        }
    }
}

/// A place in the engine's source, named from the engine's own folder wherever it was built.
fn in_source(source: &panic::Location<'_>) -> Location {
    let mut path = source.file().replace('\\', "/");
    path.drain(..path.rfind("src/").unwrap_or(0));
    Location {
        path: Some(path),
        line: Some(source.line()),
        ..Location::default()
    }
}

impl From<ParseError> for RunError {
    fn from(error: ParseError) -> Self {
        Self {
            kind: RunErrorKind::Parse,
            parse_kind: Some(error.kind),
            message: error.message,
            location: Some(error.location),
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RunError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_internal_error_has_the_place_that_makes_it() {
        let (error, line) = (RunError::internal("m"), line!());
        assert_eq!(error.kind, RunErrorKind::Internal);
        let location = error.location.unwrap();
        assert_eq!(location.path.as_deref(), Some("src/engine/outcome.rs"));
        assert_eq!((location.line, location.column), (Some(line), None));
    }
}
