//! The folder of a packet's state and the files in it (spec P1).

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::error::StateError;
use crate::harness::regular;

/// The folder's name below the packet.
pub const STATE_FOLDER: &str = ".prompt_runner";

/// Where a packet's state is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateFolder(PathBuf);

impl StateFolder {
    /// The folder of the packet in `root`. Nothing is touched.
    pub fn of(root: &Path) -> Self {
        Self(root.join(STATE_FOLDER))
    }

    /// Makes the folder, and in it the one line that keeps it out of the repository around the
    /// packet.
    ///
    /// # Errors
    /// A folder that cannot be made.
    pub fn make(&self) -> Result<(), StateError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error: std::io::Error| StateError::file("make", &path, &error)
        };
        fs::create_dir_all(&self.0).map_err(failed(&self.0))?;
        let ignore = self.0.join(".gitignore");
        // The lock is not held yet: whoever is here too writes the same.
        if !fs::metadata(&ignore).is_ok_and(|known| known.is_file() && known.len() > 0) {
            let written = regular::create(&ignore).and_then(|mut file| file.write_all(b"*\n"));
            written.map_err(failed(&ignore))?;
        }
        Ok(())
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Attempts and statuses of the prompts (spec P112).
    pub fn state(&self) -> PathBuf {
        self.0.join("state.json")
    }

    /// How prompts ended (spec P114).
    pub fn progress(&self) -> PathBuf {
        self.0.join("progress.log")
    }

    /// Who runs (spec P119).
    pub fn pid(&self) -> PathBuf {
        self.0.join("run.pid")
    }

    /// The lock of who runs (spec P119).
    pub fn lock(&self) -> PathBuf {
        self.0.join("run.lock")
    }

    /// Transcripts and events of sessions (spec P116).
    pub fn logs(&self) -> PathBuf {
        self.0.join("logs")
    }

    /// Run generations (spec P117).
    pub fn runs(&self) -> PathBuf {
        self.0.join("runs")
    }

    /// What sessions leave for later ones (spec P1).
    pub fn sessions(&self) -> PathBuf {
        self.0.join("sessions")
    }
}
