//! What Lua itself gives a prompt: its base names and three libraries, with the parts replaced that
//! would show an address, a clock or a raw error (spec L2, L3).

use std::rc::Rc;

use mlua::{Function as LuaFunction, Lua, LuaString, StdLib, Table, Value};

use super::helpers::{self, Helper};
use super::host::{Host, Raise};
use super::order;
use super::vm::Core;

/// Functions of Lua's own string library, and under which names they are kept among its globals.
pub(super) const KEPT_STRINGS: [(&str, &str); 4] = [
    ("format", "string.format"),
    ("sub", "string.sub"),
    ("find", "string.find"),
    ("gmatch", "string.gmatch"),
];

/// What the helper of metatables needs of Lua's own globals.
const NATIVES: [&str; 8] = [
    "getmetatable",
    "setmetatable",
    "rawequal",
    "rawget",
    "rawset",
    "pcall",
    "error",
    "type",
];

/// What a prompt sets on `_G`: the metatable, the fields that are handled apart, and the handlers
/// that read its own.
type OwnMetatable = (Option<Table>, Table, LuaFunction, LuaFunction);

impl<H: Host> Core<H> {
    pub(super) fn base_global(
        self: &Rc<Self>,
        lua: &Lua,
        name: &'static str,
    ) -> mlua::Result<Value> {
        let group = match name {
            "_G" => return Ok(Value::Table(self.globals.clone())),
            "assert" | "error" | "pcall" | "xpcall" => "errors",
            "next" | "pairs" => "iterate",
            "getmetatable" | "setmetatable" => "meta",
            "table" => {
                let table = self.library(lua, StdLib::TABLE, "table")?;
                let own = self.group(lua, "tables")?;
                for name in ["concat", "sort"] {
                    table.raw_set(name, own.raw_get::<Value>(name)?)?;
                }
                return Ok(Value::Table(table));
            }
            "tostring" => "text",
            "math" => return self.seeded_math(lua).map(Value::Table),
            _ => return self.base.raw_get(name),
        };
        self.group(lua, group)?.raw_get(name)
    }

    /// Opens one of Lua's own libraries, out of the prompt's sight.
    pub(super) fn library(&self, lua: &Lua, library: StdLib, name: &str) -> mlua::Result<Table> {
        lua.set_globals(self.base.clone())?;
        let opened = lua.load_std_libs(library);
        lua.set_globals(self.globals.clone())?;
        opened?;
        self.base.raw_get(name)
    }

    /// `math`, its random numbers those of the run's seed (spec L7, R20).
    fn seeded_math(self: &Rc<Self>, lua: &Lua) -> mlua::Result<Table> {
        let math = self.library(lua, StdLib::MATH, "math")?;
        let native: LuaFunction = math.raw_get("randomseed")?;
        native.call::<()>(self.host.random(0))?;
        let core = self.clone();
        math.raw_set(
            "randomseed",
            lua.create_function(move |_, args: mlua::MultiValue| {
                if !args.is_empty() {
                    return native.call::<mlua::MultiValue>(args);
                }
                let n = core.seeded.get() + 1;
                core.seeded.set(n);
                native.call::<mlua::MultiValue>(core.host.random(n))
            })?,
        )?;
        Ok(math)
    }

