//! The rules a store path obeys (spec S14 to S17).

use super::{Rule, StoreFailure};

/// The longest path and the longest pattern, in bytes, each on its own (spec S9).
pub(super) const MAX_BYTES: usize = 1024;

/// Checks a path; the failure tells the first rule broken (spec S15, S17).
///
/// # Errors
///
/// `invalid_path` with the rule's tag.
pub fn check_path(path: &str) -> Result<(), StoreFailure> {
    match broken_rule(path) {
        None => Ok(()),
        Some(rule) => Err(StoreFailure::invalid_path(path, rule)),
    }
}

/// The first rule of spec S15 that `path` breaks.
pub fn broken_rule(path: &str) -> Option<Rule> {
    if path.is_empty() {
        Some(Rule::Empty)
    } else if path.len() > MAX_BYTES {
        Some(Rule::TooLong)
    } else if path.starts_with('/') {
        Some(Rule::Absolute)
    } else {
        forbidden_byte(path).or_else(|| path.split('/').find_map(broken_by_segment))
    }
}

/// The directories above a path, nearest first: of `a/b/c`, `a/b` and `a`.
pub fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(parent(path), |path| parent(path))
}

/// The rules on single bytes that paths and patterns share.
pub(super) fn forbidden_byte(text: &str) -> Option<Rule> {
    if text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
        Some(Rule::Control)
    } else if text.bytes().any(|byte| byte == b'\\') {
        Some(Rule::Backslash)
    } else {
        None
    }
}

fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(parent, _)| parent)
}

fn broken_by_segment(segment: &str) -> Option<Rule> {
    if segment.is_empty() {
        Some(Rule::EmptySegment)
    } else if segment == "." || segment == ".." {
        Some(Rule::Traversal)
    } else if segment.ends_with(['.', ' ']) {
        Some(Rule::UnsafeSuffix)
    } else if is_reserved(segment) {
        Some(Rule::ReservedName)
    } else {
        None
    }
}

/// Whether the text before the first dot names a device of old (`NUL`, `com1`).
fn is_reserved(segment: &str) -> bool {
    let base = segment
        .split_once('.')
        .map_or(segment, |(base, _)| base)
        .as_bytes();
    let is = |name: &str| base.eq_ignore_ascii_case(name.as_bytes());
    match base {
        [_, _, _] => ["con", "prn", "aux", "nul"].into_iter().any(is),
        [device @ .., b'1'..=b'9'] => {
            device.eq_ignore_ascii_case(b"com") || device.eq_ignore_ascii_case(b"lpt")
        }
        _ => false,
    }
}
