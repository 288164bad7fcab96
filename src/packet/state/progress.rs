//! `progress.log`: how prompts ended, a line each (spec P31, P114, P115).

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::append::Appender;
use super::clock;
use super::error::StateError;
use super::folder::StateFolder;

/// Words that may stand for the commit (spec P114).
const WORDS: [&str; 4] = ["no_changes", "no_commit", "noop", "no_session"];

/// How a prompt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressLine {
    /// The status: `completed`, `failed`, or a word that is not known.
    pub status: String,
    /// The time as written.
    pub time: String,
    /// What the commit came to, if it is said.
    pub suffix: Option<String>,
}

impl ProgressLine {
    /// Whether the prompt is done.
    pub fn is_completed(&self) -> bool {
        self.status == "completed"
    }
}

/// The newest line of every prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgressRecord(BTreeMap<String, ProgressLine>);

impl ProgressRecord {
    /// Reads the file; `None` where there is none.
    ///
    /// # Errors
    /// A file that cannot be read, holds no line, or a bad one (spec P115).
    pub fn read(folder: &StateFolder) -> Result<Option<Self>, StateError> {
        let path = folder.progress();
        match fs::read(&path) {
            Ok(bytes) => Self::parse(&path, &bytes).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StateError::ProgressUnreadable {
                path,
                cause: error.to_string(),
            }),
        }
    }

    /// What the bytes of a file say; `path` is what messages call it.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, StateError> {
        let bad = |line: usize, text: &str| StateError::Progress {
            path: path.to_owned(),
            line,
            text: text.to_owned(),
        };
        let text = String::from_utf8_lossy(bytes);
        let mut lines = BTreeMap::new();
        for (at, line) in text.lines().enumerate() {
            if line.is_empty() {
                continue;
            }
            let (id, line) = read_line(line).ok_or_else(|| bad(at + 1, line))?;
            lines.insert(id, line);
        }
        match lines.is_empty() {
            true => Err(bad(1, "")),
            false => Ok(Self(lines)),
        }
    }

    /// How a prompt ended last.
    pub fn get(&self, id: &str) -> Option<&ProgressLine> {
        self.0.get(id)
    }

    /// Whether a prompt is done.
    pub fn is_completed(&self, id: &str) -> bool {
        self.get(id).is_some_and(ProgressLine::is_completed)
    }
}

/// The id and the rest of a line; `None` for a bad one.
fn read_line(line: &str) -> Option<(String, ProgressLine)> {
    let mut parts = line.splitn(3, ':').filter(|part| !part.is_empty());
    let (id, status, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let suffix = rest.rsplit_once(':').filter(|(_, last)| is_suffix(last));
    let (time, suffix) = match suffix {
        Some((time, suffix)) => (time, Some(suffix.to_owned())),
        None => (rest, None),
    };
    let line = ProgressLine {
        status: status.to_owned(),
        time: time.to_owned(),
        suffix,
    };
    Some((id.to_owned(), line))
}

/// Whether the last part of a line says what the commit came to (spec P115).
fn is_suffix(text: &str) -> bool {
    let is_sha = |text: &str| {
        (7..=40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let is_pair = |pair: &str| {
        pair.split_once('=')
            .is_some_and(|(repo, sha)| !repo.is_empty() && is_sha(sha))
    };
    WORDS.contains(&text) || is_sha(text) || text.split(',').all(is_pair)
}

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
    use super::*;

    fn parse(text: &str) -> Result<ProgressRecord, StateError> {
        ProgressRecord::parse(Path::new("p"), text.as_bytes())
    }

    #[test]
    fn the_newest_line_counts() {
        let read = parse(
            "01:completed:2026-11-30T08:00:00Z:no_commit\n\n02:completed:t:abcdef0\n\
             02:failed:2026-11-30T08:00:00Z\r\n03:completed:t:app=abcdef0,docs=1234567\n",
        );
        let read = read.unwrap();
        assert!(read.is_completed("01") && !read.is_completed("02") && read.is_completed("03"));
        let first = read.get("01").unwrap();
        assert_eq!(first.time, "2026-11-30T08:00:00Z");
        assert_eq!(first.suffix.as_deref(), Some("no_commit"));
        assert_eq!(read.get("02").unwrap().suffix, None);
        let last = read.get("03").unwrap().suffix.as_deref();
        assert_eq!(last, Some("app=abcdef0,docs=1234567"));
        assert!(!read.is_completed("04"));
    }

    /// K30.
    #[test]
    fn a_bad_line_is_named() {
        let message = |text: &str| parse(text).unwrap_err().to_string();
        let first = "01:completed:t\n";
        let bad = "progress store is invalid: p:2: \"broken\"";
        assert_eq!(message(&format!("{first}broken\n")), bad);
        assert_eq!(message(""), "progress store is invalid: p:1: \"\"");
        assert_eq!(message("\n\n"), "progress store is invalid: p:1: \"\"");
        let bad = "progress store is invalid: p:1: \"01::t\"";
        assert_eq!(message("01::t"), bad);
    }

    #[test]
    fn a_cut_line_does_not_swallow_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::of(folder.path());
        state.make().unwrap();
        fs::write(state.progress(), "01:completed:2026").unwrap();
        let mut log = ProgressLog::of(&state);
        log.failed("02").unwrap();
        log.completed("03", "noop").unwrap();
        let read = ProgressRecord::read(&state).unwrap().unwrap();
        assert!(read.is_completed("01") && !read.is_completed("02"));
        assert_eq!(read.get("03").unwrap().suffix.as_deref(), Some("noop"));
    }
}
