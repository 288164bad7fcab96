//! What is wrong with the state of a packet.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why the state of a packet cannot be used, or refuses a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateError {
    /// `state.json` is not what it should be (spec P113).
    Store {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// A line of a journal is not what it should be (spec P118).
    Journal {
        /// The file.
        path: PathBuf,
        /// The 1-based line.
        line: usize,
    },
    /// The snapshot of a run is not what it should be (spec P117).
    Generation {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// The packet is not the one that a run began with (spec P117).
    PacketChanged {
        /// The run.
        run_id: String,
    },
    /// Prompts are selected that a run that has not ended did not have (spec P117).
    SelectionAdds {
        /// The run.
        run_id: String,
        /// Those prompts.
        ids: Vec<String>,
    },
    /// Another runner is at work (spec P119).
    Active {
        /// Its process.
        pid: u32,
        /// The file that says so.
        path: PathBuf,
    },
    /// The lock changes hands all the time (spec P119).
    Contended(PathBuf),
    /// A file of the state cannot be read or written.
    File {
        /// What was tried: `read`, `write`, `make`.
        deed: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        cause: String,
    },
}

impl StateError {
    /// A file that could not be written.
    pub(super) fn write(path: &Path, error: &io::Error) -> Self {
        Self::file("write", path, error)
    }

    /// A file that something could not be done with.
    pub(super) fn file(deed: &'static str, path: &Path, error: &io::Error) -> Self {
        Self::File {
            deed,
            path: path.to_owned(),
            cause: error.to_string(),
        }
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store { path, cause } => {
                write!(f, "state store is invalid: {}: {cause}", path.display())
            }
            Self::Journal { path, line } => {
                write!(f, "run journal is corrupt: {}:{line}", path.display())
            }
            Self::Generation { path, cause } => {
                write!(f, "run generation is invalid: {}: {cause}", path.display())
            }
            Self::PacketChanged { run_id } => write!(
                f,
                "the packet changed since run {run_id} began: review the change and pass --new-run"
            ),
            Self::SelectionAdds { run_id, ids } => write!(
                f,
                "selection adds prompts outside run {run_id}: {}; finish that run or pass --new-run",
                ids.join(", ")
            ),
            Self::Active { pid, path } => {
                write!(f, "run already active: pid {pid} ({})", path.display())
            }
            Self::Contended(path) => write!(f, "run lock contended: {}", path.display()),
            Self::File { deed, path, cause } => {
                write!(f, "cannot {deed} {}: {cause}", path.display())
            }
        }
    }
}

impl std::error::Error for StateError {}
