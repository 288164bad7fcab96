//! Block structure: the containers and the leaf that are open, line by line.
//!
//! The steps are those of CommonMark's appendix: match the open containers, see what the rest of
//! the line starts, else continue the open paragraph or open one.

use super::cursor::Cursor;
use super::html::{self, HtmlEnd};
use super::link::Definitions;
use super::outline::{Fences, LuaFence, Mark, MarkKind, Outline};
use super::start;
use crate::prompt::lines::{Line, Lines, line_at};
use std::ops::Range;

/// A block that holds other blocks.
#[derive(Clone, Copy, Debug)]
enum Container {
    Quote,
    /// A list item: the columns its content is indented by, and whether it has none yet.
    Item {
        indent: usize,
        empty: bool,
    },
}

/// The innermost open block, where it is a leaf that the next line may continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaf {
    None,
    Paragraph,
    /// Fenced code, with its place among the marks where it is top-level.
    Code {
        marker: char,
        length: usize,
        mark: Option<usize>,
    },
    Html(HtmlEnd),
}

/// The open paragraph.
#[derive(Debug, Default)]
struct Paragraph {
    start: usize,
    line: u32,
    /// Where containers hold it: its text without their markers, if it may start with definitions.
    nested: Option<String>,
}

/// The exact opening of a Lua region.
#[derive(Clone, Copy, Debug)]
enum Opening {
    Lua,
    Shared,
}

pub(super) struct Scanner<'a> {
    source: &'a str,
    fences: Fences,
    /// Whether the H1 heading has come, so that exact fences count (spec F60).
    exact: bool,
    marks: Vec<Mark>,
    definitions: Definitions,
    containers: Vec<Container>,
    /// The places of the quotes among the containers.
    quotes: Vec<usize>,
    leaf: Leaf,
    paragraph: Paragraph,
    line: Line,
    number: u32,
}

impl<'a> Scanner<'a> {
    pub fn new(source: &'a str, fences: Fences) -> Self {
        Self {
            source,
            fences,
            exact: false,
            marks: Vec::new(),
            definitions: Definitions::default(),
            containers: Vec::new(),
            quotes: Vec::new(),
            leaf: Leaf::None,
            paragraph: Paragraph::default(),
            line: Line {
                start: 0,
                end: 0,
                next: 0,
            },
            number: 0,
        }
    }

    pub fn scan(mut self, offset: usize, first: u32) -> Outline {
        let mut lines = Lines::new(self.source, offset);
        self.number = first;
        while let Some(line) = lines.next() {
            self.line = line;
            match self.read_line() {
                None => self.number = self.number.saturating_add(1),
                Some(opening) => self.region(opening, &mut lines),
            }
        }
        let end = self.source.len();
        self.line = Line {
            start: end,
            end,
            next: end,
        };
        self.close(0);
        Outline {
            marks: self.marks,
            definitions: self.definitions,
        }
    }

    /// Reads a line, unless it opens a Lua region.
    fn read_line(&mut self) -> Option<Opening> {
        let text = self.line.text(self.source);
        let plain = text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
        if plain && self.containers.is_empty() && matches!(self.leaf, Leaf::None | Leaf::Paragraph)
        {
            if self.leaf == Leaf::None {
                self.open_paragraph(text);
            }
            return None;
        }
        let mut cursor = Cursor::new(text);
        let matched = self.match_containers(&mut cursor);
        if matched == self.containers.len() && self.continue_leaf(&cursor) {
            return None;
        }
        if cursor.is_blank() {
            self.close(matched);
            return None;
        }
        if self.exact
            && let Some(opening) = self.opening(text)
        {
            self.close(0);
            return Some(opening);
        }
        self.read_starts(cursor, matched);
        None
    }

    /// The exact opening that a line is.
    fn opening(&self, text: &str) -> Option<Opening> {
        match (text, self.fences) {
            ("```lua", Fences::Lua { .. }) => Some(Opening::Lua),
            ("```lua shared", Fences::Lua { shared: true }) => Some(Opening::Shared),
            _ => None,
        }
    }

    /// Passes the markers of the open containers and says how many of them the line continues.
    ///
    /// Items continue on a blank line without a marker, and there may be any number of them: they
    /// are not visited one by one.
    fn match_containers(&self, cursor: &mut Cursor<'_>) -> usize {
        for (place, container) in self.containers.iter().enumerate() {
            if cursor.is_blank() {
                let next = self.quotes.partition_point(|quote| *quote < place);
                let empty = matches!(
                    self.containers.last(),
                    Some(Container::Item { empty: true, .. })
                );
                let all = self.containers.len() - usize::from(empty);
                return self.quotes.get(next).copied().unwrap_or(all);
            }
            match *container {
                Container::Quote if cursor.indent() < 4 && cursor.text().starts_with('>') => {
                    skip_quote(cursor);
                }
                Container::Item { indent, .. } if cursor.indent() >= indent => {
                    cursor.skip_columns(indent);
                }
                _ => return place,
            }
        }
        self.containers.len()
    }

