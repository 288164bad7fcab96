//! Preludes of units: Lua that defines globals of a section VM before any block runs (spec T54 to
//! T58).

use std::rc::Rc;

use mlua::chunk::ChunkMode;
use mlua::{Function as LuaFunction, Lua, Table, Value};

use super::compile::Compiled;
use super::convert::type_name;
use super::failure::Failure;
use super::helpers::{self, Helper};
use super::host::Host;
use super::raised::failure_of;
use super::vm::{Core, Vm};

impl<H: Host> Vm<H> {
    /// Runs a prelude. `check` is asked, in the order of the names, whether it may define a global
    /// of a name and type; nothing is defined until all of them may.
    ///
    /// # Errors
    /// What the prelude raised, as `failed` words it, or what `check` refuses.
    pub fn prelude(
        &self,
        unit: usize,
        code: &Compiled,
        failed: impl Fn(&str) -> Failure,
        mut check: impl FnMut(&str, &'static str) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let refused = |error: mlua::Error| failed(&failure_of(&error).message);
        let main = self.lua.current_thread();
        let run = || self.core.run_prelude(&self.lua, unit, code);
        let defined = self.core.running(&main, run);
        let defined = defined.map_err(refused)?;
        for (name, value) in &defined {
            check(name, type_name(value))?;
        }
        for (name, value) in defined {
            let set = self.core.globals.raw_set(name, value);
            set.map_err(|error| failure_of(&error))?;
        }
        Ok(())
    }
}

impl<H: Host> Core<H> {
    /// Runs a prelude in an environment of its own, and gives what it defines, by name.
    fn run_prelude(
        self: &Rc<Self>,
        lua: &Lua,
        unit: usize,
        code: &Compiled,
    ) -> mlua::Result<Vec<(String, Value)>> {
        let core = self.clone();
        let call_of = lua.create_function(move |lua, unit: usize| {
            let of: LuaFunction = core.group(lua, "tools")?.raw_get("of")?;
            of.call::<Value>(unit)
        })?;
        let fail = lua.create_function(|_, text: String| -> mlua::Result<()> {
            Err(Failure::lua(text).into())
        })?;
        let setmetatable: Value = self.base.raw_get("setmetatable")?;
        let helper = helpers::load(lua, Helper::Prelude)?;
        let make: LuaFunction = helper.call((setmetatable, &self.globals, call_of, fail))?;
        let environment: Table = make.call(unit)?;
        self.mark_region(code);
        lua.load(code.code())
            .set_mode(ChunkMode::Binary)
            .set_environment(environment.clone())
            .into_function()?
            .call::<()>(())?;
        let mut defined = Vec::new();
        for pair in environment.pairs::<Value, Value>() {
            let (name, value) = pair?;
            if let Some(name) = name.as_string() {
                defined.push((name.to_string_lossy(), value));
            }
        }
        defined.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(defined)
    }
}
