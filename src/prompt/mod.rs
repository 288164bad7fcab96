//! The prompt file: its format, its tree and every failure the parser can report (spec part 01).

mod blocks;
mod body;
mod delimiter;
mod error;
mod frontmatter;
mod lines;
mod list;
mod lookalike;
pub mod markdown;
mod parse;
mod reference;
mod tree;

pub use error::{Location, ParseError, ParseErrorKind};
pub(crate) use frontmatter::{LUA_GLOBALS, too_deep};
pub use frontmatter::{is_name, reserved};
pub use lookalike::{Lookalike, lookalikes};
pub use reference::{ReferenceError, Scope};
pub use tree::*;
