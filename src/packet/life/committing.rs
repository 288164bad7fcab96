//! Commits what a prompt has done (spec P101 to P103).

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Life, fields};
use crate::packet::commit::{Committed, commit_all};
use crate::packet::name::PACKET;
use crate::packet::run::{Committer, Context};
use crate::packet::state::Fields;

/// What the commits of a prompt came to.
pub(super) enum Commits {
    /// There was none to be, for this reason.
    Skipped(&'static str),
    /// Each target repo, in target order.
    Done(Vec<(String, Committed)>),
}

impl Commits {
    /// What a committer comes to that does nothing.
    pub(super) fn skipped(committer: Committer) -> Option<Self> {
        match committer {
            Committer::Git => None,
            Committer::Noop => Some(Self::Skipped("noop")),
            Committer::Sessions => Some(Self::Skipped("no_commit")),
        }
    }

    /// The prompt's `commit_info`.
    pub(super) fn fields(&self) -> Fields {
        let info = match self {
            Self::Skipped(reason) => skip(reason),
            Self::Done(repos) => match repos.as_slice() {
                [(_, commit)] => info(commit),
                repos => repos
                    .iter()
                    .map(|(repo, commit)| named(repo, commit))
                    .collect(),
            },
        };
        fields([("commit_info", info)])
    }

    /// What `progress.log` says of them (spec P114).
    pub(super) fn suffix(&self) -> String {
        let repos = match self {
            Self::Skipped(reason) => return (*reason).to_owned(),
            Self::Done(repos) => repos,
        };
        let several = repos.len() > 1;
        let made = repos.iter().filter_map(|(repo, commit)| match commit {
            Committed::NoChanges => None,
            Committed::Sha(sha) if several => Some(format!("{repo}={sha}")),
            Committed::Sha(sha) => Some(sha.clone()),
        });
        let made: Vec<String> = made.collect();
        match made.is_empty() {
            true => "no_changes".to_owned(),
            false => made.join(","),
        }
    }
}

fn skip(reason: &str) -> Value {
    json!({"status": "skip", "reason": reason})
}

fn info(commit: &Committed) -> Value {
    match commit {
        Committed::Sha(sha) => json!({"status": "ok", "value": sha}),
        Committed::NoChanges => skip("no_changes"),
    }
}

fn named(repo: &str, commit: &Committed) -> Value {
    let mut info = info(commit);
    info["repo"] = json!(repo);
    info
}

impl Life<'_> {
    /// Commits in every target repo; in the packet's folder where there is none. Stops at the first
    /// that fails; what was committed before stays.
    pub(super) fn commit(&self, context: &Context<'_>) -> Result<Commits, String> {
        let message = self.prompt.commit_message();
        let mut done = Vec::new();
        for (repo, folder) in self.repos() {
            let commit = commit_all(&folder, &message, &context.interrupt.kill);
            let commit = commit.map_err(|said| format!("commit failed in {repo}: {said}"))?;
            done.push((repo, commit));
        }
        Ok(Commits::Done(done))
    }

    fn repos(&self) -> Vec<(String, PathBuf)> {
        let targets = self.packet.targets(self.prompt).into_iter();
        let named = targets.filter_map(|repo| Some((repo.name.clone(), repo.path.clone()?)));
        let mut repos: Vec<_> = named.collect();
        if repos.is_empty() {
            repos.push((PACKET.to_owned(), self.packet.root.clone()));
        }
        repos
    }
}
