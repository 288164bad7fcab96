//! The body of a file: title, H1 body and section tree, in the order spec F130 checks them.

use super::blocks::{self, Owner};
use super::error::{Location, ParseError, ParseErrorKind};
use super::lines::line_at;
use super::list::{self, List};
use super::markdown::{Fences, Mark, MarkKind, Outline};
use super::reference::Names;
use super::tree::{Block, Dialect, LuaBlock, Section, SectionId};
use std::ops::Range;

/// What the body of a file holds.
pub(super) struct Body {
    pub title: String,
    pub h1: Vec<Block>,
    pub library: Option<LuaBlock>,
    pub sections: Vec<Section>,
    pub top: Vec<SectionId>,
    pub names: Names,
}

/// Where a failure of the body is. It always names the prompt (spec F133).
pub(super) struct Place<'a> {
    pub source: &'a str,
    pub prompt: &'a str,
}

impl Place<'_> {
    /// A failure with no other place than the prompt.
    fn failure(&self, kind: ParseErrorKind, message: String) -> ParseError {
        let location = Location {
            path: Some(self.prompt.to_owned()),
            ..Location::default()
        };
        ParseError {
            kind,
            message,
            location,
        }
    }

    /// A failure at some lines, of which `line` is the first: at their text, without its
    /// indentation and its last line end.
    pub fn failure_at(
        &self,
        kind: ParseErrorKind,
        message: String,
        line: u32,
        lines: Range<usize>,
    ) -> ParseError {
        let text = &self.source[lines.clone()];
        let indent = text.len() - text.trim_start_matches([' ', '\t']).len();
        let length = text.trim_end_matches(['\n', '\r']).len();
        let mut failure = self.failure(kind, message);
        failure.location.line = Some(line);
        failure.location.column = u32::try_from(indent + 1).ok();
        failure.location.span = Some(lines.start + indent..lines.start + length.max(indent));
        failure
    }

    /// A failure at a mark.
    fn failure_of(&self, kind: ParseErrorKind, message: String, mark: &Mark) -> ParseError {
        self.failure_at(kind, message, mark.line, mark.span.clone())
    }

    /// A failure at the line that holds an offset.
    fn failure_in_line(&self, kind: ParseErrorKind, message: String, at: usize) -> ParseError {
        let start = self.source[..at].rfind('\n').map_or(0, |end| end + 1);
        let end = self.source[at..]
            .find('\n')
            .map_or(self.source.len(), |length| at + length);
        self.failure_at(kind, message, line_at(self.source, 1, at), start..end)
    }
}

/// Reads the body that starts at an offset of the file, on line `line`.
pub(super) fn read(
    place: &Place<'_>,
    dialect: Dialect,
    offset: usize,
    line: u32,
) -> Result<Body, ParseError> {
    let shared = dialect == Dialect::PromptForge;
    let outline = Outline::read(place.source, offset, line, Fences::Lua { shared });
    let (title_at, title) = title(place, &outline)?;
    let tree = Tree::read(place, &outline, title_at)?;
    if shared {
        check_shared(place, &outline, title_at)?;
    }
    let Tree {
        mut sections,
        top,
        names,
    } = tree;
    let mut contents = contents(place.source, &outline.marks, title_at);
    let (span, marks) = contents.next().unwrap_or_default();
    let h1 = blocks::read(place, Owner::H1(&title), span, marks)?;
    let mut empty_item = None;
    for (section, (span, marks)) in sections.iter_mut().zip(contents) {
        let content = blocks::read(place, Owner::Section(&section.name), span.clone(), marks)?;
        section.blocks = content.blocks;
        let [Block::Prose(prose)] = section.blocks.as_slice() else {
            continue;
        };
        match list::read(prose) {
            List::None => {}
            List::Items(items) => section.items = Some(items),
            List::EmptyItem(at) => {
                let message = format!("empty bullet item in list section `{}`", section.name);
                empty_item.get_or_insert((message, content.prose_start + at));
            }
        }
    }
    if let Some((message, at)) = empty_item {
        return Err(place.failure_in_line(ParseErrorKind::List, message, at));
    }
    Ok(Body {
        title,
        h1: h1.blocks,
        library: h1.library,
        sections,
        top,
        names,
    })
}

/// The H1 rules (spec F57 to F59): where the title is among the marks, and its text.
fn title(place: &Place<'_>, outline: &Outline) -> Result<(usize, String), ParseError> {
    let mut titles = outline
        .marks
        .iter()
        .enumerate()
        .filter_map(|(at, mark)| match &mark.kind {
            MarkKind::Heading(1, raw) => Some((at, raw.clone())),
            _ => None,
        });
    let failure = |message: &str| place.failure(ParseErrorKind::Structure, message.to_owned());
    let (at, raw) = titles
        .next()
        .ok_or_else(|| failure("prompt requires an H1 title"))?;
    if titles.next().is_some() {
        return Err(failure("prompt must contain exactly one H1 title"));
    }
    let title = outline.heading_text(&place.source[raw]);
    if title.is_empty() {
        return Err(failure("prompt H1 title must not be empty"));
    }
    Ok((at, title))
}