    /// Gives the line to the open leaf, where that is code or HTML.
    fn continue_leaf(&mut self, cursor: &Cursor<'_>) -> bool {
        match self.leaf {
            Leaf::Code {
                marker,
                length,
                mark,
            } => {
                if cursor.indent() < 4 && start::closes_fence(cursor.text(), marker, length) {
                    self.leaf = Leaf::None;
                    self.end_mark(mark, self.line.next);
                }
                true
            }
            Leaf::Html(HtmlEnd::Blank) if cursor.is_blank() => {
                self.leaf = Leaf::None;
                true
            }
            Leaf::Html(end) => {
                if end.is_in(cursor.text()) {
                    self.leaf = Leaf::None;
                }
                true
            }
            Leaf::None | Leaf::Paragraph => false,
        }
    }

    /// Opens what the rest of a line starts, containers first.
    fn read_starts(&mut self, mut cursor: Cursor<'_>, mut depth: usize) {
        // Where a search for a thematic break has failed, none starts before that place.
        let mut no_break_before = 0;
        loop {
            // A paragraph that the line may continue, and whether it is the line's own.
            let open = self.leaf == Leaf::Paragraph;
            let own = open && depth == self.containers.len();
            let text = cursor.text();
            if cursor.indent() >= 4 {
                if !open {
                    self.close(depth);
                    return;
                }
                break;
            }
            match text.as_bytes().first() {
                Some(b'>') => {
                    self.close(depth);
                    self.quotes.push(depth);
                    self.containers.push(Container::Quote);
                    skip_quote(&mut cursor);
                    depth += 1;
                    if cursor.is_blank() {
                        return;
                    }
                    continue;
                }
                Some(b'#') => {
                    if let Some((level, content)) = start::atx_heading(text) {
                        self.close(depth);
                        let at = self.line.start + cursor.text_offset();
                        let content = at + content.start..at + content.end;
                        self.heading(level, content, self.line.start, self.number);
                        return;
                    }
                }
                Some(b'`' | b'~') => {
                    if let Some((marker, length)) = start::fence(text) {
                        self.close(depth);
                        let mark = self.mark(MarkKind::Code);
                        self.leaf = Leaf::Code {
                            marker,
                            length,
                            mark,
                        };
                        return;
                    }
                }
                Some(b'<') => {
                    if let Some(end) = html::block_start(text, open) {
                        self.close(depth);
                        self.leaf = if end.is_in(text) {
                            Leaf::None
                        } else {
                            Leaf::Html(end)
                        };
                        return;
                    }
                }
                Some(b'=' | b'-') if own => {
                    if let Some(level) = start::setext_underline(text)
                        && self.underline(level)
                    {
                        return;
                    }
                }
                _ => {}
            }
            let offset = cursor.text_offset();
            if offset >= no_break_before {
                match start::thematic_break(text) {
                    Ok(()) => {
                        self.close(depth);
                        self.mark(MarkKind::Break);
                        return;
                    }
                    Err(at) => no_break_before = offset + at,
                }
            }
            match self.item(&mut cursor, depth, own) {
                Some(Container::Item { empty: true, .. }) => return,
                Some(_) => depth += 1,
                None => break,
            }
        }
        let text = cursor.text();
        if self.leaf == Leaf::Paragraph {
            if let Some(nested) = &mut self.paragraph.nested {
                nested.push('\n');
                nested.push_str(text);
            }
        } else {
            self.close(depth);
            self.open_paragraph(text);
        }
    }

    /// Opens a list item, where the line has a marker that may open one.
    fn item(&mut self, cursor: &mut Cursor<'_>, depth: usize, own: bool) -> Option<Container> {
        let marker = start::list_marker(cursor.text())?;
        let rest = &cursor.text()[marker.length..];
        let nothing = rest.trim_start_matches(start::is_space).is_empty();
        if own && (nothing || !marker.interrupts) {
            return None;
        }
        let before = cursor.indent() + marker.length;
        self.close(depth);
        cursor.skip_text(marker.length);
        let after = if nothing || cursor.indent() > 4 {
            1
        } else {
            cursor.indent()
        };
        cursor.skip_columns(after);
        let item = Container::Item {
            indent: before + after,
            empty: nothing,
        };
        self.containers.push(item);
        Some(item)
    }

