//! What a prompt file can fail with before it runs (spec F129 to F135).

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

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

/// Where a failure is, each part only when it is known (spec F32, F133, F134). Records and the
/// command line write it as an object of what is known (spec C5).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Location {
    /// The prompt's name, or `<prompt>` for a frontmatter failure; of an internal failure of a run,
    /// the file of the engine's source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The 1-based line of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The 1-based column, counted in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The byte span in the file, written as its two ends.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "write_span",
        deserialize_with = "read_span"
    )]
    pub span: Option<Range<usize>>,
}

impl Location {
    /// Whether any of it is known.
    pub fn is_known(&self) -> bool {
        *self != Self::default()
    }
}

fn write_span<S: Serializer>(span: &Option<Range<usize>>, to: S) -> Result<S::Ok, S::Error> {
    let ends = span.as_ref().map(|span| [span.start, span.end]);
    ends.serialize(to)
}

fn read_span<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Range<usize>>, D::Error> {
    let ends = Option::<[usize; 2]>::deserialize(from)?;
    Ok(ends.map(|[start, end]| start..end))
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
