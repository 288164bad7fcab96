//! The two delimiters that set the frontmatter off from the body (spec F13, F18 to F20).

use super::error::{Location, ParseError, ParseErrorKind};
use super::lines::Lines;
use std::ops::Range;

/// The two parts of a file, in its own bytes and lines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// The YAML between the delimiters. It starts on line 2.
    pub yaml: Range<usize>,
    /// Where the body starts.
    pub body: usize,
    /// The line the body starts on.
    pub body_line: u32,
}

/// The line the YAML starts on.
pub(super) const YAML_LINE: u32 = 2;

/// Splits a file at its delimiters.
pub(super) fn split(source: &str) -> Result<Parts, ParseError> {
    let start = if source.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    };
    let mut lines = Lines::new(source, start);
    let is_delimiter = |text: &str| text.trim() == "---";
    let Some(opening) = lines.next().filter(|line| is_delimiter(line.text(source))) else {
        return Err(failure("file must begin with a --- frontmatter delimiter"));
    };
    for (line, number) in lines.zip(YAML_LINE..) {
        if is_delimiter(line.text(source)) {
            let yaml = opening.next..line.start;
            return Ok(Parts {
                yaml,
                body: line.next,
                body_line: number + 1,
            });
        }
    }
    Err(failure("frontmatter was not closed with ---"))
}

fn failure(message: &str) -> ParseError {
    let location = Location::default();
    ParseError {
        kind: ParseErrorKind::Frontmatter,
        message: message.to_owned(),
        location,
    }
}
