//! The text of a heading: its inline markup reduced to what it says (spec F61).

use super::emphasis::{self, Run};
use super::entity::{Entity, entity};
use super::html::InlineHtml;
use super::link::{self, Definitions};
use nom::branch::alt;
use nom::bytes::complete::{take_while, take_while_m_n, take_while1};
use nom::character::complete::{char, satisfy};
use nom::combinator::recognize;
use nom::multi::many0_count;
use nom::sequence::{delimited, preceded};
use nom::{IResult, Parser};
use std::collections::HashMap;

/// Characters of the output that may turn out to be markup: delimiters and opening brackets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    start: usize,
    length: usize,
    taken: usize,
}

impl Token {
    /// How many of the characters are still text.
    pub fn left(self) -> usize {
        self.length - self.taken
    }

    /// Makes characters markup.
    pub fn take(&mut self, count: usize) {
        self.taken += count;
    }
}

/// An opening bracket that may start a link or an image.
#[derive(Clone, Copy, Debug)]
struct Bracket {
    token: usize,
    image: bool,
    /// Where the bracket's content starts in the source.
    content: usize,
    /// How many runs of delimiters came before it.
    runs: usize,
    /// Whether another bracket opened after it.
    followed: bool,
}

/// The text that a heading's raw content says.
pub(super) fn text(raw: &str, definitions: &Definitions) -> String {
    let raw = raw.trim();
    if !raw.bytes().any(is_special) {
        return raw.to_owned();
    }
    let mut reader = Reader::new(raw, definitions);
    reader.read();
    reader.finish().trim().to_owned()
}

/// Whether a byte may start markup.
fn is_special(byte: u8) -> bool {
    matches!(
        byte,
        b'\\' | b'`' | b'*' | b'_' | b'[' | b']' | b'!' | b'<' | b'&' | b'\n' | b'\0'
    )
}

struct Reader<'a> {
    source: &'a str,
    definitions: &'a Definitions,
    position: usize,
    output: String,
    tokens: Vec<Token>,
    runs: Vec<Run>,
    brackets: Vec<Bracket>,
    /// Brackets below this place start no link: one stands inside them.
    inactive: usize,
    /// Where the last closing bracket is: none that opens after it is markup.
    last_closing: usize,
    html: InlineHtml,
    /// Where the last run of backticks of each length starts, once asked for.
    backticks: Option<HashMap<usize, usize>>,
}

impl<'a> Reader<'a> {
    fn new(source: &'a str, definitions: &'a Definitions) -> Self {
        Self {
            source,
            definitions,
            position: 0,
            output: String::with_capacity(source.len()),
            tokens: Vec::new(),
            runs: Vec::new(),
            brackets: Vec::new(),
            inactive: 0,
            last_closing: source.rfind(']').unwrap_or(0),
            html: InlineHtml::default(),
            backticks: None,
        }
    }

