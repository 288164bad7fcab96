//! Asks git about a repository without changing it (spec P45).

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::process::{self, Ended, NoEnd, Stderr};
use crate::harness::CancelToken;

/// How long git has for an answer, but for one that comes over a network.
const BOUND: Duration = Duration::from_secs(60);

/// What would lead git away from the folder it is told.
const ELSEWHERE: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// Git in one folder.
#[derive(Clone, Copy)]
pub(super) struct Git<'a> {
    root: &'a Path,
    cancel: &'a CancelToken,
}

/// Why git gave no answer.
#[derive(Debug)]
pub(super) enum GitError {
    /// There is no git.
    Missing,
    /// It did not answer in time.
    TimedOut(Duration),
    /// It failed.
    Failed {
        /// Its exit code.
        code: i32,
        /// What it said, trimmed.
        said: String,
    },
    /// It was interrupted.
    Interrupted,
}

/// A path that differs from the last commit, or is not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// The two letters of a status line.
    pub(super) state: String,
    /// The path, from the top of the work tree.
    pub(super) path: String,
    /// The path it was renamed or copied from.
    pub(super) from: Option<String>,
}

impl Change {
    /// The line of a short status.
    pub(super) fn line(&self) -> String {
        let Self { state, path, from } = self;
        match from {
            Some(from) => format!("{state} {from} -> {path}"),
            None => format!("{state} {path}"),
        }
    }
}

/// The state of a work tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Status {
    /// The commit at HEAD; `None` before the first.
    pub(super) head: Option<String>,
    /// The branch; `None` where HEAD is detached.
    pub(super) branch: Option<String>,
    /// The upstream of the branch, if it has one.
    pub(super) upstream: Option<String>,
    /// What is not committed.
    pub(super) changes: Vec<Change>,
}

/// Which files that are not in the repository a status lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Untracked {
    /// A folder of nothing else as one.
    Folders,
    /// Each by itself.
    Files,
}

/// Git in a folder, wherever the environment would lead it.
pub(super) fn command(root: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(root).env("GIT_TERMINAL_PROMPT", "0");
    for name in ELSEWHERE {
        command.env_remove(name);
    }
    command
}

impl<'a> Git<'a> {
    pub(super) fn new(root: &'a Path, cancel: &'a CancelToken) -> Self {
        Self { root, cancel }
    }

    /// The answer of git to these words.
    pub(super) fn ask(self, words: &[&str]) -> Result<Vec<u8>, GitError> {
        self.ask_within(words, BOUND)
    }

    /// The answer to these words, if it comes in time.
    pub(super) fn ask_within(self, words: &[&str], bound: Duration) -> Result<Vec<u8>, GitError> {
        let mut command = command(self.root);
        // A monitor of the file system would be a program of the repository's choice, and would
        // go on running.
        command
            .args(["-c", "core.fsmonitor=false"])
            .args(words)
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("LC_ALL", "C");
        let ended = process::run(command, Stderr::Apart, bound, self.cancel);
        let Ended {
            code,
            stdout,
            stderr,
        } = ended.map_err(|error| match error {
            NoEnd::Interrupted => GitError::Interrupted,
            NoEnd::NotStarted(error) if error.kind() == ErrorKind::NotFound => GitError::Missing,
            NoEnd::NotStarted(error) => GitError::Failed {
                code: -1,
                said: error.to_string(),
            },
        })?;
        let failed = |code, said: &[u8]| GitError::Failed {
            code,
            said: String::from_utf8_lossy(said).trim().to_owned(),
        };
        match code {
            None => Err(GitError::TimedOut(bound)),
            Some(0) if stdout.is_cut => Err(failed(0, b"more than 16 MiB of output")),
            Some(0) => Ok(stdout.bytes),
            Some(code) => Err(failed(code, &[stdout.bytes, stderr.bytes].concat())),
        }
    }

    /// The one line that git answers.
    pub(super) fn line(self, words: &[&str]) -> Result<String, GitError> {
        let answer = self.ask(words)?;
        let answer = String::from_utf8_lossy(&answer);
        Ok(answer.trim_end_matches('\n').to_owned())
    }

    /// The state of the whole work tree.
    pub(super) fn status(self) -> Result<Status, GitError> {
        self.read_status(Untracked::Folders, &[])
    }

