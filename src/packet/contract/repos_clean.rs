//! `repos_clean`: the work is committed, and pushed where that is asked (spec P57, P58).

use std::path::Path;
use std::time::Duration;

use super::Interrupted;
use super::entry::{Entry, Root, named};
use super::repository;
use super::scope::Scope;
use super::verdict::Verdict;
use crate::harness::CancelToken;
use crate::packet::git::{Git, GitError, Status};

/// How long a remote has for its answer, in milliseconds, unless the entry says otherwise.
const REMOTE_TIMEOUT_MS: u64 = 90_000;
/// How many status lines the details name.
const SHOWN: usize = 10;
/// How many digits of a commit are shown.
const DIGITS: usize = 7;

/// The repo has nothing uncommitted; its branch is where its upstream is, if the entry wants that.
pub(super) fn repos_clean(
    entry: Entry<'_>,
    scope: &Scope,
    cancel: &CancelToken,
) -> Result<Verdict, Interrupted> {
    let name = entry.whole().or_else(|| entry.text(&["repo"]));
    let root = match name.filter(|name| !name.is_empty()) {
        Some(name) => named(scope, name),
        None => scope
            .own_repo()
            .and_then(|name| {
                Some(Root {
                    folder: scope.repo(name)?.to_owned(),
                    repo: Some(name.to_owned()),
                })
            })
            .ok_or_else(|| (None, Verdict::fail("missing_repo: (unnamed)"))),
    };
    let Root { repo, folder } = match root {
        Ok(root) => root,
        Err((repo, verdict)) => return Ok(verdict.of(repo)),
    };
    let check = Check {
        git: Git::new(&folder, cancel),
        folder: &folder,
        entry,
    };
    let verdict = check.verdict()?;
    Ok(verdict.with_path("path", &folder).of(repo))
}

/// The check of one repository.
struct Check<'a> {
    git: Git<'a>,
    folder: &'a Path,
    entry: Entry<'a>,
}

/// The commit of an upstream, with a note on where that is known from.
struct Remote {
    commit: Option<String>,
    note: String,
}

