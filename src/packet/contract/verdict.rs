//! What one check says, before it is an item of a report.

use std::path::Path;

use serde_json::{Map, Value};

use super::pattern::BadPattern;
use super::report::{Fault, Item, Kind, bounded};

/// The most entries of a list in an item (spec P44).
pub(super) const LIST_CAP: usize = 1000;

/// What one check says.
#[derive(Clone, Debug)]
pub(super) struct Verdict {
    repo: Option<String>,
    pass: bool,
    fault: Option<Fault>,
    details: String,
    fields: Map<String, Value>,
}

impl Verdict {
    /// The work holds, or does not.
    pub(super) fn new(pass: bool, details: impl Into<String>) -> Self {
        Self {
            repo: None,
            pass,
            fault: None,
            details: details.into(),
            fields: Map::new(),
        }
    }

    /// The work holds.
    pub(super) fn pass(details: impl Into<String>) -> Self {
        Self::new(true, details)
    }

    /// It does not.
    pub(super) fn fail(details: impl Into<String>) -> Self {
        Self::new(false, details)
    }

    /// It holds where there are no problems; else they are the details.
    pub(super) fn of_problems(problems: &[String], ok: impl Into<String>) -> Self {
        match problems.is_empty() {
            true => Self::pass(ok),
            false => Self::fail(problems.join("; ")),
        }
    }

    /// The check could not run.
    pub(super) fn fault(details: impl Into<String>) -> Self {
        Self::fail(details).because(Fault::VerifierFault)
    }

    /// An entry names a repo that there is not (spec P42).
    pub(super) fn missing_repo(name: &str) -> Self {
        Self::fault(format!("missing_repo: {name}"))
    }

    /// The same, but as a check that says nothing about the work.
    pub(super) fn because(mut self, fault: Fault) -> Self {
        self.pass = false;
        self.fault = Some(fault);
        self
    }

    /// The same, of a repo.
    pub(super) fn of(mut self, repo: Option<String>) -> Self {
        self.repo = repo;
        self
    }

    /// The same, with a field more.
    pub(super) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(field.to_owned(), value.into());
        self
    }

    /// The same, with a list more, of which the first entries are kept.
    pub(super) fn with_list(self, field: &str, mut values: Vec<impl Into<Value>>) -> Self {
        values.truncate(LIST_CAP);
        self.with(field, values.into_iter().map(Into::into).collect::<Value>())
    }

    /// The same, with a path more.
    pub(super) fn with_path(self, field: &str, path: &Path) -> Self {
        self.with(field, path.to_string_lossy())
    }

    /// The item.
    pub(super) fn item(self, kind: Kind) -> Item {
        Item {
            kind,
            repo: self.repo,
            pass: self.pass,
            details: bounded(self.details),
            fault: self.fault,
            fields: self.fields,
        }
    }
}

impl From<BadPattern> for Verdict {
    fn from(error: BadPattern) -> Self {
        Self::fault(error.to_string())
    }
}
