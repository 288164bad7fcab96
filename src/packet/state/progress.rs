//! Writes `progress.log`: how prompts ended, a line each (spec P114).

use std::path::PathBuf;

use super::append::Appender;
use super::clock;
use super::error::StateError;
use super::folder::StateFolder;

/// The file, to be appended to.
#[derive(Debug)]
pub struct ProgressLog {
    path: PathBuf,
    file: Option<Appender>,
}

impl ProgressLog {
    /// The log of a packet. It is made with its first line: an empty one would be bad (spec P31).
    pub fn of(folder: &StateFolder) -> Self {
        Self {
            path: folder.progress(),
            file: None,
        }
    }

    /// Appends that a prompt is done, and what the commit came to.
    ///
    /// # Errors
    /// A line that cannot be written.
    pub fn completed(&mut self, id: &str, suffix: &str) -> Result<(), StateError> {
        self.append(&format!("{id}:completed:{}:{suffix}", clock::now()))
    }

    /// Appends that a prompt has failed.
    ///
    /// # Errors
    /// A line that cannot be written.
    pub fn failed(&mut self, id: &str) -> Result<(), StateError> {
        self.append(&format!("{id}:failed:{}", clock::now()))
    }

    fn append(&mut self, line: &str) -> Result<(), StateError> {
        let written = match &mut self.file {
            Some(file) => file.line(line),
            None => Appender::open(&self.path).and_then(|mut file| {
                file.line(line)?;
                self.file = Some(file);
                Ok(())
            }),
        };
        written.map_err(|error| StateError::write(&self.path, &error))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::packet::progress::Progress;

    #[test]
    fn a_cut_line_does_not_swallow_the_next() {
        let packet = tempfile::tempdir().unwrap();
        let folder = StateFolder::of(packet.path());
        folder.make().unwrap();
        fs::write(folder.progress(), "01:completed:2026").unwrap();
        let mut log = ProgressLog::of(&folder);
        log.failed("02").unwrap();
        log.completed("03", "noop").unwrap();
        let read = Progress::read(packet.path()).unwrap();
        let id = |id: &str| id.parse().unwrap();
        assert!(read.is_completed(&id("01")) && !read.is_completed(&id("02")));
        let suffix = read.get(&id("03")).unwrap().suffix.as_deref();
        assert_eq!(suffix, Some("noop"));
    }
}
