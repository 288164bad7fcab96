//! Where the entries of a contract look (spec P41, P42).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::packet::name::PACKET;
use crate::packet::{Packet, Prompt};

/// The folders that a prompt's contract may name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// `ROOT`: the packet's folder, canonical.
    pub root: PathBuf,
    /// The repos of the manifest and their folders, resolved (spec P3); `None` for one without a
    /// path.
    pub repos: BTreeMap<String, Option<PathBuf>>,
    /// The default repo (spec P9), if there are repos.
    pub default_repo: Option<String>,
    /// `SCOPE`: the prompt's working folder, resolved (spec P41).
    pub folder: PathBuf,
}

impl Scope {
    /// The scope of a prompt with these targets: its working folder is that of the first target
    /// that is a repo, else that of the default repo, else the packet's.
    #[must_use]
    pub fn new<T: AsRef<str>>(
        root: PathBuf,
        repos: BTreeMap<String, Option<PathBuf>>,
        default_repo: Option<String>,
        targets: &[T],
    ) -> Self {
        let path = |name: &str| repos.get(name)?.clone();
        let target = targets.iter().find_map(|target| path(target.as_ref()));
        let folder = target
            .or_else(|| path(default_repo.as_deref()?))
            .unwrap_or_else(|| root.clone());
        Self {
            root,
            repos,
            default_repo,
            folder,
        }
    }

    /// The scope of a prompt of a packet.
    #[must_use]
    pub fn of(packet: &Packet, prompt: &Prompt) -> Self {
        let repos = packet.repos.iter();
        let default = packet.repos.default_repo();
        Self::new(
            packet.root.clone(),
            repos
                .map(|repo| (repo.name.clone(), repo.path.clone()))
                .collect(),
            default.map(|repo| repo.name.clone()),
            &prompt.targets,
        )
    }

    /// The folder of a repo, or of `packet`; `None` for one that the manifest does not have, or
    /// has without a path.
    #[must_use]
    pub fn repo(&self, name: &str) -> Option<&Path> {
        match name {
            PACKET => Some(&self.root),
            _ => self.repos.get(name)?.as_deref(),
        }
    }

    /// Whether a name is that of a repo of the manifest, or `packet`.
    pub(super) fn knows(&self, name: &str) -> bool {
        name == PACKET || self.repos.contains_key(name)
    }

    /// The repo, never `packet`, whose folder is the working folder or holds it: the innermost.
    #[must_use]
    pub fn own_repo(&self) -> Option<&str> {
        let mut found: Option<(&str, usize)> = None;
        for (name, path) in &self.repos {
            let Some(path) = path.as_ref().filter(|path| self.folder.starts_with(path)) else {
                continue;
            };
            let depth = path.components().count();
            if found.is_none_or(|(_, deepest)| depth > deepest) {
                found = Some((name, depth));
            }
        }
        found.map(|(name, _)| name)
    }
}
