//! A Lua state before anything of a section is in it.

use mlua::{Lua, LuaOptions, StdLib};

use super::failure::Failure;
use super::raised::failure_of;

/// A Lua state with Lua's own base and string libraries. To make one is a good part of building a
/// VM, so it can be made ahead.
pub struct State(pub(super) Lua);

impl State {
    /// Makes a state.
    ///
    /// # Errors
    /// Want of memory.
    pub fn new() -> Result<Self, Failure> {
        Self::build().map_err(|error| failure_of(&error))
    }

    pub(super) fn build() -> mlua::Result<Self> {
        // The first handle of a state collects its garbage when it is dropped: here, where there is
        // next to none, and not at the end, where closing the state frees all that it holds.
        Ok(Self(
            Lua::new_with(StdLib::STRING, LuaOptions::new())?.clone(),
        ))
    }
}
