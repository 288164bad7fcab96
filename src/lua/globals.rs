//! The globals of a section VM: made when first touched, behind a guard that the prompt never sees
//! (spec L2, L17 to L24).

use std::rc::Rc;
use std::sync::Arc;

use mlua::{Function as LuaFunction, Lua, StdLib, Table, Value};

use super::convert::to_lua;
use super::data::Data;
use super::failure::Failure;
use super::guard::{Guards, Policy};
use super::helpers::{self, Helper};
use super::host::{Call, Definition, Function, Host, Raise, Written};
use super::sealed::sealed;
use super::vm::{Core, interrupt};
use crate::prompt::{Dialect, LUA_GLOBALS};

impl<H: Host> Core<H> {
    /// Puts the guard on `_G`. Nothing else is built until it is touched.
    pub(super) fn install(self: &Rc<Self>, lua: &Lua) -> mlua::Result<()> {
        let guard = lua.create_table_with_capacity(0, 2)?;
        let core = self.clone();
        guard.raw_set(
            "__index",
            lua.create_function(move |lua, (_, key): (Value, Value)| {
                let found = core.find(lua, &key).map_err(Raise::into_error)?;
                Ok(found.unwrap_or(Value::Nil))
            })?,
        )?;
        let core = self.clone();
        guard.raw_set(
            "__newindex",
            lua.create_function(move |lua, (_, key, value): (Value, Value, Value)| {
                match core.keep(lua, &key, &value)? {
                    true => Ok(()),
                    false => core.globals.raw_set(key, value),
                }
            })?,
        )?;
        *self.guard.borrow_mut() = Some(guard.clone());
        self.globals.set_metatable(Some(guard))?;
        Ok(())
    }

    /// A bit for each global, base first.
    fn position(&self, name: &[u8]) -> Option<u32> {
        let base = LUA_GLOBALS.iter().position(|base| base.as_bytes() == name);
        let found = base.or_else(|| {
            let own = self
                .host
                .globals()
                .iter()
                .position(|g| g.name.as_bytes() == name);
            own.map(|at| at + LUA_GLOBALS.len())
        });
        found.and_then(|at| u32::try_from(at).ok())
    }

    pub(super) fn is_taken(&self, name: &str) -> bool {
        let bit = self.position(name.as_bytes());
        bit.is_some_and(|bit| self.taken.get() & (1 << bit) != 0)
    }

    /// What the engine has under a name that `_G` does not hold; a global is made now. `None`
    /// leaves the name to the metatable that the prompt set, if it set one.
    pub(super) fn find(self: &Rc<Self>, lua: &Lua, key: &Value) -> Result<Option<Value>, Raise> {
        let Value::String(name) = key else {
            return Ok(None);
        };
        let name = &*name.as_bytes();
        match name {
            b"prose" => return self.read_prose(lua).map(Some),
            b"argv" if !self.h1 => return Ok(Some(self.frozen_argv(lua)?)),
            b"argv" if self.argv_taken.get() => return Ok(Some(Value::Nil)),
            b"argv" => {
                let value = to_lua(lua, &self.argv)?;
                self.globals.raw_set("argv", &value)?;
                self.argv_taken.set(true);
                return Ok(Some(value));
            }
            _ => {}
        }
        match self.position(name) {
            Some(bit) => Ok(self.take(lua, bit)?),
            None => Ok(self.take_object(lua, name)?),
        }
    }

    /// Gives names that the prompt declares to the objects they stand for, in place of what a
    /// shared library may have put there (spec M28).
    pub(super) fn declare(&self, names: Vec<Arc<str>>) -> mlua::Result<()> {
        for name in &names {
            self.globals.raw_set(&**name, Value::Nil)?;
        }
        *self.objects.borrow_mut() = names;
        Ok(())
    }

