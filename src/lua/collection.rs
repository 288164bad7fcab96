//! The members of a fanout's collection (spec K61 to K67).

use mlua::{Lua, Table, Value};

use super::convert::{sorted_pairs, to_lua};
use super::failure::Failure;
use super::guard::snapshot_of;
use super::watch::{Cancelled, Watch};
use crate::prompt::Dialect;

/// A collection's members in the order of spec K64: an array member as itself, a keyed one as a
/// pair.
pub(super) fn collect(lua: &Lua, dialect: Dialect, collection: Value) -> mlua::Result<Table> {
    let refuse = |text: String| mlua::Error::from(Failure::lua(text));
    let Value::Table(table) = collection else {
        return Err(refuse(
            match dialect {
                Dialect::PromptForge => {
                    "fanout's second parameter is a collection; for a list section use \
                     list_from_section(heading)"
                }
                Dialect::Runvil => {
                    "tasks.fanout's second parameter is a collection; for a list section use \
                     prompt.list(heading)"
                }
            }
            .to_owned(),
        ));
    };
    // A guarded table stands for the data it holds.
    let watch = Watch::of(lua);
    let table = match snapshot_of(&table, &watch)? {
        Some(data) => match to_lua(lua, &data)? {
            Value::Table(plain) => plain,
            _ => table,
        },
        None => table,
    };
    let length = table.raw_len();
    let in_array = |key: &Value| matches!(key, Value::Integer(i) if *i >= 1 && *i <= length as i64);
    let keyed: Vec<(Value, Value)> = match is_sequence(&table, length, &watch)? {
        true => Vec::new(),
        false => sorted_pairs(&table, &watch)?
            .into_iter()
            .filter(|(key, _)| !in_array(key))
            .collect(),
    };
    for (key, _) in &keyed {
        check_key(key).map_err(refuse)?;
    }
    let members = lua.create_table_with_capacity(length + keyed.len(), 0)?;
    for at in 1..=length {
        watch.step(1)?;
        let member: Value = table.raw_get(at)?;
        check_member(&member, || at.to_string()).map_err(refuse)?;
        members.raw_set(at, member)?;
    }
    for (at, (key, member)) in (length + 1..).zip(keyed) {
        watch.step(1)?;
        check_member(&member, || label(lua, &key)).map_err(refuse)?;
        let pair = lua.create_table_with_capacity(0, 2)?;
        pair.raw_set("key", key)?;
        pair.raw_set("value", member)?;
        members.raw_set(at, pair)?;
    }
    match members.raw_len() {
        0 => Err(refuse(
            "fanout over an empty collection: no work is likely a bug".to_owned(),
        )),
        _ => Ok(members),
    }
}

/// Whether a table has no keys but `1..length`: its count then says so without a sort.
fn is_sequence(table: &Table, length: usize, watch: &Watch) -> Result<bool, Cancelled> {
    let mut count = 0;
    for _ in table.pairs::<Value, Value>() {
        watch.step(1)?;
        count += 1;
        if count > length {
            return Ok(false);
        }
    }
    for at in (1..=length).rev() {
        watch.step(1)?;
        let member = table.raw_get::<Value>(at);
        if member.map_or(true, |member| member.is_nil()) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn check_key(key: &Value) -> Result<(), String> {
    match key {
        Value::Boolean(_) | Value::Integer(_) => Ok(()),
        Value::Number(n) if n.is_finite() => Ok(()),
        Value::Number(_) => Err("fanout collection key is not a finite number".to_owned()),
        Value::String(text) => text.to_str().map(drop).map_err(|error| error.to_string()),
        other => Err(format!(
            "fanout collection key must be a string, number, or boolean, got {}",
            other.type_name()
        )),
    }
}

fn check_member(member: &Value, label: impl FnOnce() -> String) -> Result<(), String> {
    match member {
        Value::Boolean(_)
        | Value::Integer(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Table(_) => Ok(()),
        other => Err(format!(
            "fanout collection member at index {} is a {}; members must be data",
            label(),
            other.type_name()
        )),
    }
}

/// A key as messages name it (spec K62).
fn label(lua: &Lua, key: &Value) -> String {
    match key {
        Value::Boolean(b) => b.to_string(),
        other => match lua.coerce_string(other.clone()) {
            Ok(Some(text)) => text.to_string_lossy(),
            _ => other.type_name().to_owned(),
        },
    }
}
