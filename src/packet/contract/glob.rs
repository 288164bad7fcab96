//! `glob` (spec P54).

use std::fs;

use super::Interrupted;
use super::entry::{Entry, Place};
use super::verdict::Verdict;
use super::wildcard::{Match, Wildcard};
use crate::harness::CancelToken;

/// As many files and folders match as the entry wants.
pub(super) fn glob(
    entry: Entry<'_>,
    place: &Place,
    cancel: &CancelToken,
) -> Result<Verdict, Interrupted> {
    let wildcard = match Wildcard::new(&place.path) {
        Ok(wildcard) => wildcard,
        Err(error) => return Ok(error.into()),
    };
    let found = wildcard.find(&place.root.folder, cancel)?;
    let empty = found.iter().filter(|found| is_empty(found)).count();
    let count = found.len() as u64;
    let least = entry.natural(&["min_matches"]).unwrap_or(1);
    let most = entry.natural(&["max_matches"]);
    let is_enough = count >= least && most.is_none_or(|most| count <= most);
    let pass = is_enough && (empty == 0 || !entry.is_true("non_empty"));
    let details = format!("{count} match(es); {empty} empty/non-file");
    let paths = found.into_iter().map(|found| found.path).collect();
    Ok(Verdict::new(pass, details).with_list("matches", paths))
}

/// Whether a match is no regular file, or one without a byte.
fn is_empty(found: &Match) -> bool {
    fs::metadata(&found.file).map_or(true, |known| !known.is_file() || known.len() == 0)
}
