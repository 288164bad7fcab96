//! Raw HTML: the seven kinds of HTML block, and tags within a line.

use super::start::is_space;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::{char, satisfy};
use nom::combinator::{eof, fail, opt, recognize, value, verify};
use nom::multi::fold_many0;
use nom::sequence::{delimited, preceded, terminated};
use nom::{IResult, Parser};

/// The names whose tag starts a block even within a paragraph.
const BLOCK_NAMES: [&str; 62] = [
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "ul",
];

/// The names whose block ends only with a closing tag.
const RAW_TEXT_NAMES: [&str; 4] = ["pre", "script", "style", "textarea"];

/// How an HTML block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HtmlEnd {
    /// With a line that holds the closing tag of `pre`, `script`, `style` or `textarea`.
    RawText,
    /// With a line that holds this text.
    Text(&'static str),
    /// Before a blank line.
    Blank,
}

impl HtmlEnd {
    /// Whether the block ends with this line.
    pub fn is_in(self, line: &str) -> bool {
        match self {
            Self::RawText => line.match_indices("</").any(|(at, mark)| {
                terminated(name, char('>'))
                    .parse(&line[at + mark.len()..])
                    .is_ok_and(|(_, name)| is_one_of(name, &RAW_TEXT_NAMES))
            }),
            Self::Text(end) => line.contains(end),
            Self::Blank => false,
        }
    }
}

/// The start of an HTML block, as how it ends. Within a paragraph a lone tag starts none.
pub(super) fn block_start(text: &str, in_paragraph: bool) -> Option<HtmlEnd> {
    let known = alt((
        value(HtmlEnd::Text("-->"), tag("<!--")),
        value(HtmlEnd::Text("?>"), tag("<?")),
        value(HtmlEnd::Text("]]>"), tag("<![CDATA[")),
        value(
            HtmlEnd::Text(">"),
            (tag("<!"), satisfy(|c| c.is_ascii_alphabetic())),
        ),
        named_start,
    ))
    .parse(text);
    match known {
        Ok((_, end)) => Some(end),
        Err(_) if in_paragraph => None,
        Err(_) => lone_tag(text).ok().map(|_| HtmlEnd::Blank),
    }
}

/// The start of a tag of a name that is known to start a block.
fn named_start(input: &str) -> IResult<&str, HtmlEnd> {
    let (rest, (closing, name)) = preceded(char('<'), (opt(char('/')), name)).parse(input)?;
    let gap = |input| alt((recognize(satisfy(is_space)), tag(">"), eof)).parse(input);
    if is_one_of(name, &BLOCK_NAMES) {
        value(HtmlEnd::Blank, alt((gap, tag("/>")))).parse(rest)
    } else if closing.is_none() && is_one_of(name, &RAW_TEXT_NAMES) {
        value(HtmlEnd::RawText, gap).parse(rest)
    } else {
        fail().parse(input)
    }
}

/// One complete tag with nothing after it.
fn lone_tag(input: &str) -> IResult<&str, &str> {
    let name = verify(complete_tag, |name: &str| !is_one_of(name, &RAW_TEXT_NAMES));
    terminated(name, (take_while(is_space), eof)).parse(input)
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// A complete opening or closing tag, as its name.
fn complete_tag(input: &str) -> IResult<&str, &str> {
    let closing = delimited(tag("</"), name, (white, char('>')));
    let attributes = fold_many0(attribute, || (), |(), ()| ());
    let opening = delimited(
        char('<'),
        name,
        (attributes, white, opt(char('/')), char('>')),
    );
    alt((closing, opening)).parse(input)
}

fn name(input: &str) -> IResult<&str, &str> {
    let letter = satisfy(|c| c.is_ascii_alphabetic());
    recognize((
        letter,
        take_while(|c: char| c.is_ascii_alphanumeric() || c == '-'),
    ))
    .parse(input)
}

fn white(input: &str) -> IResult<&str, &str> {
    take_while(is_white).parse(input)
}

fn is_white(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

fn attribute(input: &str) -> IResult<&str, ()> {
    let first = satisfy(|c| c.is_ascii_alphabetic() || matches!(c, '_' | ':'));
    let rest =
        take_while(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '.' | '-'));
    let bare = take_while1(|c| !is_white(c) && !matches!(c, '"' | '\'' | '=' | '<' | '>' | '`'));
    let single = delimited(char('\''), take_while(|c| c != '\''), char('\''));
    let double = delimited(char('"'), take_while(|c| c != '"'), char('"'));
    let equals = (white, char('='), white);
    let attribute_value = preceded(equals, alt((bare, single, double)));
    value(
        (),
        (take_while1(is_white), first, rest, opt(attribute_value)),
    )
    .parse(input)
}

/// Reads raw HTML within a line. What it has once looked for in vain in the rest of a text it does
/// not look for again, so a text of nothing but openings costs no more than its length.
#[derive(Default)]
pub(super) struct InlineHtml {
    missing: [bool; 4],
}

/// The forms of inline HTML that end with a text.
const DELIMITED: [(&str, &str); 4] = [
    ("<!--", "-->"),
    ("<?", "?>"),
    ("<![CDATA[", "]]>"),
    ("<!", ">"),
];

impl InlineHtml {
    /// The length of the raw HTML that a text starts with.
    pub fn length(&mut self, text: &str) -> Option<usize> {
        if let Some(length) = ["<!-->", "<!--->"]
            .iter()
            .find(|form| text.starts_with(**form))
        {
            return Some(length.len());
        }
        for ((start, end), missing) in DELIMITED.into_iter().zip(&mut self.missing) {
            let Some(rest) = text.strip_prefix(start) else {
                continue;
            };
            if start == "<!" && !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
                return None;
            }
            if *missing {
                return None;
            }
            let found = rest.find(end).map(|at| start.len() + at + end.len());
            *missing = found.is_none();
            return found;
        }
        complete_tag(text)
            .ok()
            .map(|(rest, _)| text.len() - rest.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seven_kinds() {
        assert_eq!(block_start("<PRE>", true), Some(HtmlEnd::RawText));
        assert_eq!(block_start("<!-- a", true), Some(HtmlEnd::Text("-->")));
        assert_eq!(block_start("<?php", true), Some(HtmlEnd::Text("?>")));
        assert_eq!(block_start("<!doctype", true), Some(HtmlEnd::Text(">")));
        assert_eq!(block_start("<![CDATA[", true), Some(HtmlEnd::Text("]]>")));
        assert_eq!(block_start("</div x", true), Some(HtmlEnd::Blank));
        assert_eq!(block_start("<x-y a='1' b> ", false), Some(HtmlEnd::Blank));
        assert_eq!(block_start("<x-y>", true), None);
        assert_eq!(block_start("<x-y> a", false), None);
        assert_eq!(block_start("</pre>", false), None);
        assert!(HtmlEnd::RawText.is_in("a </ x </Style> b"));
        assert!(!HtmlEnd::RawText.is_in("</styles>"));
    }

    #[test]
    fn within_a_line() {
        let length = |text| InlineHtml::default().length(text);
        assert_eq!(length("<a href=\"x>\" >b"), Some(14));
        assert_eq!(length("<!-->x-->"), Some(5));
        assert_eq!(length("<!-- a --> b"), Some(10));
        assert_eq!(length("</a >"), Some(5));
        assert_eq!(length("<a b = >"), None);
        assert_eq!(length("< a>"), None);
        assert_eq!(length("<![a"), None);
    }
}
