//! Files that only grow, a line at a time (spec P110).

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::harness::regular;

/// A file that lines are appended to, each flushed to disk.
#[derive(Debug)]
pub(super) struct Appender {
    file: File,
}

impl Appender {
    /// Opens a file, or makes it.
    ///
    /// # Errors
    /// A file that cannot be opened.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = regular::open(path, options.read(true).append(true).create(true))?;
        Ok(Self { file })
    }

    /// Appends a line, which has no newline of its own. A last line that has none, because it was
    /// cut off or edited, gets one first. What cannot be written whole is taken back.
    ///
    /// # Errors
    /// A line that cannot be written, or not flushed.
    pub(super) fn line(&mut self, line: &str) -> io::Result<()> {
        let before = self.file.seek(SeekFrom::End(0))?;
        let mut text = String::with_capacity(line.len() + 2);
        if before > 0 && !self.ends_in_newline(before)? {
            text.push('\n');
        }
        text += line;
        text.push('\n');
        if let Err(error) = self.file.write_all(text.as_bytes()) {
            // Half a line would refuse every later run. Where it cannot be taken back either, there
            // is nothing more to do.
            let _ = self.file.set_len(before);
            return Err(error);
        }
        self.file.sync_data()
    }

    fn ends_in_newline(&mut self, length: u64) -> io::Result<bool> {
        let mut last = [0];
        self.file.seek(SeekFrom::Start(length - 1))?;
        self.file.read_exact(&mut last)?;
        Ok(last == *b"\n")
    }
}
