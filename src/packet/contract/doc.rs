//! `doc`: a written document (spec P49 to P51).

use serde_json::json;
use serde_yaml::Value;

use super::entry::{Entry, Place, list};
use super::read::{self, Unreadable};
use super::verdict::Verdict;
use crate::packet::keys::scalar;

/// The markers of unfinished writing that no document may hold unless its entry says otherwise.
const MARKERS: [&str; 7] = [
    "TODO",
    "TBD",
    "FIXME",
    "XXX",
    "...placeholder",
    "<fill in>",
    "LOREM",
];

/// A marker and the 1-based line it first opens.
struct Found<'a> {
    marker: &'a str,
    line: usize,
}

/// The document is there, is not blank, has its sections and no markers.
pub(super) fn doc(entry: Entry<'_>, place: &Place) -> Verdict {
    let least = least_lines(entry);
    let sections = entry.texts(&["requires_sections"]);
    let bytes = match read::read(&place.resolved) {
        Ok(bytes) => bytes,
        Err(error) => return unread(&error, place, least, &sections),
    };
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
    let missing: Vec<&str> = sections.iter().map(String::as_str).collect();
    let missing: Vec<&str> = missing
        .into_iter()
        .filter(|one| !text.contains(one))
        .collect();
    let markers = forbidden(entry);
    let found = find(&text, &markers);

    let mut problems = Vec::new();
    if lines == 0 {
        problems.push("document is blank".to_owned());
    }
    if !missing.is_empty() {
        problems.push(format!("missing sections: {}", missing.join(", ")));
    }
    if !found.is_empty() {
        let shown = |found: &Found<'_>| format!("{} (line {})", found.marker, found.line);
        let shown: Vec<String> = found.iter().map(shown).collect();
        problems.push(format!("forbidden markers: {}", shown.join(", ")));
    }
    let found = found.iter();
    let found = found.map(|Found { marker, line }| json!({ "marker": marker, "line": line }));
    Verdict::of_problems(&problems, format!("ok: {lines} non-blank lines"))
        .with("min_lines", least)
        .with("lines", lines)
        .with("below_recommendation?", (lines as u64) < least)
        .with("missing_sections", missing)
        .with("markers", found.collect::<Vec<_>>())
}

/// The verdict of a document that cannot be read.
fn unread(error: &Unreadable, place: &Place, least: u64, sections: &[String]) -> Verdict {
    let path = place.resolved.display();
    let verdict = error.verdict(place).unwrap_or_else(|| {
        Verdict::fail(match error {
            Unreadable::Absent => format!("missing file: {path}"),
            error => format!("unreadable file ({}): {path}", error.cause()),
        })
    });
    verdict
        .with("min_lines", least)
        .with("lines", 0)
        .with("below_recommendation?", least > 0)
        .with("missing_sections", sections)
        .with("markers", json!([]))
}

/// How many lines that are not blank the document should have.
fn least_lines(entry: Entry<'_>) -> u64 {
    let given = entry.get(&["min_lines"]);
    let natural = given.and_then(|value| match value {
        Value::String(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        value => value.as_u64(),
    });
    natural.unwrap_or(1)
}

/// The markers that the document may not hold.
fn forbidden(entry: Entry<'_>) -> Vec<String> {
    match entry.get(&["forbids_markers"]) {
        None => MARKERS.map(str::to_owned).to_vec(),
        given => list(given).iter().filter_map(scalar).collect(),
    }
}

/// The markers that open a line, each with the first line it opens.
fn find<'a>(text: &str, markers: &'a [String]) -> Vec<Found<'a>> {
    let first = |marker: &'a String| {
        let at = text.lines().position(|line| opens(line, marker))?;
        Some(Found {
            marker,
            line: at + 1,
        })
    };
    let markers = markers.iter().filter(|marker| !marker.is_empty());
    markers.filter_map(first).collect()
}

/// Whether a line begins with a marker, a bullet or the signs of a heading aside.
fn opens(line: &str, marker: &str) -> bool {
    let line = line.trim_start();
    starts(line, marker) || after_lead(line).is_some_and(|rest| starts(rest, marker))
}

/// What follows a bullet or the signs of a heading, and the spaces after it.
fn after_lead(line: &str) -> Option<&str> {
    let signs = line.len() - line.trim_start_matches('#').len();
    let rest = match signs {
        0 => line.strip_prefix(['-', '*', '+'])?,
        1..=6 => line.get(signs..)?,
        _ => return None,
    };
    let inner = rest.trim_start();
    (inner.len() < rest.len()).then_some(inner)
}

/// Whether a text starts with a marker that ends there.
fn starts(text: &str, marker: &str) -> bool {
    let Some(rest) = text.strip_prefix(marker) else {
        return false;
    };
    let Some(next) = rest.chars().next() else {
        return true;
    };
    let is_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let ends_as_word = marker.chars().next_back().is_some_and(is_word);
    next.is_whitespace() || is_word(next) != ends_as_word
}
