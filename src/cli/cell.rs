//! Characters as a terminal shows them: how wide, and which part of a text fits a line.

use unicode_width::UnicodeWidthChar;

use super::escape::turns_text;

/// How a character is shown on one line, and the columns that takes.
pub fn cell(char: char) -> (String, usize) {
    if char == '\t' {
        return ("    ".to_owned(), 4);
    }
    if char.is_control() || turns_text(char) {
        let shown = char.escape_default().to_string();
        let width = shown.len();
        return (shown, width);
    }
    (char.to_string(), char.width().unwrap_or(0))
}

/// A text as it is shown on one line.
pub fn shown(text: &str) -> String {
    text.chars().map(|char| cell(char).0).collect()
}

/// The columns that a text takes on one line.
pub fn width(text: &str) -> usize {
    text.chars().map(|char| cell(char).1).sum()
}

/// The start of a text that fits so many columns; an ellipsis stands for the rest.
pub fn start_of(text: &str, columns: usize) -> String {
    let (cells, cut) = fitting(text.chars(), columns);
    match cut {
        true => cells.concat() + "…",
        false => cells.concat(),
    }
}

/// The end of a text that fits so many columns; an ellipsis stands for what is before.
pub fn end_of(text: &str, columns: usize) -> String {
    let (mut cells, cut) = fitting(text.chars().rev(), columns);
    cells.extend(cut.then(|| "…".to_owned()));
    cells.reverse();
    cells.concat()
}

/// The first characters that fit so many columns, and whether there are more. One column is kept
/// for the ellipsis then. Looks no further than it must.
fn fitting(chars: impl Iterator<Item = char>, columns: usize) -> (Vec<String>, bool) {
    let mut cells: Vec<(String, usize)> = Vec::new();
    let mut width = 0;
    for char in chars {
        let (shown, wide) = cell(char);
        width += wide;
        cells.push((shown, wide));
        if width > columns {
            while width >= columns.max(1) {
                let Some((_, wide)) = cells.pop() else { break };
                width -= wide;
            }
            return (cells.into_iter().map(|(shown, _)| shown).collect(), true);
        }
    }
    (cells.into_iter().map(|(shown, _)| shown).collect(), false)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_is_cut_where_its_line_ends() {
        assert_eq!(start_of("abc", 3), "abc");
        assert_eq!(start_of("abcd", 3), "ab…");
        assert_eq!(end_of("abcd", 3), "…cd");
        assert_eq!(end_of("日本語", 5), "…本語");
        assert_eq!(start_of("日本語", 4), "日…");
        assert_eq!(shown("a\u{202e}b"), r"a\u{202e}b");
        assert_eq!(start_of("\u{1b}xy", 7), r"\u{1b}".to_owned() + "…");
        assert_eq!(
            (start_of("ab", 1), start_of("", 0)),
            ("…".to_owned(), String::new())
        );
    }

    proptest! {
        #[test]
        fn what_is_shown_fits(text: String, columns in 1_usize..50) {
            for shown in [start_of(&text, columns), end_of(&text, columns)] {
                prop_assert!(width(&shown) <= columns, "{shown:?}");
                prop_assert!(!shown.chars().any(char::is_control));
            }
        }
    }
}
