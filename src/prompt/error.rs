//! What a prompt file can fail with before it runs (spec F129 to F135).

use std::fmt;
use std::ops::Range;

/// The five ways a file fails to parse (spec F129).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseErrorKind {
    /// The YAML block and every value the contract checks.
    Frontmatter,
    /// The H1 title and the heading tree.
    Structure,
    /// Where Lua fences stand and whether they are closed.
    Fence,
    /// The items of a list section.
    List,
    /// A Lua region that does not compile.
    Lua,
}

impl ParseErrorKind {
    /// The kind's name as events, records and the command line show it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Frontmatter => "Frontmatter",
            Self::Structure => "Structure",
            Self::Fence => "Fence",
            Self::List => "List",
            Self::Lua => "Lua",
        }
    }

    /// The kind of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        [
            Self::Frontmatter,
            Self::Structure,
            Self::Fence,
            Self::List,
            Self::Lua,
        ]
        .into_iter()
        .find(|kind| kind.name() == name)
    }
}

/// Where a failure is, each part only when it is known (spec F32, F133, F134).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The prompt's name, or `<prompt>` for a frontmatter failure.
    pub path: Option<String>,
    /// The 1-based line of the file.
    pub line: Option<u32>,
    /// The 1-based column, counted in bytes.
    pub column: Option<u32>,
    /// The byte span in the file.
    pub span: Option<Range<usize>>,
}

/// A file that does not parse: its kind, its exact message and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Which part of the file failed.
    pub kind: ParseErrorKind,
    /// The message, exactly as the specification words it.
    pub message: String,
    /// The place, as far as it is known.
    pub location: Location,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ParseError {}
