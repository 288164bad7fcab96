//! Where the items of a pattern end.

/// A pattern that is not well formed.
pub(super) const ENDS_WITH_ESCAPE: &str = "malformed pattern (ends with '%')";
pub(super) const MISSING_BRACKET: &str = "malformed pattern (missing ']')";

/// The byte at a place of a pattern; 0 past its end, as Lua's strings end in one.
pub(super) fn byte_at(pattern: &[u8], at: usize) -> u8 {
    pattern.get(at).copied().unwrap_or_default()
}

/// The end of the single-character item that begins at a place, which is not the end.
pub(super) fn item_end(pattern: &[u8], start: usize) -> Result<usize, &'static str> {
    let mut at = start + 1;
    match byte_at(pattern, start) {
        b'%' if at >= pattern.len() => Err(ENDS_WITH_ESCAPE),
        b'%' => Ok(at + 1),
        b'[' => {
            if byte_at(pattern, at) == b'^' {
                at += 1;
            }
            // The first byte of a set is in it, even a `]`.
            loop {
                if at >= pattern.len() {
                    return Err(MISSING_BRACKET);
                }
                let byte = byte_at(pattern, at);
                at += 1;
                if byte == b'%' && at < pattern.len() {
                    at += 1;
                }
                if byte_at(pattern, at) == b']' && at < pattern.len() {
                    return Ok(at + 1);
                }
            }
        }
        _ => Ok(at),
    }
}
