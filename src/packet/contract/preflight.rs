//! Whether a prompt's contract holds before its session starts (spec P72).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_yaml::Mapping;

use super::clause::Clause;
use super::report::{Item, Kind, Report};
use super::scope::Scope;
use super::wildcard::Wildcard;
use super::{Interrupted, evaluate};
use crate::harness::CancelToken;
use crate::packet::git::{Git, GitError};

/// What is to be done with a prompt before its session starts.
#[derive(Clone, Debug, PartialEq)]
pub enum Preflight {
    /// Nothing was evaluated, since the contract has `changed_paths_only`: a session runs.
    NotEvaluated,
    /// The contract could not be checked: no session starts, and the run ends (spec P71).
    Fault(Report),
    /// The contract is empty: a session runs.
    Empty(Report),
    /// It is not met: a session runs.
    Unmet(Report),
    /// It is met by work that is not committed: a session runs.
    Uncommitted(Report),
    /// It is met by committed work: the prompt is completed without a session (spec P73).
    Satisfied(Report),
}

impl Preflight {
    /// Checks the contract of a prompt.
    ///
    /// # Errors
    /// [`Interrupted`] once `cancel` is set off.
    pub fn check(
        scope: &Scope,
        prompt_id: &str,
        verify: Option<&Mapping>,
        worktrees: &mut Worktrees,
        cancel: &CancelToken,
    ) -> Result<Self, Interrupted> {
        let has = |clause: Clause| verify.is_some_and(|verify| verify.contains_key(clause.key()));
        if has(Clause::ChangedPathsOnly) {
            return Ok(Self::NotEvaluated);
        }
        let report = evaluate(scope, prompt_id, verify, cancel)?;
        if has(Clause::Commands) {
            // They may have changed anything.
            worktrees.forget();
        }
        let mut interrupted = Ok(());
        let decided = Self::decide(report, |item| {
            let is_clean = worktrees.is_clean(item, scope, cancel);
            is_clean.unwrap_or_else(|error| {
                interrupted = Err(error);
                false
            })
        });
        interrupted.map(|()| decided)
    }

    /// What a report means. `is_clean` says of an item that holds whether its path has nothing
    /// uncommitted.
    pub fn decide(report: Report, is_clean: impl FnMut(&Item) -> bool) -> Self {
        if report.has_fault() {
            Self::Fault(report)
        } else if report.items.is_empty() {
            Self::Empty(report)
        } else if !report.pass() {
            Self::Unmet(report)
        } else if !report.items.iter().all(is_clean) {
            Self::Uncommitted(report)
        } else {
            Self::Satisfied(report)
        }
    }
}

/// What is uncommitted in the repositories of a packet. Each is asked once, until that is forgotten.
#[derive(Clone, Debug, Default)]
pub struct Worktrees {
    /// The uncommitted paths of each folder, from there; `None` where git does not answer for it.
    known: BTreeMap<PathBuf, Option<Vec<String>>>,
}

impl Worktrees {
    /// Forgets what is known: a session, a commit or a command may have changed it.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    /// Whether the path of an item has nothing uncommitted. A path outside the item's repo, or in a
    /// folder git does not answer for, has not.
    fn is_clean(
        &mut self,
        item: &Item,
        scope: &Scope,
        cancel: &CancelToken,
    ) -> Result<bool, Interrupted> {
        let name = item.repo.as_deref().or(scope.default_repo.as_deref());
        let Some(folder) = name.and_then(|name| scope.repo(name)) else {
            return Ok(true);
        };
        let path = item.resolved_path().map(Path::new);
        let Some(below) = path.and_then(|path| path.strip_prefix(folder).ok()) else {
            return Ok(true);
        };
        let Some(changed) = self.changed(folder, cancel)? else {
            return Ok(true);
        };
        let below = below.to_string_lossy();
        Ok(match item.kind {
            // Its path is a pattern: whatever it would match must be as it was committed.
            Kind::Glob => Wildcard::new(&below).is_ok_and(|pattern| {
                let mut changed = changed.iter();
                !changed.any(|path| pattern.covers(path))
            }),
            _ => !changed.iter().any(|path| concerns(path, &below)),
        })
    }

    fn changed(
        &mut self,
        folder: &Path,
        cancel: &CancelToken,
    ) -> Result<Option<&[String]>, Interrupted> {
        if !self.known.contains_key(folder) {
            let changed = match Git::new(folder, cancel).changed_paths() {
                Ok(changed) => Some(changed),
                Err(GitError::Interrupted) => return Err(Interrupted),
                Err(_) => None,
            };
            self.known.insert(folder.to_owned(), changed);
        }
        Ok(self.known.get(folder).and_then(Option::as_deref))
    }
}

/// Whether a changed path is a path or lies below it, or, as a folder, holds it.
fn concerns(changed: &str, path: &str) -> bool {
    let is_below = |below: &str, above: &str| {
        let rest = below.strip_prefix(above);
        rest.is_some_and(|rest| above.is_empty() || rest.is_empty() || rest.starts_with('/'))
    };
    is_below(changed, path)
        || changed
            .strip_suffix('/')
            .is_some_and(|held| is_below(path, held))
}