    /// Makes the object of a declared name; `None` where it was made, or is no such name.
    fn take_object(&self, lua: &Lua, name: &[u8]) -> mlua::Result<Option<Value>> {
        let mut objects = self.objects.borrow_mut();
        let Some(at) = objects.iter().position(|n| n.as_bytes() == name) else {
            return Ok(None);
        };
        let Some(object) = self.host.object(&objects[at]) else {
            return Ok(None);
        };
        let value = object.into_lua(lua)?;
        self.globals.raw_set(&*objects[at], &value)?;
        objects.swap_remove(at);
        Ok(Some(value))
    }

    /// Assigns to a name that `_G` does not hold, where the engine has it. Whether it has.
    pub(super) fn keep(
        self: &Rc<Self>,
        lua: &Lua,
        key: &Value,
        value: &Value,
    ) -> mlua::Result<bool> {
        let Value::String(name) = key else {
            return Ok(false);
        };
        let name = &*name.as_bytes();
        match name {
            b"prose" => {
                let text = "prose is read-only: assign to `var` or a section global instead";
                return Err(Failure::lua(text).into());
            }
            b"argv" if !self.h1 => {
                let text = "argv is frozen outside H1: assign it in H1 only";
                return Err(Failure::lua(text).into());
            }
            b"argv" => {
                self.argv_taken.set(true);
                self.globals.raw_set(key, value)?;
                return Ok(true);
            }
            _ => {}
        }
        // A global that is there, made or not, is assigned without asking a handler.
        let there = match self.position(name) {
            Some(bit) => self.take(lua, bit)?.is_some(),
            None => self.take_object(lua, name)?.is_some(),
        };
        if there {
            self.globals.raw_set(key, value)?;
        }
        Ok(there)
    }

    /// Makes a global that was not made yet; `None` where it was, or where there is none.
    fn take(self: &Rc<Self>, lua: &Lua, bit: u32) -> mlua::Result<Option<Value>> {
        let taken = self.taken.get();
        if taken & (1 << bit) != 0 {
            return Ok(None);
        }
        let at = bit as usize;
        let (name, value) = match at.checked_sub(LUA_GLOBALS.len()) {
            None => (LUA_GLOBALS[at], self.base_global(lua, LUA_GLOBALS[at])?),
            Some(own) => match self.host.globals().get(own) {
                None => return Ok(None),
                Some(global) => (
                    global.name,
                    self.own_global(lua, global.name, &global.value)?,
                ),
            },
        };
        if !value.is_nil() {
            self.globals.raw_set(name, &value)?;
        }
        // Only now, so that a global whose making failed for want of memory is made again.
        self.taken.set(self.taken.get() | 1 << bit);
        Ok((!value.is_nil()).then_some(value))
    }

    /// Makes every global, for whoever iterates over `_G`.
    pub(super) fn take_all(self: &Rc<Self>, lua: &Lua) -> mlua::Result<()> {
        for bit in 0..LUA_GLOBALS.len() + self.host.globals().len() {
            self.take(lua, bit as u32)?;
        }
        let objects = self.objects.borrow().clone();
        for name in objects {
            self.take_object(lua, name.as_bytes())?;
        }
        if self.h1 && !self.argv_taken.get() {
            let name = Value::String(lua.create_string("argv")?);
            self.find(lua, &name).map_err(Raise::into_error)?;
        }
        Ok(())
    }

    /// Takes over the metatable that a prompt sets on `_G` (spec L21): `index` and `newindex` read
    /// its two handlers live, its other fields stay as they stand now.
    pub(super) fn set_own_metatable(
        &self,
        own: Option<Table>,
        kept: &Table,
        index: LuaFunction,
        newindex: LuaFunction,
    ) -> mlua::Result<()> {
        let Some(guard) = self.guard.borrow().clone() else {
            return Ok(());
        };
        let stale: Vec<Value> = guard
            .pairs::<Value, Value>()
            .filter_map(|pair| Some(pair.ok()?.0))
            .filter(|key| !kept.raw_get::<bool>(key).unwrap_or(false))
            .collect();
        for key in stale {
            guard.raw_set(key, Value::Nil)?;
        }
        if let Some(own) = &own {
            for pair in own.pairs::<Value, Value>() {
                let (key, value) = pair?;
                if !kept.raw_get::<bool>(&key)? {
                    guard.raw_set(key, value)?;
                }
            }
        }
        guard.raw_set("__index", index)?;
        guard.raw_set("__newindex", newindex)?;
        // Lua caches the absence of metamethods in the table; setting it again forgets that.
        self.globals.set_metatable(Some(guard))?;
        self.has_own_metatable.set(true);
        Ok(())
    }

