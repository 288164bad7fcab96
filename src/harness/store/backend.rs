//! What a backend must do (spec S58).

use std::fmt;

use crate::engine::store::{Glob, Reason, StoreFailure};

/// Where a store's bytes are. Paths arrive checked (spec S15) and are never rewritten; a backend
/// is asked one thing at a time. A path below a file is absent.
pub trait Backend: Send + fmt::Debug {
    /// The bytes of a file.
    ///
    /// # Errors
    ///
    /// [`NotFound`](BackendError::NotFound), [`IsADirectory`](BackendError::IsADirectory).
    fn read(&mut self, path: &str) -> Result<Vec<u8>, BackendError>;

    /// Creates a file or replaces its contents, with the directories above it. A call that fails
    /// changes nothing and leaves no new directory.
    ///
    /// # Errors
    ///
    /// [`IsADirectory`](BackendError::IsADirectory),
    /// [`NotADirectory`](BackendError::NotADirectory) where a file stands above the path.
    fn write(&mut self, path: &str, bytes: &[u8]) -> Result<(), BackendError>;

    /// Adds at the end of a file, and is else as [`write`](Self::write).
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    fn append(&mut self, path: &str, bytes: &[u8]) -> Result<(), BackendError>;

    /// Removes a file or an empty directory; `false` when there was none.
    ///
    /// # Errors
    ///
    /// [`DirectoryNotEmpty`](BackendError::DirectoryNotEmpty).
    fn remove(&mut self, path: &str) -> Result<bool, BackendError>;

    /// What stands at a path; `None` only when it is certain that nothing does.
    ///
    /// # Errors
    ///
    /// When that cannot be told.
    fn kind(&mut self, path: &str) -> Result<Option<EntryKind>, BackendError>;

    /// The path of every file, or of every directory, in any order. Every path obeys spec S15.
    ///
    /// # Errors
    ///
    /// When they cannot be listed.
    fn list(&mut self, kind: EntryKind) -> Result<Vec<String>, BackendError>;

    /// What a pattern matches, in any order; for a backend that can do better than to list all.
    ///
    /// # Errors
    ///
    /// As [`list`](Self::list).
    fn glob(&mut self, glob: &Glob) -> Result<Vec<String>, BackendError> {
        let mut paths = self.list(EntryKind::selected_by(glob))?;
        paths.retain(|path| glob.matches(path));
        Ok(paths)
    }

    /// Whether what is written stays when the process ends. Where it does not, there is no hurry to
    /// record that it is about to be written.
    fn outlives_process(&self) -> bool {
        true
    }

    /// Whether [`open`](Self::open) is to be called.
    fn checks_open(&self) -> bool {
        false
    }

    /// Called before the H1 pass and the walk, with task `0`, and before each new task, if
    /// [`checks_open`](Self::checks_open) says so.
    ///
    /// # Errors
    ///
    /// Any, to refuse.
    fn open(&mut self, task: &str) -> Result<(), BackendError> {
        let _ = task;
        Ok(())
    }
}

/// A file or a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A file.
    File,
    /// A directory.
    Directory,
}

impl EntryKind {
    /// What a pattern lists (spec S34).
    pub fn selected_by(glob: &Glob) -> Self {
        if glob.selects_directories() {
            Self::Directory
        } else {
            Self::File
        }
    }
}

/// Why a backend did not do it. The store adds the path, as the prompt wrote it (spec S19).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackendError {
    /// The file is not there.
    NotFound,
    /// A directory stands where a file is wanted.
    IsADirectory,
    /// A file stands where a directory is wanted.
    NotADirectory,
    /// The directory still holds something.
    DirectoryNotEmpty,
    /// A file of another spelling is there (spec S61).
    AlreadyExists,
    /// It is not allowed, for this reason.
    PermissionDenied(String),
    /// The backend cannot do this.
    Unsupported(String),
    /// Anything else.
    Failed(String),
}

impl BackendError {
    /// The failure of an operation on `path`.
    pub fn at(self, path: &str) -> StoreFailure {
        match self {
            Self::NotFound => StoreFailure::not_found(path),
            Self::IsADirectory => StoreFailure::is_a_directory(path),
            Self::NotADirectory => StoreFailure::not_a_directory(path),
            Self::DirectoryNotEmpty => StoreFailure::directory_not_empty(path),
            Self::AlreadyExists => StoreFailure::already_exists(path),
            Self::PermissionDenied(reason) => StoreFailure::permission_denied(path, &reason),
            Self::Unsupported(detail) => StoreFailure::unsupported(path, &detail),
            Self::Failed(message) => StoreFailure::backend(&message),
        }
    }

    /// The reason tag.
    pub fn reason(&self) -> Reason {
        match self {
            Self::NotFound => Reason::NotFound,
            Self::IsADirectory => Reason::IsADirectory,
            Self::NotADirectory => Reason::NotADirectory,
            Self::DirectoryNotEmpty => Reason::DirectoryNotEmpty,
            Self::AlreadyExists => Reason::AlreadyExists,
            Self::PermissionDenied(_) => Reason::PermissionDenied,
            Self::Unsupported(_) => Reason::Unsupported,
            Self::Failed(_) => Reason::Backend,
        }
    }
}
