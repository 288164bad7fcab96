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
        let mut segments = path.as_bytes().split(|byte| *byte == b'/');
        forbidden_byte(path).or_else(|| segments.find_map(broken_by_segment))
    }
}

/// The directories above a path, nearest first: of `a/b/c`, `a/b` and `a`.
pub fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(parent(path), |path| parent(path))
}

/// The rules on single bytes that paths and patterns share.
pub(super) fn forbidden_byte(text: &str) -> Option<Rule> {
    let mut backslash = None;
    for byte in text.bytes() {
        match byte {
            0..0x20 | 0x7f => return Some(Rule::Control),
            b'\\' => backslash = Some(Rule::Backslash),
            _ => {}
        }
    }
    backslash
}

fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(parent, _)| parent)
}

fn broken_by_segment(segment: &[u8]) -> Option<Rule> {
    match segment {
        [] => Some(Rule::EmptySegment),
        b"." | b".." => Some(Rule::Traversal),
        [.., b'.' | b' '] => Some(Rule::UnsafeSuffix),
        _ if is_reserved(segment) => Some(Rule::ReservedName),
        _ => None,
    }
}

/// Whether the text before the first dot names a device of old (`NUL`, `com1`).
fn is_reserved(segment: &[u8]) -> bool {
    let dot = segment.iter().position(|byte| *byte == b'.');
    let base = &segment[..dot.unwrap_or(segment.len())];
    let is = |name: &str| base.eq_ignore_ascii_case(name.as_bytes());
    match base {
        [_, _, _] => ["con", "prn", "aux", "nul"].into_iter().any(is),
        [device @ .., b'1'..=b'9'] => {
            device.eq_ignore_ascii_case(b"com") || device.eq_ignore_ascii_case(b"lpt")
        }
        _ => false,
    }
}