    fn own_global(
        self: &Rc<Self>,
        lua: &Lua,
        name: &'static str,
        definition: &'static Definition<H>,
    ) -> mlua::Result<Value> {
        match definition {
            Definition::Function(function) => self.function(lua, *function).map(Value::Function),
            Definition::FunctionWhere(present, function) => match present(&self.host) {
                true => self.function(lua, *function).map(Value::Function),
                false => Ok(Value::Nil),
            },
            Definition::Table(functions) => {
                let table = lua.create_table_with_capacity(0, functions.len())?;
                self.fill(lua, table, functions)
            }
            Definition::Tools(functions) => {
                let table = self.group(lua, "tools")?.raw_get("global")?;
                self.fill(lua, table, functions)
            }
            Definition::Data(data) => match data(&self.host) {
                Some(data) => to_lua(lua, &data),
                None => Ok(Value::Nil),
            },
            Definition::Sealed(data) => {
                let core = self.clone();
                let later = move || data(&core.host);
                sealed(lua, name, data(&self.host), later).map(Value::Table)
            }
            Definition::Var => {
                let guards = self.guards(lua)?;
                let table = guards.create(lua, Policy::Writable, "var", self.var_data.clone())?;
                *self.var_table.borrow_mut() = Some(table.clone());
                Ok(Value::Table(table))
            }
            Definition::Require => self.require(lua).map(Value::Function),
        }
    }

