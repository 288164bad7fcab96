//! The contract of a prompt, checked: it alone decides whether the prompt is done (spec part 09,
//! sections 9 to 12).
//!
//! [`evaluate`] checks every entry of a prompt's `verify:` against the files, the repositories and
//! the commands it names, and gives a [`Report`]. Nothing is changed but what its commands change.

mod changed_paths;
mod clause;
mod command;
mod contains;
pub(super) mod data;
mod doc;
pub(super) mod entry;
mod files;
mod glob;
mod inside;
pub(super) mod pattern;
mod preflight;
mod read;
mod report;
mod repos_clean;
mod repository;
mod scope;
mod source_absent;
mod verdict;
mod watched;
pub(super) mod wildcard;

pub use clause::{Clause, unknown_clauses};
pub(super) use clause::{Placed, placed};
pub use preflight::{Preflight, Worktrees};
pub use report::{Fault, Item, Kind, Report};
pub use scope::Scope;
pub use watched::watched_paths;

use std::fmt;

use serde_yaml::{Mapping, Value};

use crate::harness::CancelToken;
use data::Language;
use entry::{Entry, Place};
use verdict::Verdict;

/// Checks a prompt's contract, its `verify:`. Every entry of every clause is checked, whatever the
/// others say (spec P38).
///
/// # Errors
/// [`Interrupted`] once `cancel` is set off: a command that runs is killed with all that it started,
/// and what it was to make anew is as before.
pub fn evaluate(
    scope: &Scope,
    prompt_id: &str,
    verify: Option<&Mapping>,
    cancel: &CancelToken,
) -> Result<Report, Interrupted> {
    let mut items = Vec::new();
    for clause in Clause::ALL {
        let entries = verify.map_or([].as_slice(), |verify| clause.entries(verify));
        for verdict in check(clause, entries, scope, cancel)? {
            items.push(verdict.item(clause.kind()));
        }
    }
    Ok(Report {
        prompt_id: prompt_id.to_owned(),
        items,
    })
}

/// Puts back the outputs that a check of this contract had set aside when its runner was killed
/// (spec P123). That runner is gone, and so is what it started.
pub fn roll_back(scope: &Scope, verify: Option<&Mapping>) {
    let entries = verify.map_or([].as_slice(), |verify| Clause::Commands.entries(verify));
    for entry in entries {
        command::roll_back(Entry(entry), scope);
    }
}

/// What became of an entry.
type Checked = Result<Verdict, Interrupted>;

/// The verdicts on the entries of a clause.
fn check(
    clause: Clause,
    entries: &[Value],
    scope: &Scope,
    cancel: &CancelToken,
) -> Result<Vec<Verdict>, Interrupted> {
    let each = |judge: &dyn Fn(Entry<'_>) -> Checked| -> Result<Vec<Verdict>, Interrupted> {
        let entries = entries.iter().map(|entry| match cancel.is_cancelled() {
            true => Err(Interrupted),
            false => judge(Entry(entry)),
        });
        entries.collect()
    };
    let placed =
        |judge: &dyn Fn(Entry<'_>, &Place) -> Checked| each(&|entry| at_place(entry, scope, judge));
    match clause {
        Clause::FilesExist => placed(&|_, place| Ok(files::exists(place))),
        Clause::FilesAbsent => placed(&|_, place| Ok(files::absent(place))),
        Clause::Contains => placed(&|entry, place| contains::contains(entry, place, cancel)),
        Clause::Matches => placed(&|entry, place| Ok(contains::matches(entry, place))),
        Clause::Doc => placed(&|entry, place| Ok(doc::doc(entry, place))),
        Clause::Yaml => placed(&|entry, place| Ok(data::data(Language::Yaml, entry, place))),
        Clause::Json => placed(&|entry, place| Ok(data::data(Language::Json, entry, place))),
        Clause::Glob => placed(&|entry, place| glob::glob(entry, place, cancel)),
        Clause::SourceAbsent => {
            placed(&|entry, place| source_absent::source_absent(entry, place, cancel))
        }
        Clause::Commands => each(&|entry| command::command(entry, scope, cancel)),
        Clause::ChangedPathsOnly => changed_paths::changed_paths_only(entries, scope, cancel),
        Clause::ReposClean => each(&|entry| repos_clean::repos_clean(entry, scope, cancel)),
    }
}

/// The verdict on an entry that names a path.
fn at_place(
    entry: Entry<'_>,
    scope: &Scope,
    judge: &dyn Fn(Entry<'_>, &Place) -> Checked,
) -> Checked {
    match entry.place(scope) {
        Ok(place) => {
            let verdict = judge(entry, &place)?;
            Ok(verdict
                .with("path", place.path)
                .with_path("resolved_path", &place.resolved)
                .of(place.root.repo))
        }
        Err((repo, verdict)) => {
            let path = entry.whole().or_else(|| entry.text(&["path"]));
            Ok(verdict.with("path", path).of(repo))
        }
    }
}

/// A check was interrupted: it has no report, and the commands it ran are gone (spec P121, P122).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the check of the contract was interrupted")
    }
}

impl std::error::Error for Interrupted {}
