//! The prompt file: its format, its tree and every failure the parser can report (spec part 01).

mod error;
mod lines;
pub mod markdown;
mod tree;

pub use error::{Location, ParseError, ParseErrorKind};
pub use tree::*;
