//! The parts of links, and the link reference definitions of a text.

use std::collections::HashSet;

/// The most characters a link label holds.
const LABEL_LIMIT: usize = 999;

/// The most parentheses that may be open at a time in a destination without angle brackets.
const PARENTHESES: usize = 32;

/// The labels that a text defines, normalised.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    labels: HashSet<String>,
}

impl Definitions {
    /// Takes the definitions that a paragraph starts with and says how many bytes they are.
    pub fn take(&mut self, paragraph: &str) -> usize {
        let mut rest = paragraph;
        while let Some((label, after)) = definition(rest) {
            let label = normalise(label);
            if label.is_empty() {
                break;
            }
            self.labels.insert(label);
            rest = after;
        }
        paragraph.len() - rest.len()
    }

    /// Whether a label is defined.
    pub fn contains(&self, label: &str) -> bool {
        !self.labels.is_empty() && self.labels.contains(&normalise(label))
    }
}

/// A label as labels are compared: without regard to case and to the amount of white space.
fn normalise(label: &str) -> String {
    let mut normal = String::with_capacity(label.len());
    for word in label.split(is_white).filter(|word| !word.is_empty()) {
        if !normal.is_empty() {
            normal.push(' ');
        }
        let folded = word
            .chars()
            .flat_map(char::to_lowercase)
            .flat_map(char::to_uppercase);
        normal.extend(folded);
    }
    normal
}

fn is_white(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

fn skip_white(text: &str) -> &str {
    text.trim_start_matches(is_white)
}

/// One definition at the start of a paragraph: its label and what comes after its last line.
fn definition(paragraph: &str) -> Option<(&str, &str)> {
    let (label, rest) = label(skip_white(paragraph))?;
    let (url, rest) = destination(skip_white(rest.strip_prefix(':')?))?;
    if url.is_empty() {
        return None;
    }
    let titled = (skip_white(rest).len() < rest.len())
        .then(|| title(skip_white(rest)))
        .flatten()
        .and_then(line_end);
    Some((label, titled.or_else(|| line_end(rest))?))
}

/// What comes after a line of which only white space is left.
fn line_end(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches([' ', '\t']);
    if rest.is_empty() {
        return Some(rest);
    }
    rest.strip_prefix('\n')
        .or_else(|| rest.strip_prefix("\r\n"))
}

/// A label in its brackets: what they hold and what follows.
pub(super) fn label(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('[')?;
    let mut escaped = false;
    for (count, (at, c)) in inner.char_indices().enumerate() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => return None,
            ']' => return Some((&inner[..at], &inner[at + 1..])),
            _ => {}
        }
        if count == LABEL_LIMIT {
            return None;
        }
    }
    None
}

/// A link destination, its angle brackets included, and what follows. It may be empty.
fn destination(text: &str) -> Option<(&str, &str)> {
    let end = match text.strip_prefix('<') {
        Some(inner) => 1 + bracketed(inner)?,
        None => bare(text)?,
    };
    Some(text.split_at(end))
}

/// The length of a destination up to and with its closing angle bracket.
fn bracketed(inner: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            b'\n' | b'\r' => return None,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'<' => return None,
            b'>' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The length of a destination without angle brackets, its parentheses balanced.
fn bare(text: &str) -> Option<usize> {
    let mut open = 0;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b')' | b'\\' if escaped => escaped = false,
            b'(' if open == PARENTHESES => return None,
            b'(' => open += 1,
            b')' if open == 0 => return Some(at),
            b')' => open -= 1,
            b' ' | 0..=0x1f | 0x7f => return (open == 0).then_some(at),
            _ => escaped = byte == b'\\',
        }
    }
    (open == 0).then_some(text.len())
}

/// What follows a link title.
fn title(text: &str) -> Option<&str> {
    let open = text
        .bytes()
        .next()
        .filter(|byte| matches!(byte, b'"' | b'\'' | b'('))?;
    let close = if open == b'(' { b')' } else { open };
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            _ if byte == close => return Some(&text[at + 1..]),
            b'(' if open == b'(' => return None,
            _ => {}
        }
    }
    None
}

/// What follows the destination and title of an inline link, in their parentheses.
pub(super) fn inline_target(text: &str) -> Option<&str> {
    let inner = skip_white(text.strip_prefix('(')?);
    let (_, rest) = destination(inner)?;
    let after = skip_white(rest);
    let after = if after.len() < rest.len() {
        title(after).map_or(after, skip_white)
    } else {
        after
    };
    after.strip_prefix(')')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_taken_from_the_start() {
        let mut definitions = Definitions::default();
        let text = "[A  b]: /url 'title\nmore'\n  [c]:\n<x y>\n[d]: e \"f\" g\nrest";
        assert_eq!(&text[definitions.take(text)..], "[d]: e \"f\" g\nrest");
        assert!(definitions.contains("a\nB"));
        assert!(definitions.contains("C"));
        assert!(!definitions.contains("d"));
        assert_eq!(definitions.take("[ ]: x"), 0);
        assert_eq!(definitions.take("[x]:"), 0);
    }

    #[test]
    fn a_broken_title_on_its_own_line_is_no_title() {
        let mut definitions = Definitions::default();
        assert_eq!(definitions.take("[x]: y\n'z' w"), "[x]: y\n".len());
    }

    #[test]
    fn inline_targets() {
        assert_eq!(inline_target("(a(b)c)d"), Some("d"));
        assert_eq!(inline_target("()"), Some(""));
        assert_eq!(inline_target("( <a b> 'c' )"), Some(""));
        assert_eq!(inline_target("(<a b>'c')"), None);
        assert_eq!(inline_target("(a b)"), None);
        assert_eq!(inline_target("(a\\)"), None);
        assert_eq!(inline_target("(a\"b\")"), Some(""));
        assert_eq!(label("[a\\]b]c"), Some(("a\\]b", "c")));
    }
}
