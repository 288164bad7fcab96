//! A folder of the disk that a provider works in (spec P142, P148).

use std::path::{Path, PathBuf};

use crate::harness::{BackendError, Directory};
use crate::packet::resolve::resolve;
use crate::packet::state::STATE_FOLDER;

/// Names that no path may have as a part, however their letters are written: on some file systems
/// those are one name.
const CLOSED: [&str; 2] = [".git", STATE_FOLDER];

/// A folder, without what belongs to git and to packets.
#[derive(Debug)]
pub(super) struct Ground {
    /// Without links.
    pub(super) root: PathBuf,
    /// Its files; to be asked for a path once that is [checked](Self::check).
    pub(super) files: Directory,
    /// Whether it is written in.
    pub(super) is_writable: bool,
}

impl Ground {
    /// The folder at a path that may have links.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub(super) fn open(root: &Path, is_writable: bool) -> Result<Self, String> {
        Ok(Self {
            root: resolve(root, "."),
            files: Directory::open(root).map_err(|error| error.to_string())?,
            is_writable,
        })
    }

    /// Refuses a path that leads, over links too, into what is closed.
    pub(super) fn check(&self, path: &str) -> Result<(), BackendError> {
        refuse_closed(path)?;
        let real = resolve(&self.root, path);
        let below = real.strip_prefix(&self.root).unwrap_or(Path::new(""));
        refuse_closed(&below.to_string_lossy())
    }
}

/// Refuses a path that has a closed part.
pub(super) fn refuse_closed(path: &str) -> Result<(), BackendError> {
    let is_closed = |part: &&str| CLOSED.iter().any(|name| name.eq_ignore_ascii_case(part));
    match path.split('/').find(is_closed) {
        Some(part) => Err(BackendError::PermissionDenied(format!(
            "{part} is not accessible"
        ))),
        None => Ok(()),
    }
}

/// Why something was not done, in a few words.
pub(super) fn cause(error: BackendError) -> String {
    match error {
        BackendError::NotFound => "there is no such file".to_owned(),
        BackendError::IsADirectory => "it is a folder".to_owned(),
        BackendError::NotADirectory => "a file stands where a folder is wanted".to_owned(),
        BackendError::DirectoryNotEmpty => "the folder is not empty".to_owned(),
        BackendError::AlreadyExists => "a file of another spelling is there".to_owned(),
        BackendError::PermissionDenied(why)
        | BackendError::Unsupported(why)
        | BackendError::Failed(why) => why,
    }
}
