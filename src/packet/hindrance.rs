//! What keeps a repository from being committed to as a whole (spec P34, P102).

use std::fmt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::harness::CancelToken;

/// How long a lock is waited for: of a git that goes on after its runner was killed, or of a
/// person's.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

/// How many paths a message names.
const SHOWN: usize = 10;

/// The files that git keeps of what is under way, in the order in which they tell: a rebase picks
/// commits too. With each, what it is and what gives it up.
const MARKS: [(&str, &str, &str); 8] = [
    ("rebase-merge", "a rebase", "git rebase --abort"),
    (
        "rebase-apply/applying",
        "applying patches",
        "git am --abort",
    ),
    ("rebase-apply", "a rebase", "git rebase --abort"),
    ("MERGE_HEAD", "a merge", "git merge --abort"),
    (
        "CHERRY_PICK_HEAD",
        "a cherry-pick",
        "git cherry-pick --abort",
    ),
    ("REVERT_HEAD", "a revert", "git revert --abort"),
    (
        "sequencer",
        "a cherry-pick or revert",
        "git cherry-pick --abort",
    ),
    ("BISECT_LOG", "a bisection", "git bisect reset"),
];

/// What is in the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Hindrance {
    /// The file by which a git keeps others out.
    Locked(PathBuf),
    /// Something that stopped halfway.
    UnderWay {
        /// What it is.
        what: &'static str,
        /// What gives it up.
        abort: &'static str,
    },
    /// Paths with conflicts, the first ones, and how many there are.
    Unmerged(Vec<String>, usize),
    /// Nobody to commit as.
    Nameless,
}

/// [`Hindrance::kind`] where there is nobody to commit as.
pub(super) const NAMELESS: &str = "git_identity_missing";

impl Hindrance {
    /// Its kind as a readiness error (spec P34).
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Locked(_) => "git_locked",
            Self::UnderWay { .. } => "git_operation_under_way",
            Self::Unmerged(..) => "unmerged_paths",
            Self::Nameless => NAMELESS,
        }
    }

    /// The lock of the repository whose git folder this is, where it does not go away.
    pub(super) fn lock(git_folder: &Path, cancel: &CancelToken) -> Option<Self> {
        let lock = git_folder.join("index.lock");
        let begun = Instant::now();
        while lock.symlink_metadata().is_ok() {
            if begun.elapsed() >= PATIENCE || cancel.is_cancelled() {
                return Some(Self::Locked(lock));
            }
            thread::sleep(PAUSE);
        }
        None
    }

    /// What stopped halfway in the repository whose git folder this is.
    pub(super) fn under_way(git_folder: &Path) -> Option<Self> {
        let is_there = |name: &str| git_folder.join(name).symlink_metadata().is_ok();
        let mut marks = MARKS.iter();
        let (_, what, abort) = marks.find(|(name, ..)| is_there(name))?;
        Some(Self::UnderWay { what, abort })
    }

    /// Paths with conflicts, if there are any.
    pub(super) fn unmerged(paths: impl IntoIterator<Item = String>) -> Option<Self> {
        let mut paths: Vec<String> = paths.into_iter().collect();
        paths.dedup();
        let count = paths.len();
        paths.truncate(SHOWN);
        (count > 0).then_some(Self::Unmerged(paths, count))
    }
}

impl fmt::Display for Hindrance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Locked(lock) => write!(
                f,
                "{} is in the way: wait for the git that is at work, or remove the file if none is",
                lock.display()
            ),
            Self::UnderWay { what, abort } => {
                write!(
                    f,
                    "{what} is under way: finish it, or give it up with {abort}"
                )
            }
            Self::Unmerged(paths, count) => {
                write!(f, "unmerged paths: {}", paths.join(", "))?;
                match count - paths.len() {
                    0 => {}
                    more => write!(f, ", and {more} more")?,
                }
                f.write_str(": resolve them, then git add them")
            }
            Self::Nameless => f.write_str(
                "git knows nobody to commit as: set user.name and user.email with git config",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_lock_that_goes_away_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("index.lock");
        fs::write(&lock, "").unwrap();
        let never = CancelToken::default();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(100));
                fs::remove_file(&lock).unwrap();
            });
            assert_eq!(Hindrance::lock(folder.path(), &never), None);
        });
        fs::write(&lock, "").unwrap();
        never.cancel();
        let found = Hindrance::lock(folder.path(), &never).unwrap();
        assert!(
            found
                .to_string()
                .starts_with(&format!("{} is in the way: ", lock.display()))
        );
    }

    #[test]
    fn what_is_under_way_is_told_by_its_files() {
        for (mark, expected, abort) in MARKS {
            let folder = tempfile::tempdir().unwrap();
            assert_eq!(Hindrance::under_way(folder.path()), None);
            fs::create_dir_all(folder.path().join(mark)).unwrap();
            let found = Hindrance::under_way(folder.path()).unwrap();
            let expected =
                format!("{expected} is under way: finish it, or give it up with {abort}");
            assert_eq!(found.to_string(), expected, "{mark}");
        }
    }

    #[test]
    fn unmerged_paths_are_named_once_and_not_all() {
        assert_eq!(Hindrance::unmerged([]), None);
        let paths = (0..24).map(|number| format!("f{:02}", number / 2));
        let expected = "unmerged paths: f00, f01, f02, f03, f04, f05, f06, f07, f08, f09, and 2 \
                        more: resolve them, then git add them";
        assert_eq!(Hindrance::unmerged(paths).unwrap().to_string(), expected);
    }
}
