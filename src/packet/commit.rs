//! Commits what a repository has that is not committed (spec P102).

use std::ffi::OsStr;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::time::Duration;

use super::git;
use super::hindrance::Hindrance;
use super::process::{self, Ended, NoEnd, Orphaned, Stderr};
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
/// run; nothing is pushed. What is in the middle of a merge or the like is left as it is; a lock is
/// waited for. Only `kill` ends it early: a commit that was begun is let finish.
///
/// # Errors
/// The last line of what git said that is no hint (spec P103).
pub fn commit_all(root: &Path, message: &str, kill: &CancelToken) -> Result<Committed, String> {
    // A setting may hide what is new from `status`, which `add` takes all the same.
    let words = ["status", "--porcelain", "--untracked-files=normal"];
    let status = run(root, words, kill)?;
    if status.is_empty() {
        return Ok(Committed::NoChanges);
    }
    let git_folder = run(root, ["rev-parse", "--absolute-git-dir"], kill)?;
    let git_folder = Path::new(git_folder.trim_end_matches('\n'));
    // What is under way ends with a commit of its own, and `add` would call conflicts resolved.
    let hindrance = Hindrance::under_way(git_folder)
        .or_else(|| Hindrance::unmerged(unmerged(&status)))
        .or_else(|| Hindrance::lock(git_folder, kill));
    if let Some(hindrance) = hindrance {
        return Err(hindrance.to_string());
    }
    let mut file = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
    file.write_all(format!("{message}\n").as_bytes())
        .map_err(|error| error.to_string())?;
    run_unlocked(root, git_folder, &["add", "-A"].map(OsStr::new), kill)?;
    // Not all that `status` lists is something to commit: line ends that are stored alike, or work
    // inside a submodule.
    let words = [
        "diff",
        "--cached",
        "--name-only",
        "--no-ext-diff",
        "--ignore-submodules=none",
    ];
    if run(root, words, kill)?.is_empty() {
        return Ok(Committed::NoChanges);
    }
    let words = [
        OsStr::new("commit"),
        OsStr::new("--file"),
        file.path().as_os_str(),
    ];
    run_unlocked(root, git_folder, &words, kill)?;
    let head = run(root, ["rev-parse", "HEAD"], kill)?;
    Ok(Committed::Sha(head.trim().to_owned()))
}

/// The paths with conflicts of a short status.
fn unmerged(status: &str) -> impl Iterator<Item = String> {
    let lines = status.lines().filter_map(|line| line.split_at_checked(3));
    let unmerged = lines.filter(|(state, _)| {
        let state = state.trim_end();
        matches!(state, "DD" | "AA") || state.contains('U')
    });
    unmerged.map(|(_, path)| path.to_owned())
}

/// As [`run`], once more where another git got its lock first.
fn run_unlocked(
    root: &Path,
    git_folder: &Path,
    words: &[&OsStr],
    kill: &CancelToken,
) -> Result<String, String> {
    match answer(root, words, kill) {
        Err(refusal) if refusal.is_locked => match Hindrance::lock(git_folder, kill) {
            Some(lock) => Err(lock.to_string()),
            None => answer(root, words, kill).map_err(|refusal| refusal.said),
        },
        answer => answer.map_err(|refusal| refusal.said),
    }
}

/// What git answers to these words.
fn run<const N: usize>(
    root: &Path,
    words: [&str; N],
    kill: &CancelToken,
) -> Result<String, String> {
    answer(root, &words.map(OsStr::new), kill).map_err(|refusal| refusal.said)
}

/// Why git did not do it.
struct Refusal {
    /// The last line of what it said that is no hint.
    said: String,
    /// Whether it was about the lock of the index.
    is_locked: bool,
}

impl From<String> for Refusal {
    fn from(said: String) -> Self {
        Self {
            said,
            is_locked: false,
        }
    }
}

fn answer(root: &Path, words: &[&OsStr], kill: &CancelToken) -> Result<String, Refusal> {
    let mut command = git::command(root);
    command.args(words);
    process::mark(&mut command, Orphaned::Finishes);
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
    let what = words.first().map(|word| word.to_string_lossy());
    let what = what.unwrap_or_default();
    match code {
        Some(0) => Ok(out),
        None => Err(format!("git {what} took more than {} s", BOUND.as_secs()).into()),
        Some(code) => {
            let said = String::from_utf8_lossy(&stderr.bytes);
            let mut lines = out.lines().chain(said.lines());
            let last = lines.rfind(|line| !line.trim().is_empty() && !line.starts_with("hint:"));
            let last = last.map(|line| line.trim().to_owned());
            Err(Refusal {
                said: last.unwrap_or_else(|| format!("git {what} exit {code}")),
                is_locked: said.contains("index.lock"),
            })
        }
    }
}
