//! The helpers of conversations: message lists, the loop of rounds, and calls of tools (spec parts
//! 05 and 06).

use std::rc::Rc;

use mlua::{Lua, Table, Value};

use super::data::Data;
use super::failure::Failure;
use super::guard::snapshot_of;
use super::helpers::{self, Helper};
use super::host::{Call, Function, Host};
use super::reply::Reply;
use super::vm::Core;
use super::watch::Watch;

/// The engine's part of conversations: what the helpers written in Lua call.
pub struct Conversation<H: Host> {
    /// Checks the arguments of `models.loop`.
    pub check: Direct<H>,
    /// Makes a round ready, from handle, list and the round's number: the round, and the notices to
    /// append first; or `false` where it would overflow.
    pub prepare: Direct<H>,
    /// Puts the round out; told which, and whether a tool call was answered in this loop.
    pub ask: fn(&Call<'_, H>) -> Result<H::Request, Failure>,
    /// The compactor returned.
    pub returned: Direct<H>,
    /// Checks and registers a local tool.
    pub register: Direct<H>,
    /// A script's call: the local tool's alias and its arguments, or `false` for a unit's tool,
    /// which is then served.
    pub route: Direct<H>,
    /// A model's call by its place in the reply: as `route`, or nothing where it is a built-in.
    pub dispatch: Direct<H>,
    /// Serves the call that was looked up.
    pub serve: fn(&Call<'_, H>) -> Result<H::Request, Failure>,
    /// Judges what a local tool's handler returned.
    pub finish: Direct<H>,
    /// A local tool's handler has raised; told how many others still run.
    pub leave: Direct<H>,
    /// How often a tool was called, by the second argument.
    pub count: Direct<H>,
    /// The next call is the prelude's of this unit.
    pub own: Direct<H>,
}

/// A function that answers in place.
pub type Direct<H> = fn(&Call<'_, H>) -> Result<Reply, Failure>;

impl<H: Host> Core<H> {
    /// What a helper of conversations defines.
    pub(super) fn conversation(self: &Rc<Self>, lua: &Lua, name: &str) -> mlua::Result<Table> {
        let parts = self.host.conversation();
        let base = |name: &str| self.base.raw_get::<Value>(name);
        let direct = |part: Direct<H>| self.function(lua, Function::Direct(part));
        let suspending = |part| self.function(lua, Function::Suspending(part));
        match name {
            "messages" => helpers::load(lua, Helper::Messages)?.call(base("setmetatable")?),
            "tools" => helpers::load(lua, Helper::Tools)?.call((
                base("setmetatable")?,
                base("rawset")?,
                base("error")?,
                direct(parts.register)?,
                direct(parts.route)?,
                direct(parts.dispatch)?,
                suspending(parts.serve)?,
                direct(parts.finish)?,
                direct(parts.leave)?,
                direct(parts.count)?,
                direct(parts.own)?,
            )),
            _ => helpers::load(lua, Helper::Loop)?.call((
                base("type")?,
                &self.globals,
                lua.create_function(append)?,
                direct(parts.check)?,
                direct(parts.prepare)?,
                suspending(parts.ask)?,
                direct(parts.returned)?,
                self.group(lua, "tools")?.raw_get::<Value>("perform")?,
            )),
        }
    }
}

/// Appends records to a message list, all or none: a plain list as it is, whatever its metatable says,
/// a guarded one through its guard (spec M41).
fn append(lua: &Lua, (list, records): (Table, Table)) -> mlua::Result<()> {
    let guarded = snapshot_of(&list, &Watch::of(lua))?;
    let length = match &guarded {
        Some(Data::List(items)) => items.len(),
        Some(_) => 0,
        None => list.raw_len(),
    };
    let set = |at: usize, record: Value| match guarded {
        Some(_) => list.set(length + at, record),
        None => list.raw_set(length + at, record),
    };
    for at in 1..=records.raw_len() {
        if let Err(error) = set(at, records.raw_get(at)?) {
            for done in 1..at {
                // What was set can be taken away.
                let _ = set(done, Value::Nil);
            }
            return Err(error);
        }
    }
    Ok(())
}
