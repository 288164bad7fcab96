//! The files that a contract speaks of by name (spec P87).

use std::path::PathBuf;

use serde_yaml::Mapping;

use super::clause::Clause;
use super::entry::Entry;
use super::scope::Scope;

/// Where the entries of `files_exist`, `contains` and `matches` lead; those that name no path are
/// left out.
pub fn watched_paths(scope: &Scope, verify: Option<&Mapping>) -> Vec<PathBuf> {
    let Some(verify) = verify else {
        return Vec::new();
    };
    let clauses = [Clause::FilesExist, Clause::Contains, Clause::Matches];
    let entries = clauses
        .into_iter()
        .flat_map(|clause| clause.entries(verify));
    let places = entries.filter_map(|entry| Entry(entry).place(scope).ok());
    places.map(|place| place.resolved).collect()
}
