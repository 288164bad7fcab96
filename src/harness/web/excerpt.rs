//! What another end said, as a failure's message quotes it (spec T153).

use std::fmt::Write;

/// The most bytes that are quoted.
const MOST: usize = 2000;

/// The beginning of a text, on one line: line ends, tabs and other control characters are written
/// as escapes. An empty text is `(empty body)`.
pub(in crate::harness) fn excerpt(text: &str) -> String {
    if text.is_empty() {
        return "(empty body)".to_owned();
    }
    let mut quoted = String::new();
    let ends_within = |(at, character): &(usize, char)| at + character.len_utf8() <= MOST;
    for (_, character) in text.char_indices().take_while(ends_within) {
        match character {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // Writing to a string does not fail.
            control if control.is_control() => {
                let _ = write!(quoted, "\\u{{{:04x}}}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_one_short_line() {
        // spec T153
        assert_eq!(excerpt(""), "(empty body)");
        assert_eq!(excerpt("a\nb\r\tc\\n"), "a\\nb\\r\\tc\\n");
        assert_eq!(
            excerpt("\u{7}\u{7f}\u{85}é"),
            "\\u{0007}\\u{007f}\\u{0085}é"
        );
        assert_eq!(excerpt(&"x".repeat(2001)).len(), 2000);
        let cut = excerpt(&format!("{}é", "x".repeat(1999)));
        assert_eq!(cut, "x".repeat(1999));
        assert_eq!(excerpt(&"\n".repeat(2000)).len(), 4000);
    }
}
