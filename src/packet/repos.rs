//! The repositories of a packet (spec P9).

use std::path::{Path, PathBuf};

use serde_yaml::{Mapping, Value};

use super::error::PacketError;
use super::keys::{Keys, scalar};
use super::name::{PACKET, is_name};
use super::resolve::resolve;

/// A repository of the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repo {
    /// Its name.
    pub name: String,
    /// Its folder, resolved (spec P3); `None` where the manifest gives none.
    pub path: Option<PathBuf>,
    /// The path as written.
    pub written: Option<String>,
    /// Whether it is marked `default: true`.
    pub is_marked_default: bool,
}

/// The repositories of a packet, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repos {
    sorted: Vec<Repo>,
}

impl Repos {
    /// Reads `repos:`, a map from names or a list, with paths relative to `root`.
    ///
    /// # Errors
    /// A name that no repo can have, and values of a wrong type.
    pub(super) fn read(keys: Keys<'_>, root: &Path) -> Result<Self, PacketError> {
        let Some(value) = keys.get("repos") else {
            return Ok(Self::default());
        };
        let invalid = || keys.invalid("repos", value);
        let mut sorted = Vec::new();
        match value {
            Value::Mapping(map) => {
                for (name, entry) in map {
                    let name = name.as_str().ok_or_else(invalid)?;
                    sorted.push(repo(name, entry, root).ok_or_else(invalid)?);
                }
            }
            Value::Sequence(entries) => {
                for entry in entries {
                    let name = entry.get("name").and_then(scalar).ok_or_else(invalid)?;
                    sorted.push(repo(&name, entry, root).ok_or_else(invalid)?);
                }
            }
            _ => return Err(invalid()),
        }
        sorted.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some(bad) = sorted.iter().find(|repo| !may_be_called(&repo.name)) {
            return Err(PacketError::RepoName(bad.name.clone()));
        }
        let twins = sorted.windows(2).find(|pair| match pair {
            [a, b] => a.name == b.name,
            _ => false,
        });
        match twins {
            Some(_) => Err(invalid()),
            None => Ok(Self { sorted }),
        }
    }

    /// All repos, sorted by name.
    pub fn iter(&self) -> std::slice::Iter<'_, Repo> {
        self.sorted.iter()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// The repo of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Repo> {
        self.sorted.iter().find(|repo| repo.name == name)
    }

    /// The first that is marked as the default, else the first.
    #[must_use]
    pub fn default_repo(&self) -> Option<&Repo> {
        let marked = self.sorted.iter().find(|repo| repo.is_marked_default);
        marked.or_else(|| self.sorted.first())
    }

    /// The names, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.sorted.iter().map(|repo| repo.name.as_str()).collect()
    }
}

/// Whether a repo may have this name (spec P9).
pub(super) fn may_be_called(name: &str) -> bool {
    name != PACKET && is_name(name)
}

/// A repo as its entry has it; a text is its path. `None` for an entry of a wrong type.
fn repo(name: &str, entry: &Value, root: &Path) -> Option<Repo> {
    let empty = Mapping::new();
    let map = match entry {
        Value::Null | Value::String(_) => &empty,
        Value::Mapping(map) => map,
        _ => return None,
    };
    let written = match (entry, map.get("path")) {
        (Value::String(path), _) => Some(path.clone()),
        (_, None | Some(Value::Null)) => None,
        (_, Some(path)) => Some(scalar(path)?),
    };
    let written = written.filter(|path| !path.is_empty());
    Some(Repo {
        name: name.to_owned(),
        path: written.as_ref().map(|path| resolve(root, path)),
        written,
        is_marked_default: map.get("default") == Some(&Value::Bool(true)),
    })
}
