//! What the block structure of a text comes to: its top-level marks.

use super::block::Scanner;
use super::inline;
use super::link::Definitions;
use std::ops::Range;

/// How exact Lua fences are read (spec F78, F79).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fences {
    /// As any other fenced code.
    Plain,
    /// As Lua regions, from the first H1 heading on.
    Lua {
        /// Whether `lua shared` opens a region too.
        shared: bool,
    },
}

/// The top-level marks of a text, in its order.
#[derive(Debug)]
pub struct Outline {
    /// The marks.
    pub marks: Vec<Mark>,
    pub(super) definitions: Definitions,
}

impl Outline {
    /// Reads a source from an offset on, which is where line `line` starts.
    pub fn read(source: &str, offset: usize, line: u32, fences: Fences) -> Self {
        Scanner::new(source, fences).scan(offset, line)
    }

    /// A heading's text, as spec F61 reduces it.
    pub fn heading_text(&self, raw: &str) -> String {
        inline::text(raw, &self.definitions)
    }
}

/// A top-level heading, break or fence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// What it is.
    pub kind: MarkKind,
    /// The number of its first line.
    pub line: u32,
    /// Its whole lines, as bytes of the source.
    pub span: Range<usize>,
}

/// What a mark is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// A heading: its level, and where its raw text is.
    Heading(u8, Range<usize>),
    /// A thematic break.
    Break,
    /// Fenced code that is no Lua region.
    Code,
    /// A Lua block.
    Lua(LuaFence),
    /// A shared library.
    Shared(LuaFence),
}

/// What is known about a Lua region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LuaFence {
    /// Its source lines.
    pub source: Range<usize>,
    /// Whether an exact closing line ends it (spec F80).
    pub closed: bool,
    /// Whether an inexact closing line and, after that, an exact opening stand in its source
    /// (spec F86, F87).
    pub reopened: bool,
}
