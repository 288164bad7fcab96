//! Sealed tables: `sys` (spec L66, L67).

use mlua::{Lua, Table, Value};

use super::convert::to_lua;
use super::data::Data;
use super::failure::Failure;

/// A table whose fields can only be read, and only those that there are (spec L66, L67).
///
/// `fields` are those there are at first; `later` gives them anew, for a field that is not among
/// them: some appear once and then stay (spec M24).
pub(super) fn sealed(
    lua: &Lua,
    name: &'static str,
    fields: Data,
    later: impl Fn() -> Data + 'static,
) -> mlua::Result<Table> {
    let failure = |text: String| mlua::Error::from(Failure::lua(format!("runtime error: {text}")));
    let metatable = lua.create_table_with_capacity(0, 3)?;
    metatable.raw_set(
        "__index",
        lua.create_function(move |lua, (_, key): (Value, Value)| {
            let Value::String(key) = key else {
                return Err(failure(format!(
                    "{name} fields must be accessed by string key"
                )));
            };
            let key = key.to_string_lossy();
            match fields
                .get(&key)
                .cloned()
                .or_else(|| later().get(&key).cloned())
            {
                Some(value) => to_lua(lua, &value),
                None => Err(failure(format!("unknown {name} field '{key}'"))),
            }
        })?,
    )?;
    metatable.raw_set(
        "__newindex",
        lua.create_function(
            move |lua, (_, key, _): (Value, Value, Value)| -> mlua::Result<()> {
                let key = match lua.coerce_string(key.clone())? {
                    Some(text) => text.to_string_lossy(),
                    None => key.type_name().to_owned(),
                };
                Err(failure(format!("{name} is read-only; cannot set '{key}'")))
            },
        )?,
    )?;
    metatable.raw_set("__metatable", format!("{name} is sealed"))?;
    let table = lua.create_table()?;
    table.set_metatable(Some(metatable))?;
    Ok(table)
}
