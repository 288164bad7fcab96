//! What can start a block: recognisers for the text of a line after its indentation. Each looks at
//! one line only and reads it at most once.

use nom::branch::alt;
use nom::bytes::complete::{take_while_m_n, take_while1};
use nom::character::complete::{char, one_of};
use nom::combinator::{eof, peek, value};
use nom::sequence::terminated;
use nom::{IResult, Parser};
use std::ops::Range;

/// Whether a character is white space within a line.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

/// A space, a tab or the end of the line, left where it is.
fn gap(input: &str) -> IResult<&str, ()> {
    peek(alt((value((), one_of(" \t")), value((), eof)))).parse(input)
}

/// An ATX heading: its level, and where in the text its content is, without the closing markers.
pub(super) fn atx_heading(text: &str) -> Option<(u8, Range<usize>)> {
    fn opening(input: &str) -> IResult<&str, &str> {
        terminated(take_while_m_n(1, 6, |c| c == '#'), gap).parse(input)
    }
    let (rest, markers) = opening(text).ok()?;
    let rest = rest.trim_start_matches(is_space);
    let start = text.len() - rest.len();
    let content = rest.trim_end_matches(is_space);
    let open = content.trim_end_matches('#');
    let closed = open.is_empty() || open.ends_with(is_space);
    let content = if closed {
        open.trim_end_matches(is_space)
    } else {
        content
    };
    Some((markers.len() as u8, start..start + content.len()))
}

/// The opening line of a fenced code block: its character and the length of its run.
pub(super) fn fence(text: &str) -> Option<(char, usize)> {
    fn run(input: &str) -> IResult<&str, &str> {
        alt((take_while1(|c| c == '`'), take_while1(|c| c == '~'))).parse(input)
    }
    let (info, run) = run(text).ok()?;
    let marker = run.chars().next()?;
    (run.len() >= 3 && (marker == '~' || !info.contains('`'))).then_some((marker, run.len()))
}

/// Whether a line's text closes a fenced code block of this character and length.
pub(super) fn closes_fence(text: &str, marker: char, length: usize) -> bool {
    let rest = text.trim_start_matches(marker);
    text.len() - rest.len() >= length && rest.trim_start_matches(is_space).is_empty()
}

/// The underline of a setext heading, as the heading's level.
pub(super) fn setext_underline(text: &str) -> Option<u8> {
    let text = text.trim_end_matches(is_space);
    let level = if text.starts_with('=') { 1 } else { 2 };
    let rest = text.trim_start_matches(if level == 1 { '=' } else { '-' });
    (!text.is_empty() && rest.is_empty()).then_some(level)
}

/// A thematic break, or where the text stops to be one: no break starts before that place.
pub(super) fn thematic_break(text: &str) -> Result<(), usize> {
    let marker = text
        .chars()
        .next()
        .filter(|c| matches!(c, '*' | '-' | '_'))
        .ok_or(0usize)?;
    let mut markers = 0;
    for (at, c) in text.char_indices() {
        if c == marker {
            markers += 1;
        } else if !is_space(c) {
            return Err(at);
        }
    }
    if markers >= 3 { Ok(()) } else { Err(0) }
}

/// The marker of a list item.
pub(super) struct ListMarker {
    /// Its length in bytes.
    pub length: usize,
    /// Whether the item may interrupt a paragraph, where it is not empty.
    pub interrupts: bool,
}

/// A bullet or a number with its delimiter, followed by a gap.
pub(super) fn list_marker(text: &str) -> Option<ListMarker> {
    fn bullet(input: &str) -> IResult<&str, bool> {
        value(true, one_of("-+*")).parse(input)
    }
    fn number(input: &str) -> IResult<&str, bool> {
        let digits = take_while_m_n(1, 9, |c: char| c.is_ascii_digit());
        let number = terminated(digits, alt((char('.'), char(')'))));
        number
            .map(|digits: &str| digits.trim_start_matches('0') == "1")
            .parse(input)
    }
    let (rest, interrupts) = terminated(alt((bullet, number)), gap).parse(text).ok()?;
    Some(ListMarker {
        length: text.len() - rest.len(),
        interrupts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atx_headings() {
        let heading =
            |text: &'static str| atx_heading(text).map(|(level, content)| (level, &text[content]));
        assert_eq!(heading("## a b ##  "), Some((2, "a b")));
        assert_eq!(heading("#"), Some((1, "")));
        assert_eq!(heading("### ###"), Some((3, "")));
        assert_eq!(heading("#\ta#"), Some((1, "a#")));
        assert_eq!(heading("#a"), None);
        assert_eq!(heading("####### a"), None);
    }

    #[test]
    fn fences() {
        assert_eq!(fence("```lua"), Some(('`', 3)));
        assert_eq!(fence("~~~~ a`b"), Some(('~', 4)));
        assert_eq!(fence("``` a`b"), None);
        assert_eq!(fence("``"), None);
        assert!(closes_fence("```` \t", '`', 3));
        assert!(!closes_fence("``` x", '`', 3));
        assert!(!closes_fence("```", '`', 4));
    }

    #[test]
    fn breaks_and_underlines() {
        assert_eq!(thematic_break("* * *"), Ok(()));
        assert_eq!(thematic_break("- - x -"), Err(4));
        assert_eq!(thematic_break("--"), Err(0));
        assert_eq!(setext_underline("- "), Some(2));
        assert_eq!(setext_underline("==="), Some(1));
        assert_eq!(setext_underline("= ="), None);
        assert_eq!(setext_underline(""), None);
    }

    #[test]
    fn list_markers() {
        let marker = |text| list_marker(text).map(|marker| (marker.length, marker.interrupts));
        assert_eq!(marker("- a"), Some((1, true)));
        assert_eq!(marker("12) a"), Some((3, false)));
        assert_eq!(marker("1."), Some((2, true)));
        assert_eq!(marker("1234567890. a"), None);
        assert_eq!(marker("-a"), None);
    }
}
