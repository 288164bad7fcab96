//! Another end's text as a message or the log shows it (spec T153, T171).

use std::borrow::Cow;
use std::fmt::Write;

/// The most bytes of it.
pub(in crate::harness) const CUT: usize = 2000;

/// The beginning of a text, on one line: its control characters are escaped.
pub(in crate::harness) fn one_line(text: &str) -> String {
    let mut out = String::new();
    for char in beginning(text).chars() {
        match char {
            '\n' | '\r' | '\t' => out.extend(char.escape_default()),
            // Writing to a string does not fail.
            _ if char.is_control() => drop(write!(out, "\\u{{{:04x}}}", u32::from(char))),
            _ => out.push(char),
        }
    }
    out
}

/// The beginning of bytes that may be no text, on one line.
pub(in crate::harness) fn line_of(bytes: &[u8]) -> String {
    let text: Cow<str> = String::from_utf8_lossy(bytes.get(..CUT).unwrap_or(bytes));
    one_line(text.trim_end())
}

fn beginning(text: &str) -> &str {
    let mut end = text.len().min(CUT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_and_escaped() {
        assert_eq!(
            one_line("a\nb\r\t\u{1b}\u{7f}é\\"),
            "a\\nb\\r\\t\\u{001b}\\u{007f}é\\"
        );
        assert_eq!(one_line(&"x".repeat(2001)), "x".repeat(2000));
        // é takes two bytes, and the two thousandth byte is the first of one.
        assert_eq!(
            one_line(&format!("x{}", "é".repeat(1000))),
            format!("x{}", "é".repeat(999))
        );
        assert_eq!(line_of(b"\xffa\r\n"), "\u{fffd}a");
    }
}
