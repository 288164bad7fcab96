//! Lua's patterns, matched so that a cancel is met however long it takes (spec R19).
//!
//! What a pattern and a text could cost at worst is told beforehand; where that is little, Lua's own
//! functions match. Where it is not, this matcher does, to the same results and errors.

mod class;
mod cost;
mod item;
mod matcher;
mod piece;

pub(super) use cost::longest;
pub(super) use matcher::{Capture, Fault, Matcher, invalid_index};
pub(super) use piece::{captures_in_pieces, pieces};
