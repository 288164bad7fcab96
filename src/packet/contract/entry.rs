//! Reads an entry of a clause and finds where it looks (spec P41, P42).

use std::path::PathBuf;

use serde_yaml::Value;

use super::scope::Scope;
use super::verdict::Verdict;
use crate::packet::keys::scalar;
use crate::packet::resolve::resolve;

/// An entry of a clause: a text, or a map of keys.
#[derive(Clone, Copy, Debug)]
pub(in crate::packet) struct Entry<'a>(pub(in crate::packet) &'a Value);

/// The folder that an entry looks in.
#[derive(Clone, Debug)]
pub(super) struct Root {
    /// The repo that its items name.
    pub(super) repo: Option<String>,
    /// The folder.
    pub(super) folder: PathBuf,
}

/// What an entry gives that looks nowhere: the repo of its item, and why.
pub(super) type Misplaced = (Option<String>, Verdict);

/// A path that an entry names.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// What it is relative to.
    pub(super) root: Root,
    /// The path as written.
    pub(super) path: String,
    /// Where it leads (spec P3).
    pub(super) resolved: PathBuf,
}

impl<'a> Entry<'a> {
    /// The value of the first of these keys that is there and not null.
    pub(in crate::packet) fn get(self, keys: &[&str]) -> Option<&'a Value> {
        let values = keys.iter().filter_map(|key| self.0.as_mapping()?.get(*key));
        values.into_iter().find(|value| !value.is_null())
    }

    /// The text of the first of these keys.
    pub(in crate::packet) fn text(self, keys: &[&str]) -> Option<String> {
        scalar(self.get(keys)?)
    }

    /// The texts of the first of these keys: of a list, or of one value.
    pub(in crate::packet) fn texts(self, keys: &[&str]) -> Vec<String> {
        list(self.get(keys)).iter().filter_map(scalar).collect()
    }

    /// Whether a key is exactly `true`.
    pub(in crate::packet) fn is_true(self, key: &str) -> bool {
        self.get(&[key]).and_then(Value::as_bool) == Some(true)
    }

    /// A non-negative integer.
    pub(in crate::packet) fn natural(self, keys: &[&str]) -> Option<u64> {
        self.get(keys)?.as_u64()
    }

    /// The entry itself where it is text, and not empty.
    pub(in crate::packet) fn whole(self) -> Option<String> {
        match self.0 {
            Value::Mapping(_) => None,
            value => scalar(value).filter(|text| !text.is_empty()),
        }
    }

    /// The root of an entry by its `repo` key.
    pub(super) fn root(self, scope: &Scope) -> Result<Root, Misplaced> {
        match self.text(&["repo"]).filter(|name| !name.is_empty()) {
            Some(name) => named(scope, name),
            None => Ok(own(scope)),
        }
    }

    /// The path that the entry names, with its root; else why it has none.
    pub(super) fn place(self, scope: &Scope) -> Result<Place, Misplaced> {
        let (root, path) = match self.whole() {
            Some(text) => match text.split_once(':') {
                Some((name, path)) if scope.knows(name) => {
                    (named(scope, name.to_owned())?, path.to_owned())
                }
                _ => (own(scope), text),
            },
            None => (self.root(scope)?, self.text(&["path"]).unwrap_or_default()),
        };
        if path.is_empty() {
            return Err((root.repo, Verdict::fault("the entry names no path")));
        }
        let resolved = resolve(&root.folder, &path);
        Ok(Place {
            root,
            path,
            resolved,
        })
    }
}

/// The root of a repo.
pub(super) fn named(scope: &Scope, name: String) -> Result<Root, Misplaced> {
    match scope.repo(&name) {
        Some(folder) => Ok(Root {
            folder: folder.to_owned(),
            repo: Some(name),
        }),
        None => {
            let verdict = Verdict::missing_repo(&name);
            Err((Some(name), verdict))
        }
    }
}

/// The root of an entry that names none.
pub(super) fn own(scope: &Scope) -> Root {
    Root {
        repo: scope.own_repo().map(str::to_owned),
        folder: scope.folder.clone(),
    }
}

/// The values of a list, or the one value that is no list.
pub(in crate::packet) fn list(value: Option<&Value>) -> &[Value] {
    match value {
        None | Some(Value::Null) => &[],
        Some(Value::Sequence(items)) => items,
        Some(value) => std::slice::from_ref(value),
    }
}
