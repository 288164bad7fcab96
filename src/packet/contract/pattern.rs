//! Patterns of a contract (spec P43).

use std::fmt;

use regex::{Regex, RegexBuilder};

use crate::harness::pattern::cause;

/// The most bytes a compiled pattern may take.
const SIZE_CAP: usize = 4 << 20;

/// A pattern that does not compile, with the cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::packet) struct BadPattern(pub(in crate::packet) String);

impl fmt::Display for BadPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid pattern: {}", self.0)
    }
}

/// Compiles a pattern without flags.
pub(in crate::packet) fn compile(pattern: &str) -> Result<Regex, BadPattern> {
    build(&mut RegexBuilder::new(pattern))
}

/// Compiles a pattern to which the case of letters does not count.
pub(in crate::packet) fn compile_caseless(pattern: &str) -> Result<Regex, BadPattern> {
    build(RegexBuilder::new(pattern).case_insensitive(true))
}

fn build(builder: &mut RegexBuilder) -> Result<Regex, BadPattern> {
    builder
        .size_limit(SIZE_CAP)
        .build()
        .map_err(|error| BadPattern(cause(&error)))
}