/// Where `lua shared` openings may stand (spec F117, F118). In the notes such a line opens ordinary
/// fenced code, but counts.
fn check_shared(place: &Place<'_>, outline: &Outline, title_at: usize) -> Result<(), ParseError> {
    let openings = outline
        .marks
        .iter()
        .enumerate()
        .filter(|(at, mark)| match mark.kind {
            MarkKind::Shared(_) => true,
            MarkKind::Code if *at < title_at => is_shared_opening(&place.source[mark.span.clone()]),
            _ => false,
        });
    let openings: Vec<_> = openings.collect();
    if let Some((_, mark)) = openings.get(1) {
        let message = "prompt allows at most one `lua shared` fence".to_owned();
        return Err(place.failure_of(ParseErrorKind::Fence, message, mark));
    }
    let first_section = outline.marks.iter().skip(title_at + 1);
    let h1_marks = first_section.take_while(|mark| !matches!(mark.kind, MarkKind::Heading(..)));
    let h1_end = title_at + 1 + h1_marks.count();
    match openings.first() {
        Some((at, mark)) if !(title_at..h1_end).contains(at) => {
            let message = "`lua shared` fence is allowed only in H1".to_owned();
            Err(place.failure_of(ParseErrorKind::Fence, message, mark))
        }
        _ => Ok(()),
    }
}

fn is_shared_opening(code: &str) -> bool {
    code.lines().next() == Some("```lua shared")
}

/// What follows each heading from the title on: its bytes and its marks.
fn contents<'a>(
    source: &str,
    marks: &'a [Mark],
    title_at: usize,
) -> impl Iterator<Item = (Range<usize>, &'a [Mark])> {
    let mut next = Some(title_at);
    let end = source.len();
    std::iter::from_fn(move || {
        let heading = next?;
        let own = heading + 1;
        let is_heading = |mark: &Mark| matches!(mark.kind, MarkKind::Heading(..));
        next = marks[own..].iter().position(is_heading).map(|at| own + at);
        let span = marks[heading].span.end..next.map_or(end, |next| marks[next].span.start);
        Some((span, &marks[own..next.unwrap_or(marks.len())]))
    })
}

/// The sections without their content.
#[derive(Default)]
struct Tree {
    sections: Vec<Section>,
    top: Vec<SectionId>,
    names: Names,
}

impl Tree {
    /// Builds the tree of the headings after the title (spec F66 to F69).
    fn read(place: &Place<'_>, outline: &Outline, title_at: usize) -> Result<Self, ParseError> {
        let mut tree = Self::default();
        let mut open: Vec<SectionId> = Vec::new();
        for mark in &outline.marks[title_at + 1..] {
            if let MarkKind::Heading(level, raw) = &mark.kind {
                let name = outline.heading_text(&place.source[raw.clone()]);
                tree.add(&mut open, *level, name, mark.line)
                    .map_err(|message| {
                        place.failure_of(ParseErrorKind::Structure, message, mark)
                    })?;
            }
        }
        Ok(tree)
    }

    /// Adds a section after the open ones.
    fn add(
        &mut self,
        open: &mut Vec<SectionId>,
        level: u8,
        name: String,
        line: u32,
    ) -> Result<(), String> {
        if name.is_empty() {
            return Err(format!("an H{level} section heading must not be empty"));
        }
        while open
            .last()
            .is_some_and(|id| self.sections[id.0 as usize].level >= level)
        {
            open.pop();
        }
        let parent = open.last().copied();
        let above = parent.map_or(1, |id| self.sections[id.0 as usize].level);
        if level != above + 1 {
            let missing = above + 1;
            return Err(format!(
                "section `{name}` is an orphan H{level} heading with no parent H{missing}"
            ));
        }
        let id = SectionId(u32::try_from(self.sections.len()).unwrap_or(u32::MAX));
        if let Some(first) = self.names.insert(parent, &name, id) {
            let first = self.sections[first.0 as usize].line;
            return Err(format!(
                "duplicate sibling section name `{name}`: first declared at line {first}, again at \
                 line {line}; sibling section names must be unique"
            ));
        }
        let siblings = match parent {
            Some(parent) => &mut self.sections[parent.0 as usize].children,
            None => &mut self.top,
        };
        let position = u32::try_from(siblings.len()).unwrap_or(u32::MAX);
        siblings.push(id);
        let (children, blocks, items) = (Vec::new(), Vec::new(), None);
        self.sections.push(Section {
            name,
            level,
            line,
            parent,
            position,
            children,
            blocks,
            items,
        });
        open.push(id);
        Ok(())
    }
}