    fn rest(&self) -> &'a str {
        &self.source[self.position..]
    }

    fn read(&mut self) {
        while let Some(first) = self.rest().bytes().next() {
            match first {
                b'\\' => self.escape(),
                b'`' => self.code(),
                b'*' => self.delimiters('*'),
                b'_' => self.delimiters('_'),
                b'!' if self.rest().starts_with("![") => self.open_bracket(true),
                b'[' => self.open_bracket(false),
                b']' => self.close_bracket(),
                b'<' => self.angle(),
                b'&' => self.entity(),
                b'\n' => self.line_break(),
                b'\0' => self.push(1, "\u{FFFD}"),
                _ => {
                    let rest = self.rest();
                    let plain = rest.bytes().skip(1).position(is_special);
                    let length = plain.map_or(rest.len(), |length| length + 1);
                    self.push(length, &rest[..length]);
                }
            }
        }
        emphasis::resolve(&mut self.runs, 0, &mut self.tokens);
    }

    /// Passes bytes of the source and writes a text for them.
    fn push(&mut self, bytes: usize, text: &str) {
        self.position += bytes;
        self.output.push_str(text);
    }

    /// Passes characters of the source, writes them, and notes that they may be markup.
    fn push_token(&mut self, text: &str) -> usize {
        self.tokens.push(Token {
            start: self.output.len(),
            length: text.len(),
            taken: 0,
        });
        self.push(text.len(), text);
        self.tokens.len() - 1
    }

    fn escape(&mut self) {
        let rest = self.rest();
        match rest[1..].chars().next() {
            Some(c) if c.is_ascii_punctuation() => self.push(2, &rest[1..2]),
            // A hard line break.
            Some('\n') => self.position += 1,
            Some('\r') if rest[2..].starts_with('\n') => self.position += 2,
            _ => self.push(1, "\\"),
        }
    }

    fn code(&mut self) {
        let rest = self.rest();
        let run = rest.len() - rest.trim_start_matches('`').len();
        let source = self.source;
        let last = self.backticks.get_or_insert_with(|| last_backticks(source));
        let closes_later = last.get(&run).is_some_and(|last| *last > self.position);
        let closing = || backtick_runs(&rest[run..]).find(|(_, length)| *length == run);
        let Some((length, _)) = closes_later.then(closing).flatten() else {
            return self.push(run, &rest[..run]);
        };
        let code = rest[run..run + length]
            .replace("\r\n", " ")
            .replace('\n', " ");
        let padded = code.len() > 2 && code.starts_with(' ') && code.ends_with(' ');
        let bare = code.trim_matches(' ').is_empty();
        let code = if padded && !bare {
            &code[1..code.len() - 1]
        } else {
            &code
        };
        self.push(run + length + run, &code.replace('\0', "\u{FFFD}"));
    }

    fn delimiters(&mut self, marker: char) {
        let rest = self.rest();
        let after = rest.trim_start_matches(marker);
        let before = self.source[..self.position]
            .chars()
            .next_back()
            .unwrap_or('\n');
        let run = &rest[..rest.len() - after.len()];
        let token = self.push_token(run);
        let after = after.chars().next().unwrap_or('\n');
        self.runs
            .push(Run::new(token, marker, run.len(), before, after));
    }

    fn open_bracket(&mut self, image: bool) {
        let text = if image { "![" } else { "[" };
        if self.position > self.last_closing {
            return self.push(text.len(), text);
        }
        if let Some(outer) = self.brackets.last_mut() {
            outer.followed = true;
        }
        let token = self.push_token(text);
        let (content, runs) = (self.position, self.runs.len());
        self.brackets.push(Bracket {
            token,
            image,
            content,
            runs,
            followed: false,
        });
    }

    fn close_bracket(&mut self) {
        let place = self.brackets.len().wrapping_sub(1);
        let Some(bracket) = self.brackets.pop() else {
            return self.push(1, "]");
        };
        let active = bracket.image || place >= self.inactive;
        self.inactive = self.inactive.min(place);
        let Some(end) = active.then(|| self.link_end(bracket)).flatten() else {
            return self.push(1, "]");
        };
        self.position = end;
        let token = &mut self.tokens[bracket.token];
        token.take(token.length);
        emphasis::resolve(&mut self.runs, bracket.runs, &mut self.tokens);
        if !bracket.image {
            self.inactive = place;
        }
    }

    /// Where the link or image ends whose closing bracket is next, if it is one.
    fn link_end(&self, bracket: Bracket) -> Option<usize> {
        let after = &self.rest()[1..];
        if let Some(rest) = link::inline_target(after) {
            return Some(self.source.len() - rest.len());
        }
        let own = &self.source[bracket.content..self.position];
        let (label, rest) = match link::label(after) {
            Some((label, rest)) if !label.is_empty() => (label, rest),
            Some((_, rest)) if !bracket.followed => (own, rest),
            None if !bracket.followed => (own, after),
            _ => return None,
        };
        self.definitions
            .contains(label)
            .then(|| self.source.len() - rest.len())
    }

    fn angle(&mut self) {
        let rest = self.rest();
        if let Ok((after, target)) = autolink(rest) {
            self.push(rest.len() - after.len(), target);
        } else if let Some(length) = self.html.length(rest) {
            self.position += length;
        } else {
            self.push(1, "<");
        }
    }

    fn entity(&mut self) {
        match entity(self.rest()) {
            Some((Entity::Named(characters), length)) => self.push(length, characters),
            Some((Entity::Numeric(c), length)) => self.push(length, c.encode_utf8(&mut [0; 4])),
            None => self.push(1, "&"),
        }
    }

    /// A line break is one space, and takes the white space at the end of its line and at the start
    /// of the next.
    fn line_break(&mut self) {
        let before = &self.source[..self.position];
        let white = before.len() - before.trim_end_matches([' ', '\t', '\r']).len();
        let bare = self.output.trim_end_matches([' ', '\t', '\r']).len();
        self.output
            .truncate(bare.max(self.output.len().saturating_sub(white)));
        let rest = self.rest();
        let after = rest.trim_start_matches(['\n', ' ', '\t']);
        self.push(rest.len() - after.len(), " ");
    }

    /// The output without what turned out to be markup.
    fn finish(self) -> String {
        let mut text = String::with_capacity(self.output.len());
        let mut copied = 0;
        for token in self.tokens {
            text.push_str(&self.output[copied..token.start + token.left()]);
            copied = token.start + token.length;
        }
        text.push_str(&self.output[copied..]);
        text
    }
}

