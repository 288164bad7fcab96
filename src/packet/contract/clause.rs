//! The clauses of a contract (spec P38).

use serde_yaml::{Mapping, Value};

use super::entry::Entry;
use super::report::Kind;

/// A clause: a key of `verify:` that is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clause {
    /// `files_exist`
    FilesExist,
    /// `files_absent`
    FilesAbsent,
    /// `contains`
    Contains,
    /// `matches`
    Matches,
    /// `doc`
    Doc,
    /// `yaml`
    Yaml,
    /// `json`
    Json,
    /// `glob`
    Glob,
    /// `source_absent`
    SourceAbsent,
    /// `commands`
    Commands,
    /// `changed_paths_only`
    ChangedPathsOnly,
    /// `repos_clean`
    ReposClean,
}

impl Clause {
    /// All clauses, in the order of evaluation.
    pub const ALL: [Self; 12] = [
        Self::FilesExist,
        Self::FilesAbsent,
        Self::Contains,
        Self::Matches,
        Self::Doc,
        Self::Yaml,
        Self::Json,
        Self::Glob,
        Self::SourceAbsent,
        Self::Commands,
        Self::ChangedPathsOnly,
        Self::ReposClean,
    ];

    /// Its key in `verify:`.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::FilesExist => "files_exist",
            Self::FilesAbsent => "files_absent",
            Self::Contains => "contains",
            Self::Matches => "matches",
            Self::Doc => "doc",
            Self::Yaml => "yaml",
            Self::Json => "json",
            Self::Glob => "glob",
            Self::SourceAbsent => "source_absent",
            Self::Commands => "commands",
            Self::ChangedPathsOnly => "changed_paths_only",
            Self::ReposClean => "repos_clean",
        }
    }

    /// The keys that an entry of it may have, all spellings of them.
    pub(in crate::packet) fn entry_keys(self) -> &'static [&'static str] {
        match self {
            Self::FilesExist | Self::FilesAbsent | Self::ChangedPathsOnly => &["path", "repo"],
            Self::Contains => &["path", "repo", "text", "contains"],
            Self::Matches => &["path", "repo", "pattern", "matches"],
            Self::Doc => &[
                "path",
                "repo",
                "min_lines",
                "requires_sections",
                "forbids_markers",
            ],
            Self::Yaml | Self::Json => &[
                "path",
                "repo",
                "root",
                "required_paths",
                "non_empty_paths",
                "array_items_require",
                "array_none_match",
            ],
            Self::Glob => &["path", "repo", "min_matches", "max_matches", "non_empty"],
            Self::SourceAbsent => &["path", "repo", "patterns", "pattern", "extensions", "prune"],
            Self::Commands => &[
                "exec",
                "program",
                "args",
                "argv",
                "run",
                "command",
                "repo",
                "cwd",
                "env",
                "timeout_ms",
                "fault_exit_codes",
                "stdout_contains",
                "stdout_matches",
                "regenerates",
            ],
            Self::ReposClean => &[
                "repo",
                "pushed",
                "network",
                "remote_timeout_ms",
                "fetch_timeout_ms",
            ],
        }
    }

    /// The kind of its items.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self {
            Self::FilesExist => Kind::FileExists,
            Self::FilesAbsent => Kind::FileAbsent,
            Self::Contains => Kind::Contains,
            Self::Matches => Kind::Matches,
            Self::Doc => Kind::Doc,
            Self::Yaml => Kind::Yaml,
            Self::Json => Kind::Json,
            Self::Glob => Kind::Glob,
            Self::SourceAbsent => Kind::SourceAbsent,
            Self::Commands => Kind::Command,
            Self::ChangedPathsOnly => Kind::ChangedPathsOnly,
            Self::ReposClean => Kind::ReposClean,
        }
    }

    /// Its entries in a contract: those of a list, or the one value that is no list; null is none.
    #[must_use]
    pub fn entries(self, verify: &Mapping) -> &[Value] {
        match verify.get(self.key()) {
            None | Some(Value::Null) => &[],
            Some(Value::Sequence(entries)) => entries,
            Some(entry) => std::slice::from_ref(entry),
        }
    }
}

/// An entry of a contract and where it stands in it.
#[derive(Clone, Copy, Debug)]
pub(in crate::packet) struct Placed<'a> {
    /// Its clause.
    pub clause: Clause,
    /// Its 1-based place among the clause's entries.
    pub number: usize,
    /// What it says.
    pub entry: Entry<'a>,
}

/// The entries of a contract, in the order of evaluation.
pub(in crate::packet) fn placed(verify: Option<&Mapping>) -> Vec<Placed<'_>> {
    let clauses = verify.into_iter().flat_map(|verify| {
        let clauses = Clause::ALL.into_iter();
        clauses.map(move |clause| (clause, clause.entries(verify)))
    });
    let entries = clauses.flat_map(|(clause, entries)| {
        let numbered = entries.iter().enumerate();
        numbered.map(move |(at, value)| Placed {
            clause,
            number: at + 1,
            entry: Entry(value),
        })
    });
    entries.collect()
}
