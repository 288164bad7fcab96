//! The blocks of a section or of the H1 body: Lua and the prose before it (spec F90 to F101).

use super::body::Place;
use super::error::{ParseError, ParseErrorKind};
use super::markdown::{LuaFence, Mark, MarkKind};
use super::tree::{Block, LuaBlock};
use std::ops::Range;

/// Whose blocks they are.
#[derive(Clone, Copy)]
pub(super) enum Owner<'a> {
    /// The H1 body, by its title.
    H1(&'a str),
    /// A section, by its name.
    Section(&'a str),
}

impl Owner<'_> {
    fn name(&self) -> &str {
        match self {
            Self::H1(name) | Self::Section(name) => name,
        }
    }

    /// The label of a Lua block (spec F93).
    fn label(&self, first: bool, last: bool) -> String {
        match self {
            Self::H1(title) => format!("H1 `{title}` lua"),
            Self::Section(name) if first => format!("section `{name}` prologue"),
            Self::Section(name) if last => format!("section `{name}` epilog"),
            Self::Section(name) => format!("section `{name}` lua"),
        }
    }
}

/// The content of a section or of the H1 body.
#[derive(Default)]
pub(super) struct Content {
    pub blocks: Vec<Block>,
    pub library: Option<LuaBlock>,
    /// Where the last prose starts in the file.
    pub prose_start: usize,
}

/// The text since the last fence or break.
struct Pending<'a> {
    source: &'a str,
    /// The text before the last shared fence.
    carried: String,
    start: usize,
}

impl Pending<'_> {
    fn restart(&mut self, start: usize) {
        self.carried.clear();
        self.start = start;
    }

    /// Leaves the bytes from `start` to `end` out.
    fn skip(&mut self, start: usize, end: usize) {
        self.carried.push_str(&self.source[self.start..start]);
        self.start = end;
    }

    fn is_blank(&self, end: usize) -> bool {
        self.carried.trim().is_empty() && self.source[self.start..end].trim().is_empty()
    }

    /// The text up to `end`, trimmed, and where it starts in the file.
    fn text(&self, end: usize) -> (String, usize) {
        let last = &self.source[self.start..end];
        if self.carried.is_empty() {
            let kept = trim(last);
            return (last[kept.clone()].to_owned(), self.start + kept.start);
        }
        let whole = format!("{}{last}", self.carried);
        (whole[trim(&whole)].to_owned(), self.start)
    }
}

/// A text without its leading and trailing blank lines and its last line end (spec F100).
fn trim(text: &str) -> Range<usize> {
    let first = text.len() - text.trim_start().len();
    let start = text[..first].rfind('\n').map_or(0, |at| at + 1);
    let last = text.trim_end().len();
    let end = text[last..].find('\n').map_or(text.len(), |at| last + at);
    let end = if end < text.len() && text[..end].ends_with('\r') {
        end - 1
    } else {
        end
    };
    if first == text.len() {
        0..0
    } else {
        start..end
    }
}

/// Builds the blocks of the bytes in `span`, whose marks these are.
pub(super) fn read(
    place: &Place<'_>,
    owner: Owner<'_>,
    span: Range<usize>,
    marks: &[Mark],
) -> Result<Content, ParseError> {
    let mut content = Content::default();
    let mut pending = Pending {
        source: place.source,
        carried: String::new(),
        start: span.start,
    };
    for mark in marks {
        let Range { start, end } = mark.span;
        match &mark.kind {
            MarkKind::Break => pending.restart(end),
            MarkKind::Lua(fence) => {
                let first = content.blocks.is_empty() && pending.is_blank(start);
                check(place, owner, mark, fence, first)?;
                content.prose(&pending, start);
                let block = lua(place, mark, fence, String::new());
                content.blocks.push(Block::Lua(block));
                pending.restart(end);
            }
            MarkKind::Shared(fence) => {
                check(place, owner, mark, fence, false)?;
                content.library = Some(lua(place, mark, fence, "prompt shared library".to_owned()));
                pending.skip(start, end);
            }
            MarkKind::Code | MarkKind::Heading(..) => {}
        }
    }
    if !pending.is_blank(span.end) {
        content.prose(&pending, span.end);
    }
    content.blocks.shrink_to_fit();
    let last = content.blocks.len().wrapping_sub(1);
    for (index, block) in content.blocks.iter_mut().enumerate() {
        if let Block::Lua(lua) = block {
            lua.label = owner.label(index == 0, index == last);
        }
    }
    Ok(content)
}

impl Content {
    /// Adds the pending prose, if it is not blank or stands between two fences (spec F90).
    fn prose(&mut self, pending: &Pending<'_>, end: usize) {
        let (text, start) = pending.text(end);
        if !text.is_empty() || !self.blocks.is_empty() {
            self.blocks.push(Block::Prose(text));
            self.prose_start = start;
        }
    }
}

fn lua(place: &Place<'_>, mark: &Mark, fence: &LuaFence, label: String) -> LuaBlock {
    let source = place.source[fence.source.clone()].to_owned();
    LuaBlock {
        source,
        line: mark.line.saturating_add(1),
        label,
    }
}

/// The rules on how a fence is closed (spec F86, F87).
fn check(
    place: &Place<'_>,
    owner: Owner<'_>,
    mark: &Mark,
    fence: &LuaFence,
    first: bool,
) -> Result<(), ParseError> {
    let name = owner.name();
    let message = match (fence.closed, fence.reopened) {
        (true, false) => return Ok(()),
        (true, true) => format!("section `{name}` `lua` fence is not closed exactly"),
        (false, _) if matches!(mark.kind, MarkKind::Shared(_)) => {
            "prompt `lua shared` fence is not closed".to_owned()
        }
        (false, _) if first => format!("section `{name}` prologue `lua` fence is not closed"),
        (false, false) => format!("section `{name}` epilog `lua` fence is not closed"),
        (false, true) => format!("section `{name}` `lua` fence is not closed"),
    };
    let opening = mark.span.start..fence.source.start;
    Err(place.failure_at(ParseErrorKind::Fence, message, mark.line, opening))
}

#[cfg(test)]
mod tests {
    use super::trim;

    #[test]
    fn blank_lines_around_go_and_nothing_else() {
        let cases = [
            ("\n \n  a  \n\nb \t\r\n\r\n", "  a  \n\nb \t"),
            ("a\r\n", "a"),
            ("a\r", "a\r"),
            (" \n\t\n", ""),
            ("", ""),
            ("a", "a"),
        ];
        for (text, kept) in cases {
            assert_eq!(&text[trim(text)], kept, "{text:?}");
        }
    }
}
