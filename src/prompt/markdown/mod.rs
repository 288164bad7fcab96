//! What CommonMark makes of a text, as far as a prompt asks: its top-level headings, thematic
//! breaks and fenced code, and the text of a heading.
//!
//! The outline is found in one pass over the lines; its cost grows with the length of the text and
//! with nothing else. Nothing here recurses on what the text nests.

mod block;
mod cursor;
mod emphasis;
mod entity;
mod html;
mod inline;
mod link;
mod outline;
mod start;

pub use outline::{Fences, LuaFence, Mark, MarkKind, Outline};
