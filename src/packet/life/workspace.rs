//! Whether the attempts of a prompt left work behind (spec P87).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::harness::CancelToken;
use crate::packet::contract::Report;
use crate::packet::git::Git;
use crate::packet::head::head;

/// The repositories and the named files of a prompt, as they were before its first attempt.
#[derive(Debug)]
pub(super) struct Baseline {
    heads: Vec<(PathBuf, Option<String>)>,
    files: Vec<(PathBuf, Option<Stamp>)>,
}

/// What changes with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
}

impl Baseline {
    /// Looks at repositories and files.
    pub(super) fn take(repos: Vec<PathBuf>, files: Vec<PathBuf>, cancel: &CancelToken) -> Self {
        let heads = repos.into_iter();
        let files = files.into_iter();
        Self {
            heads: heads
                .map(|path| (path.clone(), head(&path, cancel)))
                .collect(),
            files: files.map(|path| (path.clone(), stamp(&path))).collect(),
        }
    }

    /// Whether a repository has changes or another commit, or a named file is there and not as it
    /// was, or the report saw changed paths.
    pub(super) fn has_progress(&self, report: &Report, cancel: &CancelToken) -> bool {
        let mut items = report.items.iter();
        if items.any(|item| item.changed_paths().next().is_some()) {
            return true;
        }
        let mut files = self.files.iter();
        if files.any(|(path, before)| stamp(path).is_some_and(|now| Some(now) != *before)) {
            return true;
        }
        self.heads.iter().any(|(path, before)| {
            let status = Git::new(path, cancel).status();
            let is_dirty = status.is_ok_and(|status| !status.changes.is_empty());
            is_dirty || head(path, cancel) != *before
        })
    }
}

/// A file's stamp; `None` where there is nothing.
fn stamp(path: &Path) -> Option<Stamp> {
    let known = fs::metadata(path).ok()?;
    Some(Stamp {
        size: known.len(),
        modified: known.modified().ok(),
    })
}
