//! What Lua itself gives a prompt: its base names and three libraries, with the parts replaced that
//! would show an address, a clock or a raw error (spec L2, L3).

use std::rc::Rc;

use mlua::{Function as LuaFunction, Lua, LuaString, StdLib, Table, Value};

use super::helpers::{self, Helper};
use super::host::{Host, Raise};
use super::order::{following, sort_keys};
use super::vm::Core;

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
            "getmetatable" | "setmetatable" => {
                // It would show the function that stands in for the table of strings.
                self.group(lua, "string")?;
                "meta"
            }
            "string" | "table" => return self.group(lua, name).map(Value::Table),
            "tostring" => "text",
            "math" => return self.seeded_math(lua).map(Value::Table),
            _ => return self.base.raw_get(name),
        };
        self.group(lua, group)?.raw_get(name)
    }

    /// The table of one of Lua's own libraries, which no prompt sees.
    fn native_library(&self, lua: &Lua, library: &'static str) -> mlua::Result<Table> {
        match self.base.raw_get(library)? {
            Value::Table(table) => Ok(table),
            _ => self.library(lua, StdLib::TABLE, library),
        }
    }

    /// A function of one of Lua's own libraries, whose table no prompt sees.
    pub(super) fn native(
        &self,
        lua: &Lua,
        library: &'static str,
        name: &str,
    ) -> mlua::Result<Value> {
        self.native_library(lua, library)?.raw_get(name)
    }

    /// Has the methods of strings made when the first one is looked for.
    pub(super) fn defer_strings(self: &Rc<Self>, lua: &Lua) -> mlua::Result<()> {
        let core = self.clone();
        let index = lua.create_function(move |lua, (_, key): (Value, Value)| {
            core.group(lua, "string")?.raw_get::<Value>(key)
        })?;
        match lua.type_metatable::<LuaString>() {
            Some(metatable) => metatable.raw_set("__index", index),
            None => Ok(()),
        }
    }

    /// The table of a library as a prompt sees it: Lua's own functions, but for these.
    fn replaced(
        self: &Rc<Self>,
        lua: &Lua,
        library: &'static str,
        by: &[(&'static str, &[&str])],
    ) -> mlua::Result<Table> {
        let table = lua.create_table()?;
        let native = self.native_library(lua, library)?;
        for pair in native.pairs::<Value, Value>() {
            let (name, function) = pair?;
            table.raw_set(name, function)?;
        }
        for (group, names) in by {
            let group = self.group(lua, group)?;
            for name in *names {
                table.raw_set(*name, group.raw_get::<Value>(*name)?)?;
            }
        }
        Ok(table)
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
                    following(args, &|| core.poll())
                })?;
                let core = self.clone();
                let sort =
                    lua.create_function(move |_, keys: Table| sort_keys(&keys, &|| core.poll()))?;
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
                    sort,
                    following,
                    touch,
                ))?
            }
            "text" => helpers::load(lua, Helper::Text)?.call((
                base("tostring")?,
                self.native(lua, "string", "format")?,
                base("type")?,
                base("select")?,
                self.native(lua, "string", "sub")?,
                self.native(lua, "string", "find")?,
                self.group(lua, "strings")?.raw_get::<Value>("gmatch")?,
                ordinal(lua)?,
            ))?,
            "string" => {
                const NAMES: [&str; 5] = ["find", "gmatch", "gsub", "match", "rep"];
                let by: [(_, &[_]); 2] = [("strings", &NAMES), ("text", &["format"])];
                let table = self.replaced(lua, "string", &by)?;
                if let Some(metatable) = lua.type_metatable::<LuaString>() {
                    metatable.raw_set("__index", &table)?;
                }
                table
            }
            "table" => {
                let by: [(_, &[_]); 2] = [
                    ("tables", &["concat", "sort"]),
                    ("shift", &["insert", "move", "remove"]),
                ];
                self.replaced(lua, "table", &by)?
            }
            "strings" => self.strings(lua)?,
            "shift" => helpers::load(lua, Helper::Shift)?.call((
                self.native(lua, "table", "insert")?,
                self.native(lua, "table", "remove")?,
                self.native(lua, "table", "move")?,
                base("type")?,
                base("select")?,
                base("getmetatable")?,
                base("error")?,
                self.native(lua, "string", "gsub")?,
                lua.create_function(|lua, value: Value| lua.coerce_integer(value))?,
                lua.create_function(metafield)?,
            ))?,
            "tables" => {
                let text = self.group(lua, "text")?;
                let integer = lua.create_function(|_, value: Value| Ok(value.is_integer()))?;
                helpers::load(lua, Helper::Tables)?.call((
                    self.native(lua, "table", "concat")?,
                    self.native(lua, "table", "sort")?,
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
