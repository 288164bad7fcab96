//! Whether the repositories are there (spec P34).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::ReadinessError;
use crate::harness::CancelToken;
use crate::packet::git::{Git, GitError};
use crate::packet::hindrance::Hindrance;
use crate::packet::packet::Packet;

/// What is known of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RepoReport {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub path: Option<PathBuf>,
    /// Whether it is the packet's default.
    pub default: bool,
    /// Whether anything is there.
    #[serde(rename = "exists?")]
    pub exists: bool,
    /// Whether that is a folder.
    #[serde(rename = "directory?")]
    pub is_directory: bool,
    /// Whether that is the work tree of a git repository.
    #[serde(rename = "git?")]
    pub is_git: bool,
    /// Whether all of that holds.
    #[serde(rename = "ready?")]
    pub is_ready: bool,
    /// The first thing that does not.
    pub errors: Vec<ReadinessError>,
}

/// Looks at every repository; each folder is asked about once, until it is cancelled.
pub(super) fn survey_until(packet: &Packet, cancel: &CancelToken) -> Vec<RepoReport> {
    let default = packet.repos.default_repo().map(|repo| repo.name.as_str());
    let mut asked: BTreeMap<PathBuf, Answer> = BTreeMap::new();
    let mut look = |name: &str, path: Option<&Path>, is_default: bool| {
        let exists = path.is_some_and(Path::exists);
        let is_directory = path.is_some_and(Path::is_dir);
        let git = match path.filter(|_| is_directory) {
            Some(folder) => {
                let known = asked.entry(folder.to_owned());
                known.or_insert_with(|| ask(folder, cancel)).clone()
            }
            None => Answer::NoWorkTree,
        };
        let fault = match (path, &git) {
            (None, _) => Some(("missing_path", "it has no path".to_owned())),
            (Some(path), _) if !exists => {
                let message = format!("there is nothing at {}", path.display());
                Some(("path_not_found", message))
            }
            (Some(path), _) if !is_directory => Some((
                "not_a_directory",
                format!("{} is no folder", path.display()),
            )),
            (Some(_), Answer::NoGit) => {
                Some(("git_unavailable", "there is no git on PATH".to_owned()))
            }
            (Some(path), Answer::Silence) => {
                let message = format!("git gives no answer in {}", path.display());
                Some(("git_unavailable", message))
            }
            (Some(path), Answer::NoWorkTree) => {
                let message = format!("{} is not in a git repository", path.display());
                Some(("not_git_repo", message))
            }
            (Some(path), Answer::WorkTree(Some(hindrance))) => {
                let message = format!("{}: {hindrance}", path.display());
                Some((hindrance.kind(), message))
            }
            (Some(_), Answer::WorkTree(None)) => None,
        };
        let errors = fault.map(|(kind, message)| ReadinessError {
            scope: "repo",
            name: name.to_owned(),
            path: path.map(Path::to_owned),
            kind,
            message: format!("repo {name}: {message}"),
        });
        RepoReport {
            name: name.to_owned(),
            path: path.map(Path::to_owned),
            default: is_default,
            exists,
            is_directory,
            is_git: matches!(git, Answer::WorkTree(_)),
            is_ready: errors.is_none(),
            errors: errors.into_iter().collect(),
        }
    };
    if packet.repos.is_empty() {
        return vec![look("default", Some(&packet.root), true)];
    }
    let repos = packet.repos.iter();
    repos
        .map(|repo| {
            let is_default = default == Some(repo.name.as_str());
            look(&repo.name, repo.path.as_deref(), is_default)
        })
        .collect()
}

/// What git says of a folder.
#[derive(Clone)]
enum Answer {
    /// It is in a work tree, which may not be fit to be committed to.
    WorkTree(Option<Hindrance>),
    NoWorkTree,
    NoGit,
    /// It does not end.
    Silence,
}

fn ask(folder: &Path, cancel: &CancelToken) -> Answer {
    let git = Git::new(folder, cancel);
    let answer = git.line(&["rev-parse", "--is-inside-work-tree", "--absolute-git-dir"]);
    match answer.as_deref().map(|lines| lines.split_once('\n')) {
        Ok(Some(("true", git_folder))) => {
            let git_folder = Path::new(git_folder);
            let hindrance =
                Hindrance::lock(git_folder, cancel).or_else(|| Hindrance::under_way(git_folder));
            match hindrance {
                Some(hindrance) => Answer::WorkTree(Some(hindrance)),
                None => match git.unmerged() {
                    Err(GitError::TimedOut(_)) => Answer::Silence,
                    paths => {
                        let unmerged = Hindrance::unmerged(paths.unwrap_or_default());
                        Answer::WorkTree(unmerged.or_else(|| nameless(git)))
                    }
                },
            }
        }
        Err(GitError::Missing) => Answer::NoGit,
        Err(GitError::TimedOut(_)) => Answer::Silence,
        Ok(_) | Err(_) => Answer::NoWorkTree,
    }
}

/// That git refuses to commit for want of a name, as it will after a session.
fn nameless(git: Git<'_>) -> Option<Hindrance> {
    let asked = ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"].map(|who| git.line(&["var", who]));
    let is_refused =
        |answer: &Result<String, GitError>| matches!(answer, Err(GitError::Failed { .. }));
    asked.iter().any(is_refused).then_some(Hindrance::Nameless)
}
