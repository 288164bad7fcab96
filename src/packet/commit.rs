//! Commits what a repository has that is not committed (spec P102).

use std::ffi::OsStr;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::time::Duration;

use super::git;
use super::process::{self, Ended, NoEnd, Stderr};
use crate::harness::CancelToken;

/// How long a commit may take, its hooks included (spec P102).
const BOUND: Duration = Duration::from_secs(600);

/// What a commit came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Committed {
    /// The new commit.
    Sha(String),
    /// There was nothing to commit.
    NoChanges,
}

/// Commits everything in the repository of a folder, with this message and a newline. Its hooks
/// run; nothing is pushed. Only `kill` ends it early: a commit that was begun is let finish.
///
/// # Errors
/// The last line of what git said (spec P103).
pub fn commit_all(root: &Path, message: &str, kill: &CancelToken) -> Result<Committed, String> {
    if run(root, ["status", "--porcelain"], kill)?.is_empty() {
        return Ok(Committed::NoChanges);
    }
    let mut file = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
    file.write_all(format!("{message}\n").as_bytes())
        .map_err(|error| error.to_string())?;
    run(root, ["add", "-A"], kill)?;
    let words = [
        OsStr::new("commit"),
        OsStr::new("--file"),
        file.path().as_os_str(),
    ];
    run(root, words, kill)?;
    let head = run(root, ["rev-parse", "HEAD"], kill)?;
    Ok(Committed::Sha(head.trim().to_owned()))
}

/// What git answers to these words.
fn run<const N: usize>(
    root: &Path,
    words: [impl AsRef<OsStr>; N],
    kill: &CancelToken,
) -> Result<String, String> {
    let mut command = git::command(root);
    command.args(&words);
    let ended = process::run(command, Stderr::Apart, BOUND, kill);
    let Ended {
        code,
        stdout,
        stderr,
    } = ended.map_err(|error| match error {
        NoEnd::Interrupted => "killed".to_owned(),
        NoEnd::NotStarted(error) if error.kind() == ErrorKind::NotFound => {
            "git is not on PATH".to_owned()
        }
        NoEnd::NotStarted(error) => error.to_string(),
    })?;
    let out = String::from_utf8_lossy(&stdout.bytes).into_owned();
    let what = words.first().map(|word| word.as_ref().to_string_lossy());
    let what = what.unwrap_or_default();
    match code {
        Some(0) => Ok(out),
        None => Err(format!("git {what} took more than {} s", BOUND.as_secs())),
        Some(code) => {
            let said = String::from_utf8_lossy(&stderr.bytes);
            let mut lines = out.lines().chain(said.lines());
            let last = lines.rfind(|line| !line.trim().is_empty());
            Err(last.map_or_else(
                || format!("git {what} exit {code}"),
                |line| line.trim().to_owned(),
            ))
        }
    }
}
