//! `changed_paths_only`: nothing else is uncommitted (spec P56).

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde_yaml::Value;

use super::Interrupted;
use super::entry::{Entry, Root};
use super::repository;
use super::scope::Scope;
use super::verdict::Verdict;
use crate::harness::CancelToken;
use crate::packet::git::Git;

/// What the entries of one repo allow.
#[derive(Default)]
struct Allowed {
    folder: PathBuf,
    /// As written.
    written: Vec<String>,
    /// Single paths, from the repo's folder.
    paths: Vec<String>,
    /// Folders with everything below, from the repo's folder, with `/` at the end.
    folders: Vec<String>,
}

/// One verdict for each repo that the entries name, by name; entries that name none come first.
pub(super) fn changed_paths_only(
    entries: &[Value],
    scope: &Scope,
    cancel: &CancelToken,
) -> Result<Vec<Verdict>, Interrupted> {
    let mut repos: BTreeMap<Option<String>, Result<Allowed, Verdict>> = BTreeMap::new();
    for entry in entries {
        match Entry(entry).place(scope) {
            Ok(place) => {
                let Root { repo, folder } = place.root;
                let home = repo.as_deref().and_then(|name| scope.repo(name));
                let home = home.unwrap_or(&folder).to_owned();
                let allowed = repos.entry(repo).or_insert_with(|| {
                    Ok(Allowed {
                        folder: home,
                        ..Allowed::default()
                    })
                });
                if let Ok(allowed) = allowed {
                    allowed.add(&folder, place.path);
                }
            }
            // One entry that cannot be checked is enough for the repo's item.
            Err((repo, verdict)) => drop(repos.insert(repo, Err(verdict))),
        }
    }
    let verdicts = repos.into_iter().map(|(repo, allowed)| {
        let verdict = match allowed {
            Ok(allowed) => allowed.check(cancel)?,
            Err(verdict) => verdict,
        };
        Ok(verdict.of(repo))
    });
    verdicts.collect()
}

impl Allowed {
    /// Allows the path of an entry, which is relative to `from`.
    fn add(&mut self, from: &Path, path: String) {
        // A path that is not below the repo's folder allows nothing there.
        if let Some(below) = below(&self.folder, &from.join(&path)) {
            match path.ends_with('/') || below.is_empty() {
                true => self.folders.push(match below.as_str() {
                    "" => String::new(),
                    below => format!("{below}/"),
                }),
                false => self.paths.push(below),
            }
        }
        self.written.push(path);
    }

    fn allows(&self, path: &str) -> bool {
        self.paths.iter().any(|allowed| allowed == path)
            || self.folders.iter().any(|folder| path.starts_with(folder))
    }

    fn check(self, cancel: &CancelToken) -> Result<Verdict, Interrupted> {
        let (verdict, changed) = match Git::new(&self.folder, cancel).changed_paths() {
            Ok(changed) => {
                let other = changed.iter().filter(|path| !self.allows(path));
                let other: Vec<&str> = other.map(String::as_str).collect();
                let verdict = match other.is_empty() {
                    true => Verdict::pass("ok"),
                    false => Verdict::fail(format!("disallowed: {}", other.join(", "))),
                };
                (verdict, changed)
            }
            Err(error) => (repository::failed(error, |said| said)?, Vec::new()),
        };
        Ok(verdict
            .with_list("allowed_paths", self.written)
            .with_list("changed_paths", changed))
    }
}

/// A path below a folder, from there, without `.` and `..`; `None` for one that is not.
fn below(folder: &Path, path: &Path) -> Option<String> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            component => plain.push(component),
        }
    }
    let below = plain.strip_prefix(folder).ok()?;
    Some(below.to_string_lossy().into_owned())
}
