//! `files_exist` and `files_absent` (spec P46).

use std::fs;
use std::path::Path;

use super::entry::Place;
use super::read::Unreadable;
use super::verdict::Verdict;

/// Something is there, of whatever type. A link is followed.
pub(super) fn exists(place: &Place) -> Verdict {
    match is_there(&place.resolved) {
        Ok(true) => Verdict::pass("ok"),
        Ok(false) => Verdict::fail("missing"),
        Err(verdict) => verdict,
    }
}

/// Nothing is there.
pub(super) fn absent(place: &Place) -> Verdict {
    match is_there(&place.resolved) {
        Ok(true) => Verdict::fail("present"),
        Ok(false) => Verdict::pass("ok"),
        Err(verdict) => verdict,
    }
}

/// Whether there is something; neither is known of a path that cannot be looked at.
fn is_there(path: &Path) -> Result<bool, Verdict> {
    match fs::metadata(path).map_err(Unreadable::from) {
        Ok(_) => Ok(true),
        Err(Unreadable::Absent) => Ok(false),
        Err(error) => Err(Verdict::fail(format!("cannot tell: {}", error.cause()))),
    }
}