    fn fill(
        self: &Rc<Self>,
        lua: &Lua,
        table: Table,
        functions: &'static [(&'static str, Function<H>)],
    ) -> mlua::Result<Value> {
        for (name, function) in functions {
            table.raw_set(*name, self.function(lua, *function)?)?;
        }
        Ok(Value::Table(table))
    }

    /// Counts a suspending call, where one that is answered at once counts (spec K147).
    pub(super) fn suspends(&self) {
        if self.dialect == Dialect::PromptForge {
            self.epoch.set(self.epoch.get() + 1);
        }
    }

    /// A function of the engine as a Lua function.
    pub(super) fn function(
        self: &Rc<Self>,
        lua: &Lua,
        function: Function<H>,
    ) -> mlua::Result<LuaFunction> {
        let core = self.clone();
        match function {
            Function::Direct(body) => {
                lua.create_function(move |lua, mut args: mlua::MultiValue| {
                    core.poll()?;
                    let reply = core.done(body(&Call {
                        lua,
                        core: &core,
                        args: args.make_contiguous(),
                    }))?;
                    Ok(reply.into_lua(lua, &core)?.into_multi())
                })
            }
            Function::Suspending(body) => {
                let ask = lua.create_function(move |lua, mut args: mlua::MultiValue| {
                    core.poll()?;
                    core.suspends();
                    let request = core.done(body(&Call {
                        lua,
                        core: &core,
                        args: args.make_contiguous(),
                    }))?;
                    *core.request.borrow_mut() = Some(request);
                    Ok(())
                })?;
                self.suspender(lua)?.call(ask)
            }
            Function::Written(written) => {
                let (group, name) = match written {
                    Written::MessageList => ("messages", "new"),
                    Written::Loop => ("loop", "run"),
                    Written::LocalTool => ("tools", "add"),
                    Written::ToolCall => ("tools", "call"),
                };
                let fetch = lua.create_function(move |lua, ()| {
                    core.group(lua, group)?.raw_get::<Value>(name)
                })?;
                helpers::load(lua, Helper::Later)?.call(fetch)
            }
            Function::Fanout(body) => {
                let ask = self.function(lua, Function::Suspending(body))?;
                let dialect = self.dialect;
                let collect = lua.create_function(move |lua, collection: Value| {
                    super::collection::collect(lua, dialect, collection)
                })?;
                let natives = (
                    self.base.raw_get::<Value>("setmetatable")?,
                    self.base.raw_get::<Value>("error")?,
                );
                let helper = helpers::load(lua, Helper::Fanout)?;
                helper.call((ask, collect, natives.0, natives.1))
            }
        }
    }

    /// What a function of the engine gives. Where it failed and the run was cancelled meanwhile, that
    /// is why, whatever words it has for it.
    fn done<T>(&self, given: Result<T, Failure>) -> mlua::Result<T> {
        given.map_err(|failure| match self.watch.is_cancelled() {
            true => interrupt().into(),
            false => failure.into(),
        })
    }

    fn suspender(&self, lua: &Lua) -> mlua::Result<LuaFunction> {
        if let Some(function) = &*self.suspend.borrow() {
            return Ok(function.clone());
        }
        let coroutines = self.library(lua, StdLib::COROUTINE, "coroutine")?;
        let natives = (
            coroutines.raw_get::<Value>("yield")?,
            self.base.raw_get::<Value>("error")?,
        );
        let function: LuaFunction = helpers::load(lua, Helper::Suspend)?.call(natives)?;
        *self.suspend.borrow_mut() = Some(function.clone());
        Ok(function)
    }

    /// The running block's prose, rendered at its first read (spec L25).
    fn read_prose(self: &Rc<Self>, lua: &Lua) -> Result<Value, Raise> {
        let prose = match self.prose.borrow().last() {
            None => return Ok(Value::Nil),
            Some(pending) => match &pending.rendered {
                Some(text) => return Ok(Value::String(text.clone())),
                None => pending.prose.clone(),
            },
        };
        let call = Call {
            lua,
            core: self,
            args: &[],
        };
        self.var().map_err(mlua::Error::from)?;
        let text = self.host.render(&prose, &call).map_err(|thrown| thrown.0)?;
        let text = lua.create_string(text)?;
        if let Some(pending) = self.prose.borrow_mut().last_mut() {
            pending.rendered = Some(text.clone());
        }
        Ok(Value::String(text))
    }

    fn frozen_argv(&self, lua: &Lua) -> mlua::Result<Value> {
        if let Some(value) = &*self.argv_value.borrow() {
            return Ok(value.clone());
        }
        let value = match &self.argv {
            data @ (Data::List(_) | Data::Map(_)) => {
                Value::Table(
                    self.guards(lua)?
                        .create(lua, Policy::Frozen, "argv", data.clone())?,
                )
            }
            scalar => to_lua(lua, scalar)?,
        };
        *self.argv_value.borrow_mut() = Some(value.clone());
        Ok(value)
    }

    /// A global by name, as Lua code would read it.
    pub(super) fn global(self: &Rc<Self>, lua: &Lua, name: &str) -> Result<Value, Raise> {
        if !self.has_own_metatable.get() {
            return Ok(self.globals.get(name)?);
        }
        let look_up: LuaFunction = self.group(lua, "meta")?.raw_get("lookup")?;
        match look_up.call(name)? {
            (true, value) => Ok(value),
            (false, raised) => Err(Raise::Value(raised)),
        }
    }

    /// The VM's guarded tables, their handlers made once.
    fn guards(&self, lua: &Lua) -> mlua::Result<Guards> {
        if let Some(guards) = lua.app_data_ref::<Guards>() {
            return Ok(guards.clone());
        }
        let guards = Guards::new(lua, self.memory)?;
        lua.set_app_data(guards.clone());
        Ok(guards)
    }

    /// Fails once the run is cancelled: a call of the engine is one of the places that look.
    pub(super) fn poll(&self) -> mlua::Result<()> {
        Ok(self.watch.poll()?)
    }
}
