//! The frontmatter: its YAML, its keys, its checks (spec F18 to F50, L106 to L109).

mod declaration;
mod header;
mod id;
mod name;
mod reading;
mod shape;
mod survey;

pub(crate) use name::LUA_GLOBALS;
pub use name::{is_name, reserved};

use super::error::{Location, ParseError, ParseErrorKind};
use super::lines::line_at;
use super::tree::{Contract, Dialect};
use header::{HeaderShape, Version};
use nom::branch::alt;
use nom::bytes::complete::tag;
use nom::character::complete::digit1;
use nom::combinator::value;
use nom::{IResult, Parser};
use reading::{Detail, Failure, Node, Reading, Shape, Visit};
use serde::de::DeserializeSeed;
use std::ops::Range;
use survey::Survey;

/// What the frontmatter says.
pub(super) struct Header {
    pub dialect: Dialect,
    pub name: String,
    pub description: String,
    pub version: Option<String>,
    pub contract: Contract,
}

/// Decodes the YAML at these bytes of a file.
pub(super) fn read(
    source: &str,
    yaml: Range<usize>,
    default: Dialect,
) -> Result<Header, ParseError> {
    let file = Yaml {
        source,
        start: yaml.start,
        yaml: &source[yaml],
    };
    if file.is_empty() {
        return Err(file.failure("missing field `name`".to_owned(), None));
    }
    if let Some(place) = too_deep(file.yaml) {
        return Err(file.failure("recursion limit exceeded".to_owned(), Some(place)));
    }
    let dialect = file.decode(Survey { default })?;
    let shape = HeaderShape(dialect);
    let header = file.decode(shape)?;
    let version = header
        .version
        .map(|version| file.version(shape, version))
        .transpose()?;
    header::check_across(&header.contract).map_err(|text| file.failure(text, None))?;
    let header::Header {
        name,
        description,
        contract,
        ..
    } = header;
    Ok(Header {
        dialect,
        name,
        description,
        version,
        contract,
    })
}

/// The most flow collections that may be open at a time.
const FLOW_DEPTH: usize = 1000;

/// Where the bracket is that opens more levels than a YAML document may have.
///
/// The YAML reader's time for a token grows with the number of open flow collections, so they are
/// bounded before it starts: by all brackets, wherever they stand, which is more than enough.
pub(crate) fn too_deep(yaml: &str) -> Option<usize> {
    let mut depth = 0usize;
    yaml.bytes().position(|byte| {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > FLOW_DEPTH
    })
}

/// The YAML of a file.
struct Yaml<'a> {
    source: &'a str,
    start: usize,
    yaml: &'a str,
}

impl<'a> Yaml<'a> {
    /// Whether there are only blank lines and comments.
    fn is_empty(&self) -> bool {
        self.yaml
            .lines()
            .map(str::trim)
            .all(|line| line.is_empty() || line.starts_with('#'))
    }

    /// Reads the document as a shape.
    fn decode<S: Shape<'a> + Copy>(&self, shape: S) -> Result<S::Value, ParseError> {
        let reading = Reading::new(self.yaml.len(), None);
        self.pass(&reading, shape).map_err(|error| {
            let place = place(&error);
            let Some(Failure { detail, at }) = reading.into_failure() else {
                return self.failure(reader_text(&error), place);
            };
            let place = at.map_or(place, |visit| self.place_of(shape, visit));
            let text = match detail {
                Detail::Text(text) => text,
                Detail::Rounds { otherwise } => header::rounds_text(self.written(place), otherwise),
            };
            self.failure(text, place)
        })
    }

    /// Reads the document once.
    fn pass<S: Shape<'a>>(
        &self,
        reading: &Reading,
        shape: S,
    ) -> Result<S::Value, serde_yaml::Error> {
        Node::new(reading, shape).deserialize(serde_yaml::Deserializer::from_str(self.yaml))
    }

    /// Where a value is that was visited: reads up to it once more.
    fn place_of<S: Shape<'a>>(&self, shape: S, visit: Visit) -> Option<usize> {
        let reading = Reading::new(self.yaml.len(), Some(visit));
        self.pass(&reading, shape).err().as_ref().and_then(place)
    }

    /// The digits of a version, as far as they are digits.
    fn version(&self, shape: HeaderShape, version: Version) -> Result<String, ParseError> {
        match version {
            Version::Digits(digits) => Ok(digits),
            Version::Unclear { at, otherwise } => {
                let place = self.place_of(shape, at);
                let digits = self.written(place).trim_start_matches('+');
                if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
                    Ok(digits.to_owned())
                } else {
                    Err(self.failure(otherwise, place))
                }
            }
        }
    }

    /// The number that is written at a place, after its anchor and tag.
    fn written(&self, place: Option<usize>) -> &'a str {
        let mut text = place
            .and_then(|place| self.yaml.get(place..))
            .unwrap_or_default();
        while text.starts_with(['&', '!']) {
            text = text
                .trim_start_matches(|c: char| !c.is_whitespace())
                .trim_start();
        }
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '-' | '.'));
        &text[..end.unwrap_or(text.len())]
    }

    /// A failure at an offset of the YAML.
    fn failure(&self, text: String, place: Option<usize>) -> ParseError {
        let mut location = Location {
            path: Some("<prompt>".to_owned()),
            ..Location::default()
        };
        if let Some(place) = place {
            let offset = self.start + place.min(self.yaml.len());
            let line = self.source.as_bytes()[..offset]
                .iter()
                .rposition(|byte| *byte == b'\n');
            let column = offset - line.map_or(0, |end| end + 1) + 1;
            location.line = Some(line_at(self.source, 1, offset));
            location.column = u32::try_from(column).ok();
        }
        let message = format!("invalid frontmatter: {text}");
        ParseError {
            kind: ParseErrorKind::Frontmatter,
            message,
            location,
        }
    }
}

/// The offset of a failure of the YAML reader. It does not hold the place of a character that YAML
/// does not allow, but its text does.
fn place(error: &serde_yaml::Error) -> Option<usize> {
    let text = error.to_string();
    let position = text
        .rsplit_once(" at position ")
        .and_then(|(_, at)| at.parse().ok());
    position.or_else(|| error.location().map(|location| location.index()))
}

/// What the YAML reader says, without the path before it and the places in it.
fn reader_text(error: &serde_yaml::Error) -> String {
    let text = error.to_string();
    let start = ["invalid type: ", "invalid value: "]
        .iter()
        .find_map(|start| text.find(start));
    let mut rest = &text[start.unwrap_or(0)..];
    let mut kept = String::with_capacity(rest.len());
    while let Some(at) = rest.find(" at ") {
        let (before, mark) = rest.split_at(at);
        kept.push_str(before);
        rest = match written_place(mark) {
            Ok((after, ())) => after,
            Err(_) => {
                kept.push_str(" at ");
                &mark[" at ".len()..]
            }
        };
    }
    kept + rest
}

/// A place in a text of the YAML reader.
fn written_place(input: &str) -> IResult<&str, ()> {
    let line = (tag(" at line "), digit1, tag(" column "), digit1);
    alt((value((), line), value((), (tag(" at position "), digit1)))).parse(input)
}
