//! Reads the terminal statuses of prompts in `progress.log` (spec P31, P114, P115).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::error::PacketError;
use super::prompt_id::PromptId;
use super::source;

/// The newest status of every prompt that has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    newest: BTreeMap<String, Recorded>,
}

/// A terminal status, as recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// `completed`, `failed`, or another word.
    pub status: String,
    /// When, as written.
    pub time: String,
    /// What became of the commit: a word, a commit, or several as `repo=commit`.
    pub suffix: Option<String>,
}

/// The words that stand for no commit.
const WORDS: &[&str] = &["no_changes", "no_commit", "noop", "no_session"];

impl Progress {
    /// The file of a packet.
    #[must_use]
    pub fn file(root: &Path) -> PathBuf {
        root.join(".prompt_runner").join("progress.log")
    }

    /// Reads the statuses of a packet. No file is no status.
    ///
    /// # Errors
    /// [`PacketError::Progress`]: a file that cannot be read, has no line, or a bad one.
    pub fn read(root: &Path) -> Result<Self, PacketError> {
        let file = Self::file(root);
        let shown = file.display().to_string();
        if std::fs::symlink_metadata(&file).is_err_and(|error| is_absent(&error)) {
            return Ok(Self::default());
        }
        let text = source::read(&file, &shown).map_err(|error| match error {
            PacketError::Syntax { line, cause, .. } => invalid(&shown, line, cause),
            PacketError::File { cause, .. } => invalid(&shown, 1, cause),
            other => other,
        })?;
        Self::parse(&text).map_err(|(line, text)| invalid(&shown, line, text))
    }

    /// Reads lines; gives the first bad one with its number.
    fn parse(text: &str) -> Result<Self, (usize, String)> {
        let mut newest = BTreeMap::new();
        for (at, line) in text.lines().enumerate() {
            if line.is_empty() {
                continue;
            }
            let (id, recorded) = entry(line).ok_or_else(|| (at + 1, line.to_owned()))?;
            newest.insert(id, recorded);
        }
        match newest.is_empty() {
            true => Err((1, String::new())),
            false => Ok(Self { newest }),
        }
    }

    /// The newest status of a prompt.
    #[must_use]
    pub fn get(&self, id: &PromptId) -> Option<&Recorded> {
        self.newest.get(id.as_str())
    }

    /// Whether a prompt is recorded as completed.
    #[must_use]
    pub fn is_completed(&self, id: &PromptId) -> bool {
        self.get(id).is_some_and(Recorded::is_completed)
    }
}

impl Recorded {
    /// Whether the prompt is completed.
    #[must_use]
    pub fn is_completed(&self) -> bool {
        self.status == "completed"
    }

    /// Whether the prompt failed.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        self.status == "failed"
    }
}

fn is_absent(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::NotFound
}

fn invalid(file: &str, line: usize, text: String) -> PacketError {
    PacketError::Progress {
        file: file.to_owned(),
        line,
        text,
    }
}

fn entry(line: &str) -> Option<(String, Recorded)> {
    let mut parts = line.splitn(3, ':').map(str::trim_ascii);
    let (id, status, rest) = (parts.next()?, parts.next()?, parts.next()?);
    if id.is_empty() || status.is_empty() || rest.is_empty() {
        return None;
    }
    let (time, suffix) = match rest.rsplit_once(':') {
        Some((time, suffix)) if is_suffix(suffix) => (time, Some(suffix.to_owned())),
        _ => (rest, None),
    };
    let id = id
        .parse::<PromptId>()
        .map_or_else(|_| id.to_owned(), |id| id.to_string());
    let recorded = Recorded {
        status: status.to_owned(),
        time: time.to_owned(),
        suffix,
    };
    Some((id, recorded))
}

fn is_suffix(text: &str) -> bool {
    let of_repos = || {
        text.split(',').all(|part| {
            part.split_once('=')
                .is_some_and(|(repo, commit)| !repo.is_empty() && is_commit(commit))
        })
    };
    WORDS.contains(&text) || is_commit(text) || of_repos()
}

fn is_commit(text: &str) -> bool {
    (7..=40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