/// The runs of backticks of a text: where they start and how long they are.
fn backtick_runs(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut position = 0;
    std::iter::from_fn(move || {
        let start = position + text[position..].find('`')?;
        let length = text[start..].len() - text[start..].trim_start_matches('`').len();
        position = start + length;
        Some((start, length))
    })
}

fn last_backticks(text: &str) -> HashMap<usize, usize> {
    backtick_runs(text)
        .map(|(start, length)| (length, start))
        .collect()
}

/// A URI or an address between angle brackets.
fn autolink(input: &str) -> IResult<&str, &str> {
    delimited(char('<'), alt((uri, address)), char('>')).parse(input)
}

fn uri(input: &str) -> IResult<&str, &str> {
    let scheme_rest = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-');
    let scheme = (
        satisfy(|c| c.is_ascii_alphabetic()),
        take_while_m_n(1, 31, scheme_rest),
    );
    let path = take_while(|c: char| !c.is_ascii_control() && !matches!(c, ' ' | '<' | '>'));
    recognize((scheme, char(':'), path)).parse(input)
}

fn address(input: &str) -> IResult<&str, &str> {
    let local = |c: char| c.is_ascii_alphanumeric() || ".!#$%&'*+/=?^_`{|}~-".contains(c);
    let more = many0_count(preceded(char('.'), domain_label));
    recognize((take_while1(local), char('@'), domain_label, more)).parse(input)
}

/// A part of a domain: at most 63 letters, digits and inner hyphens.
fn domain_label(input: &str) -> IResult<&str, &str> {
    let part = take_while_m_n(1, 63, |c: char| c.is_ascii_alphanumeric() || c == '-');
    nom::combinator::verify(part, |part: &str| {
        !part.starts_with('-') && !part.ends_with('-')
    })
    .parse(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reduce(raw: &str) -> String {
        let mut definitions = Definitions::default();
        definitions.take("[def]: /url");
        text(raw, &definitions)
    }

    #[test]
    fn markup_is_reduced_to_its_text() {
        let cases = [
            ("Run `fetch` *now* [x](y) &amp; \\#", "Run fetch now x & #"),
            ("a  b", "a  b"),
            (
                "*a **b** c* __d__ snake_case_name",
                "a b c d snake_case_name",
            ),
            ("**a* b", "*a b"),
            ("*a _b* c_", "a _b c_"),
            ("***a** b*", "a b"),
            (
                "[Def] [def][] [x][DEF] [x][no] [no]",
                "Def def x [x][no] [no]",
            ),
            ("![alt *b* [l](u)](src 't')", "alt b l"),
            ("[a [b](c) d](e)", "[a b d](e)"),
            ("<b>bold</b> <!-- x --> a", "bold  a"),
            ("<https://x.y/z> <me@x.y> <no>", "https://x.y/z me@x.y"),
            ("`` a`b `` `c", "a`b `c"),
            ("a `  ` `` ` ``", "a    `"),
            ("one\\\n two  \r\n\tthree", "one two three"),
            ("&nbsp;a&nbsp;", "a"),
            ("&nosuch; &#x41;&#0;", "&nosuch; A\u{FFFD}"),
            ("a\0b", "a\u{FFFD}b"),
            ("*[a*](b)", "*a*"),
            ("\u{ab}*a*\u{bb} b*\u{2014}c*", "\u{ab}a\u{bb} b*\u{2014}c*"),
            ("] [ ![", "] [ !["),
        ];
        for (raw, expected) in cases {
            assert_eq!(reduce(raw), expected, "{raw}");
        }
    }
}
