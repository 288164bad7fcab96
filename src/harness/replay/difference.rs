//! Where a run does something else than its record says (spec R15).

use std::fmt;

use crate::harness::record::RecordError;

/// The first line of a record that the run, run again, does not write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The line's number, from 1.
    pub line: u64,
    /// The line of the record.
    pub recorded: String,
    /// What stands in its place.
    pub new: Instead,
}

/// What a run does in the place of what its record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instead {
    /// It writes another line.
    Line(String),
    /// It waits for the answer to an effect in flight, for a stop or for a cancel.
    Waits,
    /// It has ended.
    Ended,
    /// It does not begin, and ends otherwise.
    Refused,
}

impl fmt::Display for Instead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Line(line) => line,
            Self::Waits => "nothing: the run waits for an answer to one of its effects",
            Self::Ended => "nothing: the run has ended",
            Self::Refused => "another outcome: the run ended before it had its packs",
        })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            recorded,
            new,
        } = self;
        write!(
            f,
            "line {line} differs\nrecorded: {recorded}\nnew:      {new}"
        )
    }
}

/// Why a record was not replayed to its end.
#[derive(Debug)]
pub enum ReplayError {
    /// It cannot be read.
    Unreadable(RecordError),
    /// The run does something else.
    Differs(Box<Difference>),
    /// Its token was cancelled.
    Cancelled,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => error.fmt(f),
            Self::Differs(difference) => difference.fmt(f),
            Self::Cancelled => f.write_str("the replay was cancelled"),
        }
    }
}

impl std::error::Error for ReplayError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable(error) => Some(error),
            Self::Differs(_) | Self::Cancelled => None,
        }
    }
}

impl From<RecordError> for ReplayError {
    fn from(error: RecordError) -> Self {
        Self::Unreadable(error)
    }
}
