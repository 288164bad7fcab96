//! Writes `progress.log`: how prompts ended, a line each (spec P114).

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use super::append::Appender;
use super::clock;
use super::error::StateError;
use super::folder::StateFolder;

/// The file, to be appended to. It is opened for each line: a session may have removed or replaced
/// it, and what is written to a file without a name is lost.
#[derive(Debug)]
pub struct ProgressLog {
    path: PathBuf,
}

impl ProgressLog {
    /// The log of a packet. It is made with its first line: an empty one would be bad (spec P31).
    pub fn of(folder: &StateFolder) -> Self {
        Self {
            path: folder.progress(),
        }
    }

    /// Refuses a file that nothing can be appended to, before there is something to append.
    ///
    /// # Errors
    /// The file that is there cannot be opened.
    pub fn check(&self) -> Result<(), StateError> {
        match fs::metadata(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            _ => match Appender::open(&self.path) {
                Ok(_) => Ok(()),
                Err(error) => Err(StateError::write(&self.path, &error)),
            },
        }
    }

    /// Appends that a prompt is done, and what the commit came to.
    ///
    /// # Errors
    /// A line that cannot be written.
    pub fn completed(&self, id: &str, suffix: &str) -> Result<(), StateError> {
        self.append(&format!("{id}:completed:{}:{suffix}", clock::now()))
    }

    /// Appends that a prompt has failed.
    ///
    /// # Errors
    /// A line that cannot be written.
    pub fn failed(&self, id: &str) -> Result<(), StateError> {
        self.append(&format!("{id}:failed:{}", clock::now()))
    }

    fn append(&self, line: &str) -> Result<(), StateError> {
        Appender::open(&self.path)
            .and_then(|mut file| file.line(line))
            .map_err(|error| StateError::write(&self.path, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::progress::Progress;

    #[test]
    fn a_cut_line_does_not_swallow_the_next() {
        let packet = tempfile::tempdir().unwrap();
        let folder = StateFolder::of(packet.path());
        folder.make().unwrap();
        fs::write(folder.progress(), "01:completed:2026").unwrap();
        let log = ProgressLog::of(&folder);
        log.failed("02").unwrap();
        log.completed("03", "noop").unwrap();
        let read = Progress::read(packet.path()).unwrap();
        let id = |id: &str| id.parse().unwrap();
        assert!(read.is_completed(&id("01")) && !read.is_completed(&id("02")));
        let suffix = read.get(&id("03")).unwrap().suffix.as_deref();
        assert_eq!(suffix, Some("noop"));
    }
}
