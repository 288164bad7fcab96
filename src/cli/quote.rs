//! Quotes a line of the source under a message (spec C6).

use super::cell::cell;
use super::style::Style;

/// The widest part of a source line that is shown, in terminal columns.
const SHOWN_WIDTH: usize = 120;

/// How much of it may stand before the caret.
const SHOWN_BEFORE: usize = 60;

/// The source line behind a gutter, with a caret under the column; `None` past the file's end.
pub fn quote(source: &str, line: u32, column: Option<u32>, style: Style) -> Option<String> {
    let text = source
        .split('\n')
        .nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let text = text.strip_suffix('\r').unwrap_or(text);
    let text = text
        .strip_prefix('\u{feff}')
        .filter(|_| line == 1)
        .unwrap_or(text);
    let number = line.to_string();
    let (shown, caret) = shown_part(text, byte_offset(text, column));
    let blank = style.frame(&format!("{} |", " ".repeat(number.len())));
    let mut out = format!("{blank}\n{} {shown}\n", style.frame(&format!("{number} |")));
    if column.is_some() {
        let caret = format!("{}{}", " ".repeat(caret), style.error("^"));
        out.push_str(&format!("{blank} {caret}\n"));
    }
    Some(out)
}

/// The offset of the character that a 1-based byte column points into, or the line's end.
fn byte_offset(text: &str, column: Option<u32>) -> usize {
    let offset = usize::try_from(column.unwrap_or(1))
        .unwrap_or(usize::MAX)
        .saturating_sub(1);
    (0..=offset.min(text.len()))
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0)
}

/// The part of a line that is shown around an offset, and the terminal column of the offset in it.
fn shown_part(text: &str, at: usize) -> (String, usize) {
    let (before, after) = text.split_at(at);
    let mut start = at;
    let mut caret = 0;
    for (index, char) in before.char_indices().rev() {
        let width = cell(char).1;
        if caret + width > SHOWN_BEFORE {
            break;
        }
        caret += width;
        start = index;
    }
    let mut end = at;
    let mut width = caret;
    for char in after.chars() {
        width += cell(char).1;
        if width > SHOWN_WIDTH {
            break;
        }
        end += char.len_utf8();
    }
    let mut shown = String::new();
    if start > 0 {
        shown.push('…');
        caret += 1;
    }
    shown.extend(
        text.get(start..end)
            .unwrap_or_default()
            .chars()
            .map(|char| cell(char).0),
    );
    if end < text.len() {
        shown.push('…');
    }
    (shown, caret)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn quoted(source: &str, line: u32, column: u32) -> String {
        quote(source, line, Some(column), Style::new(false)).unwrap()
    }

    #[test]
    fn a_line_is_quoted_with_its_caret() {
        let source = "one\n  two\r\nthree\n";
        assert_eq!(quoted(source, 2, 3), "  |\n2 |   two\n  |   ^\n");
        let plain = quote(source, 3, None, Style::new(false));
        assert_eq!(plain.as_deref(), Some("  |\n3 | three\n"));
        assert_eq!(quote(source, 9, Some(1), Style::new(false)), None);
    }

    #[test]
    fn the_gutter_is_as_wide_as_the_number() {
        assert_eq!(quoted(&"x\n".repeat(12), 10, 1), "   |\n10 | x\n   | ^\n");
    }

    #[test]
    fn tabs_wide_and_control_characters_push_the_caret() {
        let widths = 4 + 2 + 1 + r"\u{1b}".len();
        assert_eq!(
            quoted("\t日é\u{1b}x", 1, 8),
            format!("  |\n1 |     日é\\u{{1b}}x\n  | {}^\n", " ".repeat(widths))
        );
    }

    #[test]
    fn a_long_line_is_cut_around_the_caret() {
        let line = format!("{}X{}", "a".repeat(500), "b".repeat(500));
        let text = format!("1 | …{}X{}…", "a".repeat(60), "b".repeat(59));
        let caret = format!("  | {}^", " ".repeat(61));
        assert_eq!(quoted(&line, 1, 501), format!("  |\n{text}\n{caret}\n"));
    }

    proptest! {
        #[test]
        fn the_caret_stands_in_or_after_the_line(text in "[^\n]{0,300}", column in 1_u32..400) {
            let (shown, caret) = shown_part(&text, byte_offset(&text, Some(column)));
            let width: usize = shown.chars().map(|char| cell(char).1).sum();
            prop_assert!(caret <= width);
            prop_assert!(width <= SHOWN_WIDTH + 2);
        }
    }
}