    fn open_paragraph(&mut self, text: &str) {
        let nested =
            (!self.containers.is_empty() && text.starts_with('[')).then(|| text.to_owned());
        self.paragraph = Paragraph {
            start: self.line.start,
            line: self.number,
            nested,
        };
        self.leaf = Leaf::Paragraph;
    }

    /// Makes the open paragraph a heading, unless it is all definitions.
    fn underline(&mut self, level: u8) -> bool {
        if let Some(nested) = self.paragraph.nested.take() {
            let taken = self.definitions.take(&nested);
            if taken == nested.len() {
                return false;
            }
        } else if self.containers.is_empty() {
            let Range { start, end } = self.paragraph.start..self.line.start;
            let taken = self.take_definitions(start, end);
            let line = line_at(&self.source[start..], self.paragraph.line, taken);
            if start + taken == end {
                self.paragraph = Paragraph {
                    start: end,
                    line,
                    nested: None,
                };
                return false;
            }
            self.leaf = Leaf::None;
            self.heading(level, start + taken..end, start + taken, line);
        }
        self.leaf = Leaf::None;
        true
    }

    /// Takes the definitions at the start of a top-level paragraph.
    fn take_definitions(&mut self, start: usize, end: usize) -> usize {
        let text = &self.source[start..end];
        let first = text.trim_start_matches(start::is_space);
        if first.starts_with('[') {
            self.definitions.take(text)
        } else {
            0
        }
    }

    /// Closes the open leaf and all containers but the first `depth`. The innermost that is left is
    /// about to hold something, or is closed before it ever does.
    fn close(&mut self, depth: usize) {
        match std::mem::replace(&mut self.leaf, Leaf::None) {
            Leaf::Paragraph => match self.paragraph.nested.take() {
                Some(nested) => {
                    self.definitions.take(&nested);
                }
                None if self.containers.is_empty() => {
                    self.take_definitions(self.paragraph.start, self.line.start);
                }
                None => {}
            },
            Leaf::Code { mark, .. } => self.end_mark(mark, self.line.start),
            Leaf::Html(_) | Leaf::None => {}
        }
        self.containers.truncate(depth);
        while self.quotes.last().is_some_and(|quote| *quote >= depth) {
            self.quotes.pop();
        }
        if let Some(Container::Item { empty, .. }) = self.containers.last_mut() {
            *empty = false;
        }
    }

    /// Notes what the current line starts, if it is top-level.
    fn mark(&mut self, kind: MarkKind) -> Option<usize> {
        self.containers.is_empty().then(|| {
            let span = self.line.start..self.line.next;
            self.marks.push(Mark {
                kind,
                line: self.number,
                span,
            });
            self.marks.len() - 1
        })
    }

    fn end_mark(&mut self, mark: Option<usize>, end: usize) {
        if let Some(mark) = mark.and_then(|mark| self.marks.get_mut(mark)) {
            mark.span.end = end;
        }
    }

    /// Notes a heading that ends with the current line, if it is top-level.
    fn heading(&mut self, level: u8, content: Range<usize>, start: usize, line: u32) {
        if self.containers.is_empty() {
            let kind = MarkKind::Heading(level, content);
            self.marks.push(Mark {
                kind,
                line,
                span: start..self.line.next,
            });
            self.exact |= level == 1 && self.fences != Fences::Plain;
        }
    }

    /// Reads a Lua region: all lines up to the first exact closing (spec F80).
    fn region(&mut self, opening: Opening, lines: &mut Lines<'_>) {
        let (first, number) = (self.line, self.number);
        let mut fence = LuaFence {
            source: first.next..first.next,
            closed: false,
            reopened: false,
        };
        let mut inexact = false;
        let mut end = first.next;
        self.number = self.number.saturating_add(1);
        for line in lines {
            self.number = self.number.saturating_add(1);
            end = line.next;
            let text = line.text(self.source);
            if text == "```" {
                fence.closed = true;
                break;
            }
            fence.source.end = line.next;
            fence.reopened |= inexact && self.opening(text).is_some();
            inexact |= closes_inexactly(text);
        }
        let kind = match opening {
            Opening::Lua => MarkKind::Lua(fence),
            Opening::Shared => MarkKind::Shared(fence),
        };
        self.marks.push(Mark {
            kind,
            line: number,
            span: first.start..end,
        });
    }
}

/// Whether CommonMark would close the fence of a Lua block with this line (spec F87).
fn closes_inexactly(text: &str) -> bool {
    let inner = text.trim_start_matches(' ');
    inner.starts_with("```") && text.len() - inner.len() < 4 && start::closes_fence(inner, '`', 3)
}

/// Passes the marker of a quote and the one space that belongs to it.
fn skip_quote(cursor: &mut Cursor<'_>) {
    cursor.skip_text(1);
    cursor.skip_columns(1);
}