impl Check<'_> {
    fn verdict(&self) -> Result<Verdict, Interrupted> {
        match self.git.status() {
            Ok(status) => {
                let (verdict, pushed) = self.of_status(&status)?;
                Ok(verdict
                    .with("pushed?", pushed)
                    .with("branch", branch(&status))
                    .with("head", short(status.head.as_deref()))
                    .with("upstream", status.upstream)
                    .with("dirty_count", status.changes.len()))
            }
            Err(error @ GitError::Failed { .. }) if !self.is_work_tree(&error)? => {
                let folder = self.folder.display();
                Ok(Verdict::fail(format!("not a git repository: {folder}")))
            }
            Err(error) => repository::failed(error, |said| format!("git status failed: {said}")),
        }
    }

    /// Whether a status that failed did so in a work tree.
    fn is_work_tree(&self, error: &GitError) -> Result<bool, Interrupted> {
        let says_no = |error: &GitError| match error {
            GitError::Failed { said, .. } => said.contains("not a git repository"),
            _ => false,
        };
        if !self.folder.is_dir() || says_no(error) {
            return Ok(false);
        }
        match self.git.line(&["rev-parse", "--is-inside-work-tree"]) {
            Ok(answer) => Ok(answer == "true"),
            Err(GitError::Interrupted) => Err(Interrupted),
            Err(error) => Ok(!says_no(&error)),
        }
    }

    /// The verdict on a status, and whether the branch is where its upstream is, if they were
    /// compared.
    fn of_status(&self, status: &Status) -> Result<(Verdict, Option<bool>), Interrupted> {
        let count = status.changes.len();
        if count > 0 {
            let shown = status.changes.iter().take(SHOWN);
            let shown: Vec<String> = shown.map(|change| change.line()).collect();
            let mut details = format!("uncommitted changes ({count}): {}", shown.join(", "));
            if count > SHOWN {
                details += &format!(", and {} more", count - SHOWN);
            }
            return Ok((Verdict::fail(details), None));
        }
        let at = format!("{} at {}", branch(status), short(status.head.as_deref()));
        let (upstream, pushed) = (status.upstream.as_deref(), self.entry.is_true("pushed"));
        let (upstream, is_pushed) = match (upstream, pushed) {
            (None, false) => return Ok((Verdict::pass(format!("ok: {at}, no upstream")), None)),
            (Some(upstream), false) => {
                let details = format!("ok: {at}, upstream {upstream} not compared");
                return Ok((Verdict::pass(details), None));
            }
            (None, true) => {
                let details = format!("no upstream for {at}, and pushed: true needs one");
                return Ok((Verdict::fail(details), None));
            }
            (Some(upstream), true) => (upstream, self.remote(status)?),
        };
        let Remote { commit, note } = is_pushed;
        let is_equal = commit.is_some() && commit == status.head;
        let verdict = match is_equal {
            true => Verdict::pass(format!("ok: {at}, pushed to {upstream}{note}")),
            false => {
                let there = commit.as_deref().map_or("(unresolved)", digits);
                Verdict::fail(format!(
                    "not pushed: {at} differs from {upstream} at {there}{note}"
                ))
            }
        };
        Ok((verdict, Some(is_equal)))
    }

    /// Where the upstream is: as the remote says, if it is to be asked and answers, else as it was
    /// last seen.
    fn remote(&self, status: &Status) -> Result<Remote, Interrupted> {
        if !self.entry.is_true("network") {
            return self.cached(" [cached upstream]".to_owned());
        }
        let key = |part| format!("branch.{}.{part}", branch(status));
        let config = |part| self.git.line(&["config", "--get", &key(part)]);
        let asked = config("remote").and_then(|remote| Ok((remote, config("merge")?)));
        let (remote, name) = match asked {
            Ok(found) => found,
            Err(error) => return self.without_answer(error),
        };
        let bound = self
            .entry
            .natural(&["remote_timeout_ms", "fetch_timeout_ms"]);
        let bound = bound.filter(|ms| *ms > 0).unwrap_or(REMOTE_TIMEOUT_MS);
        let words = ["ls-remote", "--exit-code", "--", &remote, &name];
        match self.git.ask_within(&words, Duration::from_millis(bound)) {
            Ok(answer) => {
                let answer = String::from_utf8_lossy(&answer);
                let mut refs = answer.lines().filter_map(|line| line.split_once('\t'));
                let commit = refs.find(|(_, found)| *found == name);
                Ok(Remote {
                    note: match commit {
                        Some(_) => String::new(),
                        None => absent(&name, &remote),
                    },
                    commit: commit.map(|(commit, _)| commit.to_owned()),
                })
            }
            Err(GitError::Failed { code: 2, .. }) => Ok(Remote {
                commit: None,
                note: absent(&name, &remote),
            }),
            Err(error) => self.without_answer(error),
        }
    }

    /// The upstream as it was last seen, where the remote gives no answer.
    fn without_answer(&self, error: GitError) -> Result<Remote, Interrupted> {
        let what = match error {
            GitError::Interrupted => return Err(Interrupted),
            GitError::TimedOut(bound) => format!("timed out after {} ms", bound.as_millis()),
            GitError::Missing => "failed: no git".to_owned(),
            GitError::Failed { code, said } => {
                let lines = || said.lines().map(str::trim);
                let fatal = lines().find_map(|line| line.strip_prefix("fatal: "));
                let first = fatal.or_else(|| lines().next());
                let cause = first.map_or_else(|| format!("exit {code}"), str::to_owned);
                format!("failed: {cause}")
            }
        };
        self.cached(format!(" [ls-remote {what}; cached upstream used]"))
    }

    fn cached(&self, note: String) -> Result<Remote, Interrupted> {
        let words = ["rev-parse", "--verify", "--quiet", "@{upstream}^{commit}"];
        match self.git.line(&words) {
            Ok(commit) => Ok(Remote {
                commit: Some(commit),
                note,
            }),
            Err(GitError::Interrupted) => Err(Interrupted),
            Err(_) => Ok(Remote { commit: None, note }),
        }
    }
}

fn absent(name: &str, remote: &str) -> String {
    format!(" [{name} absent on {remote}]")
}

fn branch(status: &Status) -> &str {
    status.branch.as_deref().unwrap_or("HEAD")
}

fn short(head: Option<&str>) -> &str {
    head.map_or("(no commit)", digits)
}

fn digits(commit: &str) -> &str {
    commit.get(..DIGITS).unwrap_or(commit)
}
