//! The one replacement `store.str_replace` makes (spec S30).

use super::StoreFailure;

/// The text with the one occurrence of `old` replaced by `new`. Occurrences are counted left to
/// right and do not overlap.
///
/// # Errors
///
/// `anchor`, when `old` is empty, is not there, or is there more than once.
pub fn replace_one(path: &str, text: &str, old: &str, new: &str) -> Result<String, StoreFailure> {
    if old.is_empty() {
        return Err(StoreFailure::empty_anchor(path));
    }
    let Some((before, after)) = text.split_once(old) else {
        return Err(StoreFailure::anchor_missing(path, old));
    };
    match after.matches(old).count() as u64 {
        0 => Ok([before, new, after].concat()),
        more => Err(StoreFailure::anchor_repeated(path, old, more + 1)),
    }
}
