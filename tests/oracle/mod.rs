//! The oracle for block structure: `pulldown-cmark` reads the same text, and its top-level
//! headings, breaks and fenced code must be ours.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use runvil::prompt::markdown::{Fences, Mark, MarkKind, Outline};

/// A top-level heading, break or fence and the offset of its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub kind: Kind,
    pub line: usize,
}

/// What is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Heading(u8, String),
    Break,
    Code,
}

/// What our outline holds where exact Lua fences count for nothing.
pub fn ours(text: &str) -> Vec<Found> {
    found(text, &Outline::read(text, 0, 1, Fences::Plain))
}

/// What our outline holds besides its Lua regions, and the text with a break in place of each of
/// their lines: both must come to the same, but for those breaks (spec F78, F85).
pub fn around_lua(text: &str) -> (Vec<Found>, Vec<Found>) {
    let outline = Outline::read(text, 0, 1, Fences::Lua { shared: true });
    let mut replaced = String::with_capacity(text.len());
    let mut copied = 0;
    let mut lua_lines = Vec::new();
    for mark in &outline.marks {
        if let MarkKind::Lua(_) | MarkKind::Shared(_) = mark.kind {
            replaced.push_str(&text[copied..mark.span.start]);
            copied = mark.span.end;
            let lines = text[mark.span.clone()].lines().count();
            let first = line_of(text, mark.span.start);
            lua_lines.extend(first..first + lines);
            replaced.push_str(&"***\n".repeat(lines));
        }
    }
    replaced.push_str(&text[copied..]);
    let around = found(text, &outline)
        .into_iter()
        .filter(|found| !lua_lines.contains(&found.line));
    let plain = ours(&replaced)
        .into_iter()
        .filter(|found| !lua_lines.contains(&found.line));
    (around.collect(), plain.collect())
}

fn found(text: &str, outline: &Outline) -> Vec<Found> {
    let found = |mark: &Mark| {
        let kind = match &mark.kind {
            MarkKind::Heading(level, raw) => {
                Kind::Heading(*level, outline.heading_text(&text[raw.clone()]))
            }
            MarkKind::Break => Kind::Break,
            MarkKind::Code | MarkKind::Lua(_) | MarkKind::Shared(_) => Kind::Code,
        };
        Found {
            kind,
            line: line_of(text, mark.span.start),
        }
    };
    outline.marks.iter().map(found).collect()
}

/// What `pulldown-cmark` finds.
pub fn theirs(text: &str) -> Vec<Found> {
    let mut all = Vec::new();
    let mut depth = 0;
    let mut heading: Option<(u8, String, usize)> = None;
    for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        match &event {
            Event::Start(tag) => {
                if depth == 0 {
                    match tag {
                        Tag::Heading { level, .. } => {
                            heading = Some((*level as u8, String::new(), range.start));
                        }
                        Tag::CodeBlock(CodeBlockKind::Fenced(_)) => {
                            all.push(Found {
                                kind: Kind::Code,
                                line: line_of(text, range.start),
                            });
                        }
                        _ => {}
                    }
                }
                depth += 1;
            }
            Event::End(tag) => {
                depth -= 1;
                if depth == 0
                    && let (TagEnd::Heading(_), Some((level, text_of, start))) =
                        (tag, heading.take())
                {
                    let kind = Kind::Heading(level, text_of.trim().to_owned());
                    all.push(Found {
                        kind,
                        line: line_of(text, start),
                    });
                }
            }
            Event::Rule if depth == 0 => {
                all.push(Found {
                    kind: Kind::Break,
                    line: line_of(text, range.start),
                });
            }
            _ => {}
        }
        if let Some((_, text, _)) = &mut heading {
            match event {
                Event::Text(part) | Event::Code(part) => text.push_str(&part),
                Event::SoftBreak | Event::HardBreak => text.push(' '),
                _ => {}
            }
        }
    }
    all
}

fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

/// A text without what the two read differently on purpose, and without what `pulldown-cmark` reads
/// otherwise than CommonMark says:
///
/// - a lone CR ends no line here (spec F14), and a NUL is U+FFFD;
/// - it takes some control characters for white space, and others for parts of a destination;
/// - it takes a `>` after a tab for the marker of a quote, however far it is indented;
/// - it takes a tab for a part of an attribute's value;
/// - it takes an escaped bracket after a closing one for the start of a label;
/// - it takes the closing run of an ATX heading for text where a tab is next to it, and a tab after a
///   closing fence makes it none;
/// - it ends a block of raw text only with the closing tag of the same name, and lets such a
///   closing tag start a block;
/// - it ends a CDATA section within a line with the first `]>`;
/// - it takes a title right behind a destination in angle brackets, without white space between.
pub fn normalise(text: &str) -> String {
    let odd = |c: char| c.is_ascii_control() && !matches!(c, '\n' | '\t');
    let mut text = text.replace(odd, "");
    for name in ["script", "style", "textarea"] {
        text = replace_ignoring_case(&text, name, "pre");
    }
    text = replace_ignoring_case(&text, "</pre", "x</pre");
    text = text.replace("<![CDATA[", "<!A").replace("]\\[", "] [");
    let (mut after_tab, mut after_text) = (false, false);
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        after_tab = c == '\t' || (after_tab && matches!(c, ' ' | '>'));
        after_text = c != '\n' && (after_text || c.is_ascii_alphabetic() || matches!(c, '=' | '#'));
        match c {
            '>' if after_tab => {}
            '\t' if after_text => plain.push(' '),
            '#' if plain.ends_with('\t') => plain.push_str(" #"),
            _ => plain.push(c),
        }
    }
    let text = plain;
    let lines: Vec<_> = text.split('\n').map(trim_tabs).collect();
    let mut text = lines.join("\n");
    for quote in ["\"", "'", "("] {
        text = text.replace(&format!(">{quote}"), &format!("> {quote}"));
    }
    text
}

/// A line without the white space at its end, where there is a tab in it.
fn trim_tabs(line: &str) -> &str {
    let trimmed = line.trim_end_matches([' ', '\t']);
    if line[trimmed.len()..].contains('\t') {
        trimmed
    } else {
        line
    }
}

fn replace_ignoring_case(text: &str, from: &str, to: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut replaced = String::with_capacity(text.len());
    let mut copied = 0;
    for (at, found) in lower.match_indices(from) {
        replaced.push_str(&text[copied..at]);
        replaced.push_str(to);
        copied = at + found.len();
    }
    replaced + &text[copied..]
}