    /// What a helper file defines, loaded once.
    pub(super) fn group(self: &Rc<Self>, lua: &Lua, name: &'static str) -> mlua::Result<Table> {
        if let Some((_, table)) = self.groups.borrow().iter().find(|(n, _)| *n == name) {
            return Ok(table.clone());
        }
        let base = |name: &str| self.base.raw_get::<Value>(name);
        let table: Table = match name {
            "errors" => {
                let core = self.clone();
                let caught = lua.create_function(move |lua, error| core.caught(lua, error))?;
                let core = self.clone();
                let mark = lua.create_function(move |_, text: LuaString| {
                    core.mark(text);
                    Ok(())
                })?;
                helpers::load(lua, Helper::Errors)?.call((
                    base("pcall")?,
                    base("xpcall")?,
                    base("error")?,
                    base("type")?,
                    base("select")?,
                    caught,
                    mark,
                ))?
            }
            "iterate" => {
                let core = self.clone();
                let following = lua.create_function(move |_, args: (Table, i64, Value)| {
                    core.poll()?;
                    following(args)
                })?;
                let core = self.clone();
                let touch = lua.create_function(move |lua, table: Table| {
                    if table == core.globals {
                        core.take_all(lua)
                    } else {
                        Ok(())
                    }
                })?;
                helpers::load(lua, Helper::Iterate)?.call((
                    base("type")?,
                    base("select")?,
                    base("rawget")?,
                    base("rawlen")?,
                    base("next")?,
                    base("getmetatable")?,
                    base("error")?,
                    lua.create_function(metafield)?,
                    lua.create_function(sort_keys)?,
                    following,
                    touch,
                ))?
            }
            "text" => helpers::load(lua, Helper::Text)?.call((
                base("tostring")?,
                base("string.format")?,
                base("type")?,
                base("select")?,
                base("string.sub")?,
                base("string.find")?,
                base("string.gmatch")?,
                ordinal(lua)?,
            ))?,
            "tables" => {
                let text = self.group(lua, "text")?;
                let table: Table = self.base.raw_get("table")?;
                let integer = lua.create_function(|_, value: Value| Ok(value.is_integer()))?;
                helpers::load(lua, Helper::Tables)?.call((
                    table.raw_get::<Value>("concat")?,
                    table.raw_get::<Value>("sort")?,
                    base("type")?,
                    base("error")?,
                    text.raw_get::<Value>("tostring")?,
                    lua.create_function(metafield)?,
                    integer,
                ))?
            }
            "messages" | "tools" | "loop" => self.conversation(lua, name)?,
            _ => {
                let core = self.clone();
                let keep = lua.create_function(move |_, parts: OwnMetatable| {
                    let (own, kept, index, newindex) = parts;
                    core.set_own_metatable(own, &kept, index, newindex)
                })?;
                let core = self.clone();
                let find =
                    lua.create_function(move |lua, key: Value| match core.find(lua, &key) {
                        Ok(Some(value)) => Ok((Some(true), value)),
                        Ok(None) => Ok((Some(false), Value::Nil)),
                        Err(Raise::Value(raised)) => Ok((None, raised)),
                        Err(Raise::Error(error)) => Err(error),
                    })?;
                let core = self.clone();
                let assign = lua.create_function(move |lua, (key, value): (Value, Value)| {
                    core.keep(lua, &key, &value)
                })?;
                let natives = lua.create_table()?;
                for name in NATIVES {
                    natives.raw_set(name, base(name)?)?;
                }
                let helper = helpers::load(lua, Helper::Meta)?;
                helper.call((natives, &self.globals, keep, find, assign))?
            }
        };
        self.groups.borrow_mut().push((name, table.clone()));
        Ok(table)
    }
}

/// A value's raw metafield, behind any `__metatable`.
fn metafield(_: &Lua, (value, name): (Value, LuaString)) -> mlua::Result<Value> {
    match value {
        Value::Table(table) => match table.metatable() {
            Some(metatable) => metatable.raw_get(name),
            None => Ok(Value::Nil),
        },
        _ => Ok(Value::Nil),
    }
}

/// Sorts a list of keys in place (spec L38).
fn sort_keys(_: &Lua, keys: Table) -> mlua::Result<()> {
    let mut sorted: Vec<Value> = keys.sequence_values().collect::<mlua::Result<_>>()?;
    sorted.sort_by(order::compare);
    for (at, key) in (1i64..).zip(sorted) {
        keys.raw_set(at, key)?;
    }
    Ok(())
}

/// The key that follows `after` outside the array part of `length`, the first one after nil
/// (spec L42).
fn following((table, length, after): (Table, i64, Value)) -> mlua::Result<Value> {
    let mut best: Option<Value> = None;
    let mut passed = false;
    for pair in table.pairs::<Value, Value>() {
        let (key, _) = pair?;
        if matches!(key, Value::Integer(i) if (1..=length).contains(&i)) {
            continue;
        }
        if !after.is_nil() {
            match order::compare(&key, &after) {
                std::cmp::Ordering::Less => continue,
                // Keys without an order of their own come as the table has them.
                std::cmp::Ordering::Equal if key == after => {
                    passed = true;
                    continue;
                }
                std::cmp::Ordering::Equal if !passed && table.contains_key(&after)? => continue,
                _ => {}
            }
        }
        let better = best
            .as_ref()
            .is_none_or(|b| order::compare(&key, b).is_lt());
        if better {
            best = Some(key);
        }
    }
    Ok(best.unwrap_or(Value::Nil))
}

/// Numbers values in the order in which they are first shown.
fn ordinal(lua: &Lua) -> mlua::Result<LuaFunction> {
    let numbers = lua.create_table()?;
    let weak = lua.create_table()?;
    weak.raw_set("__mode", "k")?;
    numbers.set_metatable(Some(weak))?;
    let count = std::cell::Cell::new(0u64);
    lua.create_function(move |_, value: Value| {
        if let Value::Integer(number) = numbers.raw_get(&value)? {
            return Ok(number.to_string());
        }
        count.set(count.get() + 1);
        numbers.raw_set(value, count.get())?;
        Ok(count.get().to_string())
    })
}
