//! The clauses of a contract and their entries, as far as they can be told without evaluating them
//! (spec P38).

use serde_yaml::{Mapping, Value};

use super::keys::items;

/// The clauses, in evaluation order.
pub const CLAUSES: &[&str] = &[
    "files_exist",
    "files_absent",
    "contains",
    "matches",
    "doc",
    "yaml",
    "json",
    "glob",
    "source_absent",
    "commands",
    "changed_paths_only",
    "repos_clean",
];

/// An entry of a clause.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    /// The clause.
    pub clause: &'static str,
    /// Its 1-based place among the clause's entries.
    pub number: usize,
    /// What it says.
    pub value: &'a Value,
}

/// The entries of a contract, in evaluation order.
pub(super) fn entries(contract: Option<&Mapping>) -> Vec<Entry<'_>> {
    let clauses = contract.into_iter().flat_map(|contract| {
        let known = CLAUSES.iter();
        known.filter_map(|clause| Some((*clause, contract.get(*clause)?)))
    });
    let entries = clauses.flat_map(|(clause, value)| {
        let numbered = items(value).iter().enumerate();
        numbered.map(move |(at, value)| Entry {
            clause,
            number: at + 1,
            value,
        })
    });
    entries.collect()
}

impl<'a> Entry<'a> {
    /// A key of an entry that is a map, under its name or its alias.
    pub(super) fn get(self, names: &[&str]) -> Option<&'a Value> {
        let map = self.value.as_mapping()?;
        let mut values = names.iter().filter_map(|name| map.get(*name));
        values.find(|value| !value.is_null())
    }

    /// A key that is text which is not empty.
    pub(super) fn text(self, names: &[&str]) -> Option<&'a str> {
        self.get(names)?.as_str().filter(|text| !text.is_empty())
    }

    /// The repo that the entry names.
    pub(super) fn repo(self) -> Option<&'a str> {
        match (self.clause, self.value) {
            ("repos_clean", Value::String(name)) => Some(name),
            _ => self.text(&["repo"]),
        }
    }
}
