//! The backend in memory (spec S59).

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;

use super::backend::{Backend, BackendError, EntryKind};
use crate::engine::store::{Glob, ancestors};

/// Files and directories by path, in byte order, so that what a directory holds stands together.
/// The directories above an entry are always there.
#[derive(Default)]
pub struct Memory {
    entries: BTreeMap<String, Entry>,
}

enum Entry {
    File(Vec<u8>),
    Directory,
}

impl Memory {
    /// Changes the bytes of the file at `path`, a new and empty one when nothing is there.
    fn change(
        &mut self,
        path: &str,
        change: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), BackendError> {
        match self.entries.get_mut(path) {
            Some(Entry::File(bytes)) => change(bytes),
            Some(Entry::Directory) => return Err(BackendError::IsADirectory),
            None => {
                self.make_directories(path)?;
                let mut bytes = Vec::new();
                change(&mut bytes);
                self.entries.insert(path.to_owned(), Entry::File(bytes));
            }
        }
        Ok(())
    }

    /// Creates the directories above `path` that are missing.
    fn make_directories(&mut self, path: &str) -> Result<(), BackendError> {
        let mut missing = Vec::new();
        for directory in ancestors(path) {
            match self.entries.get(directory) {
                None => missing.push(directory),
                Some(Entry::Directory) => break,
                Some(Entry::File(_)) => return Err(BackendError::NotADirectory),
            }
        }
        for directory in missing {
            self.entries.insert(directory.to_owned(), Entry::Directory);
        }
        Ok(())
    }

    /// The entries whose paths start with `prefix`, in byte order.
    fn under(&self, prefix: &str) -> impl Iterator<Item = (&String, &Entry)> {
        self.entries
            .range::<str, _>((Bound::Included(prefix), Bound::Unbounded))
            .take_while(move |(path, _)| path.starts_with(prefix))
    }

    fn select(&self, kind: EntryKind, glob: Option<&Glob>) -> Vec<String> {
        self.under(glob.map_or("", Glob::literal_prefix))
            .filter(|(path, entry)| entry.kind() == kind && glob.is_none_or(|g| g.matches(path)))
            .map(|(path, _)| path.clone())
            .collect()
    }
}

impl Backend for Memory {
    fn read(&mut self, path: &str) -> Result<Vec<u8>, BackendError> {
        match self.entries.get(path) {
            Some(Entry::File(bytes)) => Ok(bytes.clone()),
            Some(Entry::Directory) => Err(BackendError::IsADirectory),
            None => Err(BackendError::NotFound),
        }
    }

    fn write(&mut self, path: &str, bytes: &[u8]) -> Result<(), BackendError> {
        self.change(path, |file| *file = bytes.to_vec())
    }

    fn append(&mut self, path: &str, bytes: &[u8]) -> Result<(), BackendError> {
        self.change(path, |file| file.extend_from_slice(bytes))
    }

    fn remove(&mut self, path: &str) -> Result<bool, BackendError> {
        let holds_something = self.under(&format!("{path}/")).next().is_some();
        if holds_something {
            return Err(BackendError::DirectoryNotEmpty);
        }
        Ok(self.entries.remove(path).is_some())
    }

    fn kind(&mut self, path: &str) -> Result<Option<EntryKind>, BackendError> {
        Ok(self.entries.get(path).map(Entry::kind))
    }

    fn list(&mut self, kind: EntryKind) -> Result<Vec<String>, BackendError> {
        Ok(self.select(kind, None))
    }

    fn glob(&mut self, glob: &Glob) -> Result<Vec<String>, BackendError> {
        Ok(self.select(EntryKind::selected_by(glob), Some(glob)))
    }

    fn outlives_process(&self) -> bool {
        false
    }
}

impl Entry {
    fn kind(&self) -> EntryKind {
        match self {
            Self::File(_) => EntryKind::File,
            Self::Directory => EntryKind::Directory,
        }
    }
}

/// Says how much there is, not what.
impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory")
            .field("entries", &self.entries.len())
            .finish()
    }
}
