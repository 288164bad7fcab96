//! Patterns of a contract (spec P43).

use std::fmt;

use regex::{Error, Regex, RegexBuilder};

/// The most bytes a compiled pattern may take.
const SIZE_CAP: usize = 4 << 20;

/// A pattern that does not compile, with the cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BadPattern(pub(super) String);

impl fmt::Display for BadPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid pattern: {}", self.0)
    }
}

/// Compiles a pattern without flags.
pub(super) fn compile(pattern: &str) -> Result<Regex, BadPattern> {
    build(&mut RegexBuilder::new(pattern))
}

/// Compiles a pattern to which the case of letters does not count.
pub(super) fn compile_caseless(pattern: &str) -> Result<Regex, BadPattern> {
    build(RegexBuilder::new(pattern).case_insensitive(true))
}

fn build(builder: &mut RegexBuilder) -> Result<Regex, BadPattern> {
    builder
        .size_limit(SIZE_CAP)
        .build()
        .map_err(|error| BadPattern(cause(&error)))
}

/// What is wrong with a pattern, in one line.
fn cause(error: &Error) -> String {
    match error {
        Error::CompiledTooBig(_) => "it is too large once compiled".to_owned(),
        // The first lines show the pattern, the last says what is wrong with it.
        error => {
            let said = error.to_string();
            let said = said.lines().last().unwrap_or_default();
            said.strip_prefix("error: ").unwrap_or(said).to_owned()
        }
    }
}
