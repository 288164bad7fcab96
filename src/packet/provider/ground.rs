//! A folder of the disk that a provider works in (spec P142, P148).

use std::fs;
use std::path::{Path, PathBuf};

use crate::harness::{Backend, BackendError, Directory};
use crate::packet::resolve::resolve;
use crate::packet::state::STATE_FOLDER;

/// Names that no path may have as a part, however their letters are written: on some file systems
/// those are one name.
const CLOSED: [&str; 2] = [".git", STATE_FOLDER];

/// The largest file that is read, or appended to, as a whole.
const LARGEST: u64 = 64 << 20;

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

impl Ground {
    /// The bytes of a file.
    pub(super) fn read(&mut self, path: &str) -> Result<Vec<u8>, BackendError> {
        self.refuse_large(path)?;
        self.files.read(path)
    }

    /// Adds at the end of a file, which is made anew for that.
    pub(super) fn append(&mut self, path: &str, bytes: &[u8]) -> Result<(), BackendError> {
        self.refuse_large(path)?;
        self.files.append(path, bytes)
    }

    fn refuse_large(&self, path: &str) -> Result<(), BackendError> {
        let known = fs::metadata(self.root.join(path));
        match known.is_ok_and(|known| known.is_file() && known.len() > LARGEST) {
            true => {
                let why = format!("the file is larger than {} MiB", LARGEST >> 20);
                Err(BackendError::Unsupported(why))
            }
            false => Ok(()),
        }
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
