//! Why a run is not resumed (spec R16).

use std::fmt;
use std::io;

use crate::harness::replay::ReplayError;

/// Why a run is not resumed. Its record is as it was.
#[derive(Debug)]
pub enum ResumeError {
    /// The record does not lead to where it ends: it cannot be read, or the run does something else.
    Record(ReplayError),
    /// The run has ended already.
    Ended,
    /// Another process writes this record, or resumes it.
    InUse,
    /// What is left of the last line is an answer, or may be, and what was answered must not be done
    /// again.
    TornAnswer {
        /// The line's number, from 1.
        line: u64,
    },
    /// Prepare ended the run, and the record does not say how.
    Prepare {
        /// The number of the line that is missing.
        line: u64,
    },
    /// The run had a store of its Host's, which has to be given again.
    NoStore,
    /// The run had a store in memory, so one that is given cannot be its.
    UnwantedStore,
    /// The store that is given has another policy, or is opened otherwise.
    OtherStore,
    /// The store's contents are not those that the record leaves.
    Contents {
        /// A path at which they are not.
        path: String,
    },
    /// A unit that served the run does not serve it any more.
    Unit {
        /// The unit's id.
        id: String,
        /// Why.
        reason: String,
    },
    /// It was cancelled before the run went on.
    Cancelled,
    /// The record can be read and not be written on.
    Io(io::Error),
}

impl fmt::Display for ResumeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record(error) => error.fmt(f),
            Self::Ended => f.write_str("the run has already ended"),
            Self::InUse => f.write_str("another process is writing this record"),
            Self::TornAnswer { line } => write!(
                f,
                "line {line}: it was not written whole and may be an answer, which must not be \
                 asked for again"
            ),
            Self::Prepare { line } => write!(
                f,
                "line {line}: the run ended before it began, and the record does not say why"
            ),
            Self::NoStore => {
                f.write_str("the run had a store of its host's, which must be given again")
            }
            Self::UnwantedStore => f.write_str("the run had its store in memory, and one is given"),
            Self::OtherStore => {
                f.write_str("the store that is given has not the policy of the run's")
            }
            Self::Contents { path } => {
                write!(
                    f,
                    "the store is not as the record leaves it: `{path}` differs"
                )
            }
            Self::Unit { id, reason } => write!(f, "{id} served the run and cannot now: {reason}"),
            Self::Cancelled => f.write_str("cancelled before the run went on"),
            Self::Io(error) => write!(f, "the record cannot be written: {error}"),
        }
    }
}

impl std::error::Error for ResumeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Record(error) => Some(error),
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for ResumeError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
