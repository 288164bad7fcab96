//! A log of a session, which grows by lines up to a bound (spec P116).

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::harness::regular;

/// The most bytes of a session in one log, but for the lines that a log must have.
pub(super) const CAP: u64 = 256 << 20;

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// It is in the file.
    Whole,
    /// It was left out, as the first one: there is no more room.
    Full,
    /// It was left out, as others before it.
    Not,
}

/// A log.
#[derive(Debug)]
pub(super) struct LogFile {
    file: File,
    path: PathBuf,
    room: u64,
    is_full: bool,
}

impl LogFile {
    /// Opens a file to be appended to, or makes it.
    ///
    /// # Errors
    /// A file that cannot be opened.
    pub(super) fn open(path: &Path, room: u64) -> io::Result<Self> {
        Ok(Self {
            file: regular::append(path)?,
            path: path.to_owned(),
            room,
            is_full: false,
        })
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a line that the log must have.
    ///
    /// # Errors
    /// A line that cannot be written.
    pub(super) fn add(&mut self, line: &str) -> io::Result<()> {
        self.file.write_all(format!("{line}\n").as_bytes())
    }

    /// Adds a line, if there is room. Once one was left out, so are all that follow, and no log
    /// has gaps.
    ///
    /// # Errors
    /// A line that cannot be written.
    pub(super) fn add_within(&mut self, line: &str) -> io::Result<Added> {
        if self.is_full {
            return Ok(Added::Not);
        }
        let length = u64::try_from(line.len()).map_or(u64::MAX, |length| length + 1);
        match self.room.checked_sub(length) {
            Some(room) => {
                self.room = room;
                self.add(line).map(|()| Added::Whole)
            }
            None => {
                self.is_full = true;
                Ok(Added::Full)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_log_has_no_more_than_its_bound_and_what_it_must_have() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = LogFile::open(&path, 6).unwrap();
        let added = ["ab", "cd", "e", ""].map(|line| log.add_within(line).unwrap());
        assert_eq!(added, [Added::Whole, Added::Whole, Added::Full, Added::Not]);
        log.add("the end").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "ab\ncd\nthe end\n");
    }
}