    /// The paths below the folder that are not committed, from the folder; both of a rename, and
    /// each file that is not in the repository. In byte order.
    pub(super) fn changed_paths(self) -> Result<Vec<String>, GitError> {
        let status = self.read_status(Untracked::Files, &["--", "."])?;
        let top = match status.changes.is_empty() || self.root.join(".git").exists() {
            true => String::new(),
            false => self.line(&["rev-parse", "--show-prefix"])?,
        };
        let names = status.changes.into_iter();
        let names = names.flat_map(|change| [Some(change.path), change.from]);
        let below = names.flatten().filter_map(|name| {
            let below = name.strip_prefix(&top)?;
            Some(below.to_owned())
        });
        let mut paths: Vec<String> = below.collect();
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    /// The paths of the repository with conflicts, from its top, once for each side.
    pub(super) fn unmerged(self) -> Result<Vec<String>, GitError> {
        let answer = self.ask(&["ls-files", "--unmerged", "--full-name", "-z", "--", ":/"])?;
        let answer = String::from_utf8_lossy(&answer);
        let paths = answer
            .split('\0')
            .filter_map(|entry| entry.split_once('\t'));
        Ok(paths.map(|(_, path)| path.to_owned()).collect())
    }

    fn read_status(self, untracked: Untracked, rest: &[&str]) -> Result<Status, GitError> {
        let untracked = match untracked {
            Untracked::Folders => "--untracked-files=normal",
            Untracked::Files => "--untracked-files=all",
        };
        let words = ["status", "--porcelain=v2", "--branch", "-z", untracked];
        let answer = self.ask(&[&words, rest].concat())?;
        Ok(Status::read(&String::from_utf8_lossy(&answer)))
    }
}

impl Status {
    /// Reads an answer of `git status --porcelain=v2 --branch -z`.
    fn read(answer: &str) -> Self {
        let mut status = Self::default();
        let mut records = answer.split('\0').filter(|record| !record.is_empty());
        while let Some(record) = records.next() {
            let (kind, rest) = record.split_once(' ').unwrap_or((record, ""));
            // How many fields stand before the path.
            let before = match kind {
                "#" => {
                    status.read_header(rest);
                    continue;
                }
                "1" => 7,
                "2" => 8,
                "u" => 9,
                "?" => {
                    status.changes.push(Change {
                        state: "??".to_owned(),
                        path: rest.to_owned(),
                        from: None,
                    });
                    continue;
                }
                _ => continue,
            };
            let mut fields = rest.splitn(before + 1, ' ');
            let state = fields.next().unwrap_or_default().replace('.', " ");
            let Some(path) = fields.nth(before - 1) else {
                continue;
            };
            status.changes.push(Change {
                state,
                path: path.to_owned(),
                from: (kind == "2").then(|| records.next().unwrap_or_default().to_owned()),
            });
        }
        status
    }

    fn read_header(&mut self, header: &str) {
        let Some((key, value)) = header.split_once(' ') else {
            return;
        };
        let value = Some(value.to_owned());
        match key {
            "branch.oid" => self.head = value.filter(|oid| oid != "(initial)"),
            "branch.head" => self.branch = value.filter(|name| name != "(detached)"),
            "branch.upstream" => self.upstream = value,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read() {
        let answer = "# branch.oid 1234567890\0# branch.head main\0# branch.upstream o/main\0\
                      1 .M N... 100644 100644 100644 a b x y.txt\0\
                      2 R. N... 100644 100644 100644 a b R100 new name\0old name\0\
                      u UU N... 1 2 3 4 a b c both\0? fresh file\0";
        let status = Status::read(answer);
        assert_eq!(status.head.as_deref(), Some("1234567890"));
        assert_eq!(status.branch.as_deref(), Some("main"));
        assert_eq!(status.upstream.as_deref(), Some("o/main"));
        let lines: Vec<String> = status.changes.iter().map(Change::line).collect();
        let expected = [
            " M x y.txt",
            "R  old name -> new name",
            "UU both",
            "?? fresh file",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_repository_without_commits_is_read() {
        let status = Status::read("# branch.oid (initial)\0# branch.head main\0");
        assert_eq!(
            (status.head, status.branch.as_deref()),
            (None, Some("main"))
        );
        assert!(status.changes.is_empty());
    }
}
