//! Shows a failure in the style of a compiler (spec C6).

use runvil::engine::{RunError, RunErrorKind};
use unicode_width::UnicodeWidthChar;

use super::escape::escape;
use super::style::Style;

/// The widest part of a source line that is shown, in terminal columns.
const SHOWN_WIDTH: usize = 120;

/// How much of it may stand before the caret.
const SHOWN_BEFORE: usize = 60;

/// The failure of a file: its kind and message, then where it is and the line it is in, as far as
/// they are known. `file` is the name the user typed.
pub fn render(error: &RunError, file: &str, source: &str, style: Style) -> String {
    let head = match error.parse_kind {
        Some(parse_kind) => format!("error[{}/{}]", error.kind.name(), parse_kind.name()),
        None => format!("error[{}]", error.kind.name()),
    };
    let mut out = format!("{}: {}\n", style.error(&head), escape(&error.message));
    match error.kind {
        RunErrorKind::Parse => out.push_str(&place(error, file, Some(source), style)),
        RunErrorKind::Internal => {
            if let Some(path) = error
                .location
                .as_ref()
                .and_then(|place| place.path.as_deref())
            {
                out.push_str(&place(error, path, None, style));
            }
        }
        _ => {}
    }
    out
}

/// The arrow with the place, and the source line where there is one.
fn place(error: &RunError, file: &str, source: Option<&str>, style: Style) -> String {
    let line = error.location.as_ref().and_then(|place| place.line);
    let column = error.location.as_ref().and_then(|place| place.column);
    let mut name = file.to_owned();
    for number in [line, column].into_iter().flatten() {
        name.push_str(&format!(":{number}"));
    }
    let quote = line
        .zip(source)
        .and_then(|(line, source)| quote(source, line, column, style));
    let indent = line
        .filter(|_| quote.is_some())
        .map_or(0, |line| line.to_string().len());
    let arrow = format!("{}-->", " ".repeat(indent));
    let arrow = if indent == 0 {
        " -->".to_owned()
    } else {
        arrow
    };
    format!(
        "{} {}\n{}",
        style.frame(&arrow),
        escape(&name),
        quote.unwrap_or_default()
    )
}

/// The source line behind a gutter, with a caret under the column; `None` past the file's end.
fn quote(source: &str, line: u32, column: Option<u32>, style: Style) -> Option<String> {
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

/// How a character is shown, and the columns that takes.
fn cell(char: char) -> (String, usize) {
    if char == '\t' {
        return ("    ".to_owned(), 4);
    }
    if char.is_control() {
        let shown = char.escape_default().to_string();
        let width = shown.len();
        return (shown, width);
    }
    (char.to_string(), char.width().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use runvil::prompt::{Location, ParseErrorKind};

    use super::*;

    fn failure(line: Option<u32>, column: Option<u32>) -> RunError {
        RunError {
            kind: RunErrorKind::Parse,
            parse_kind: Some(ParseErrorKind::Structure),
            message: "bad".to_owned(),
            location: Some(Location {
                path: Some("t".to_owned()),
                line,
                column,
                span: None,
            }),
        }
    }

    fn shown(source: &str, line: u32, column: u32) -> String {
        render(
            &failure(Some(line), Some(column)),
            "f.md",
            source,
            Style::new(false),
        )
    }

    #[test]
    fn a_located_failure_quotes_its_line() {
        let source = "one\n  two\r\nthree\n";
        assert_eq!(
            shown(source, 2, 3),
            "error[Parse/Structure]: bad\n --> f.md:2:3\n  |\n2 |   two\n  |   ^\n"
        );
    }

    #[test]
    fn the_gutter_is_as_wide_as_the_number() {
        let source = "x\n".repeat(12);
        assert_eq!(
            shown(&source, 10, 1),
            "error[Parse/Structure]: bad\n  --> f.md:10:1\n   |\n10 | x\n   | ^\n"
        );
    }

    #[test]
    fn tabs_wide_and_control_characters_push_the_caret() {
        let text = shown("\t日é\u{1b}x", 1, 8);
        let (_, quoted) = text.split_once("1 | ").unwrap();
        let widths = 4 + 2 + 1 + r"\u{1b}".len();
        assert_eq!(
            quoted,
            format!("    日é\\u{{1b}}x\n  | {}^\n", " ".repeat(widths))
        );
    }

    #[test]
    fn a_failure_without_line_names_the_file() {
        let text = render(&failure(None, None), "f.md", "x", Style::new(false));
        assert_eq!(text, "error[Parse/Structure]: bad\n --> f.md\n");
        let text = render(&failure(Some(9), Some(1)), "f.md", "x", Style::new(false));
        assert_eq!(
            text, "error[Parse/Structure]: bad\n --> f.md:9:1\n",
            "past the end"
        );
    }

    #[test]
    fn other_failures_are_their_message_alone() {
        let error = RunError::new(RunErrorKind::Lua, "line one\nline\u{7} two");
        let text = render(&error, "f.md", "", Style::new(false));
        assert_eq!(text, "error[Lua]: line one\nline\\u{7} two\n");
    }

    #[test]
    fn a_long_line_is_cut_around_the_caret() {
        let line = format!("{}X{}", "a".repeat(500), "b".repeat(500));
        let text = shown(&line, 1, 501);
        let quoted = format!("1 | …{}X{}…", "a".repeat(60), "b".repeat(59));
        let caret = format!("  | {}^", " ".repeat(61));
        assert!(text.contains(&format!("{quoted}\n{caret}\n")), "{text}");
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
