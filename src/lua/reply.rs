//! What a call gives back to Lua.

use std::rc::Rc;
use std::sync::Arc;

use mlua::{Lua, MultiValue, Value};

use super::convert::to_lua;
use super::data::Data;
use super::failure::Failure;
use super::host::Host;
use super::object::{Object, sequence};
use super::vm::Core;

/// What a call gives back to Lua.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// Nothing at all.
    None,
    /// A boolean.
    Bool(bool),
    /// A string.
    Text(String),
    /// An object of the engine's.
    Object(Object),
    /// A sequence of objects.
    Objects(Vec<Object>),
    /// Several values; of each its first.
    Several(Vec<Reply>),
    /// A shared string.
    Shared(Arc<str>),
    /// Bytes that need not be UTF-8.
    Bytes(Vec<u8>),
    /// Data, as plain tables; null reads as nil.
    Data(Data),
    /// An array of strings.
    List(Vec<String>),
    /// What `tasks.join_any` gives: handle, success and result, or three nils (spec K99, K110).
    Delivered(Option<Delivery>),
    /// What `tasks.join` gives: the results by position, and whether the time ran out (spec K100).
    Joined(Vec<Option<Delivery>>, bool),
    /// What a fanout gives: the arms' texts, and the positions of exhausted ones (spec K76).
    Arms(Vec<Arc<str>>, Vec<usize>),
}

/// The end of a task, taken by a wait.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    /// The task's id.
    pub task: Arc<str>,
    /// Its result text, or its failure.
    pub result: Result<Arc<str>, Failure>,
}

/// The Lua values of a reply.
pub(super) enum Values {
    None,
    One(Value),
    Two(Value, Value),
    Three(Value, Value, Value),
    Many(Vec<Value>),
}

impl Values {
    pub(super) fn into_multi(self) -> MultiValue {
        match self {
            Self::None => MultiValue::new(),
            Self::One(value) => MultiValue::from_iter([value]),
            Self::Two(a, b) => MultiValue::from_iter([a, b]),
            Self::Three(a, b, c) => MultiValue::from_iter([a, b, c]),
            Self::Many(values) => MultiValue::from_vec(values),
        }
    }
}

impl Reply {
    pub(super) fn into_lua<H: Host>(self, lua: &Lua, core: &Rc<Core<H>>) -> mlua::Result<Values> {
        Ok(Values::One(match self {
            Self::None => return Ok(Values::None),
            Self::Bool(value) => Value::Boolean(value),
            Self::Text(text) => Value::String(lua.create_string(text)?),
            Self::Object(object) => object.into_lua(lua)?,
            Self::Objects(objects) => sequence(lua, objects)?,
            Self::Several(replies) => {
                let mut values = Vec::with_capacity(replies.len());
                for reply in replies {
                    let first = reply.into_lua(lua, core)?.into_multi().pop_front();
                    values.push(first.unwrap_or(Value::Nil));
                }
                return Ok(Values::Many(values));
            }
            Self::Shared(text) => Value::String(lua.create_string(&*text)?),
            Self::Bytes(bytes) => Value::String(lua.create_string(bytes)?),
            Self::Data(data) => to_lua(lua, &data)?,
            Self::List(items) => Value::Table(lua.create_sequence_from(items)?),
            Self::Delivered(None) => {
                return Ok(Values::Three(Value::Nil, Value::Nil, Value::Nil));
            }
            Self::Delivered(Some(delivery)) => {
                let handle = lua.create_table_with_capacity(0, 1)?;
                handle.raw_set("task", &*delivery.task)?;
                let ok = Value::Boolean(delivery.result.is_ok());
                let result = outcome(lua, core, delivery.result)?;
                return Ok(Values::Three(Value::Table(handle), ok, result));
            }
            Self::Joined(deliveries, timed_out) => {
                let results = lua.create_table_with_capacity(deliveries.len(), 0)?;
                for (at, delivery) in (1i64..).zip(deliveries) {
                    let Some(delivery) = delivery else { continue };
                    let entry = lua.create_table_with_capacity(0, 3)?;
                    entry.raw_set("task", &*delivery.task)?;
                    entry.raw_set("ok", delivery.result.is_ok())?;
                    entry.raw_set("result", outcome(lua, core, delivery.result)?)?;
                    results.raw_set(at, entry)?;
                }
                return Ok(Values::Two(
                    Value::Table(results),
                    Value::Boolean(timed_out),
                ));
            }
            Self::Arms(texts, exhausted) => {
                let list = lua.create_table_with_capacity(texts.len(), 0)?;
                for (at, text) in (1i64..).zip(texts) {
                    list.raw_set(at, &*text)?;
                }
                let marks = lua.create_table()?;
                for at in exhausted {
                    marks.raw_set(at + 1, true)?;
                }
                return Ok(Values::Two(Value::Table(list), Value::Table(marks)));
            }
        }))
    }
}

fn outcome<H: Host>(
    lua: &Lua,
    core: &Rc<Core<H>>,
    result: Result<Arc<str>, Failure>,
) -> mlua::Result<Value> {
    match result {
        Ok(text) => lua.create_string(&*text).map(Value::String),
        Err(failure) => core.error_value(lua, failure),
    }
}
