//! Errors on their way: what `pcall` hands back, and what a block that fails ends with (spec L94 to
//! L103).

use std::borrow::Cow;
use std::rc::Rc;

use mlua::{Error, Lua, LuaString, Table, Value};

use super::compile::Compiled;
use super::failure::{Class, Failure, Field, Kind};
use super::helpers::PLACE;
use super::host::Host;
use super::vm::Core;

const MEMORY: &str = "not enough memory";
/// Heap that turning an error of a full VM into a value may use beyond the ceiling, in bytes.
const SLACK: usize = 64 << 10;
/// How many raised strings may be under way at once, each over an older one in a `__close`.
const MARKS: usize = 200;
/// A message of more bytes than this is not kept beside its error value.
const LONG: usize = 1024;
/// The fields that error values may carry, `count` apart.
const FIELDS: [&str; 9] = [
    "reason",
    "path",
    "anchor",
    "rule",
    "task",
    "tasks",
    "name",
    "finish_reason",
    "tool",
];

/// The failure an error value was made from, and when.
struct Origin {
    /// The failure; without its message where that is long.
    failure: Failure,
    long: bool,
    epoch: u64,
}

/// The engine failure inside an error of the Lua library, or that error as one of kind `lua`.
pub(super) fn failure_of(error: &Error) -> Failure {
    match error {
        Error::CallbackError { cause, .. } => failure_of(cause),
        Error::ExternalError(inner) => match inner.downcast_ref::<Failure>() {
            Some(failure) => failure.clone(),
            None => Failure::lua(inner.to_string()),
        },
        Error::MemoryError(_) => Failure::lua(MEMORY),
        Error::RuntimeError(text) => {
            let end = text.find("\nstack traceback:").unwrap_or(text.len());
            Failure::lua(&text[..end])
        }
        other => Failure::lua(other.to_string()),
    }
}

/// Whether an error of the Lua library is at its root that there is no memory.
fn is_want_of_memory(error: &Error) -> bool {
    match error {
        Error::CallbackError { cause, .. } => is_want_of_memory(cause),
        other => matches!(other, Error::MemoryError(_)),
    }
}

impl<H: Host> Core<H> {
    /// What `pcall` hands back for an error, and whether no `pcall` may keep it (spec L94, L99).
    pub(super) fn caught(self: &Rc<Self>, lua: &Lua, error: Value) -> mlua::Result<(Value, bool)> {
        let failure = match &error {
            Value::String(text) if self.take_mark(text) => return Ok((error, false)),
            Value::String(text) if *text == MEMORY => {
                lua.set_memory_limit(self.memory.saturating_add(SLACK))?;
                let value = self.error_value(lua, Failure::lua(MEMORY));
                lua.set_memory_limit(self.memory)?;
                return Ok((value?, false));
            }
            Value::String(text) => Failure::lua(self.without_place(&text.to_string_lossy())),
            Value::Error(inner) => {
                let failure = failure_of(inner);
                if failure.class == Class::Interrupt {
                    return Ok((error, true));
                }
                failure
            }
            _ => return Ok((error, false)),
        };
        Ok((self.error_value(lua, failure)?, false))
    }

    /// Notes the string that the author's `error` or `assert` is raising.
    pub(super) fn mark(&self, text: LuaString) {
        let mut marked = self.marked.borrow_mut();
        if marked.len() == MARKS {
            marked.remove(0);
        }
        marked.push(text);
    }

    /// Whether an author raised the string. It, and what a `__close` raised over it, is under way
    /// no more.
    fn take_mark(&self, text: &LuaString) -> bool {
        let mut marked = self.marked.borrow_mut();
        let found = marked.iter().rposition(|mark| mark == text);
        if let Some(at) = found {
            marked.truncate(at);
        }
        found.is_some()
    }

    /// An error value as Lua sees it (spec L95).
    pub(super) fn error_value(self: &Rc<Self>, lua: &Lua, failure: Failure) -> mlua::Result<Value> {
        let (metatable, origins) = self.error_tables(lua)?;
        let value = lua.create_table_with_capacity(0, 2 + failure.fields.len())?;
        value.raw_set("kind", failure.kind.tag())?;
        value.raw_set("message", failure.message.as_str())?;
        for (name, field) in &failure.fields {
            match field {
                Field::Text(text) => value.raw_set(*name, text.as_str())?,
                Field::Count(count) => value.raw_set(*name, *count)?,
            }
        }
        value.set_metatable(Some(metatable))?;
        // A long message stays in Lua's heap alone, where it counts.
        let (long, failure) = match failure.message.len() > LONG {
            true => (
                true,
                Failure {
                    message: String::new(),
                    ..failure
                },
            ),
            false => (false, failure),
        };
        let epoch = self.epoch.get();
        let origin = Origin {
            failure,
            long,
            epoch,
        };
        origins.raw_set(&value, lua.create_any_userdata(origin)?)?;
        Ok(Value::Table(value))
    }

    /// The metatable of error values, and the weak table from each to its origin.
    fn error_tables(self: &Rc<Self>, lua: &Lua) -> mlua::Result<(Table, Table)> {
        if let Some(tables) = &*self.error_tables.borrow() {
            return Ok(tables.clone());
        }
        let metatable = lua.create_table()?;
        metatable.raw_set(
            "__tostring",
            lua.create_function(|lua, error: Value| match error {
                Value::Table(error) => message_of(lua, &error),
                other => lua.create_string(other.type_name()),
            })?,
        )?;
        metatable.raw_set(
            "__concat",
            lua.create_function(|lua, (left, right): (Value, Value)| {
                let mut joined = operand(lua, left)?;
                joined.extend(operand(lua, right)?);
                lua.create_string(joined)
            })?,
        )?;
        let origins = lua.create_table()?;
        let weak = lua.create_table()?;
        weak.raw_set("__mode", "k")?;
        origins.set_metatable(Some(weak))?;
        let tables = (metatable, origins);
        *self.error_tables.borrow_mut() = Some(tables.clone());
        Ok(tables)
    }

    /// What a block that raised `error` fails with.
    pub(super) fn uncaught(
        self: &Rc<Self>,
        lua: &Lua,
        block: &Compiled,
        error: &Value,
        trace: &str,
    ) -> Failure {
        self.marked.borrow_mut().clear();
        // Where Lua itself lacks memory it traces nothing; nor is it where a function of ours does.
        let trace = match error {
            Value::Error(inner) if is_want_of_memory(inner) => "",
            _ => trace,
        };
        let mut failure = match error {
            Value::String(text) => {
                Failure::lua(author_place(&text.to_string_lossy(), block, trace))
            }
            Value::Error(inner) => failure_of(inner),
            Value::Table(table) => self
                .raised_again(table)
                .unwrap_or_else(|| Failure::lua(foreign_text(lua, error))),
            other => Failure::lua(foreign_text(lua, other)),
        };
        let ordinary = failure.kind == Kind::Lua && failure.class == Class::Kind;
        if ordinary {
            failure.report = Some(match failure.report {
                // It comes from a called chain or an arm, and is traced through here (spec L92).
                Some(report) => report + &author_frames(trace),
                // What is raised for `sys` is told from what is caught by this alone (spec L68).
                None => {
                    let text = failure.message.strip_prefix("runtime error: ");
                    self.report(block, text.unwrap_or(&failure.message), trace)
                }
            });
        }
        failure
    }

    /// The failure behind an error value: the one it was made from, or after another suspending
    /// call one rebuilt from its fields (spec L102, L103).
    fn raised_again(&self, value: &Table) -> Option<Failure> {
        let origins = self.error_tables.borrow().as_ref()?.1.clone();
        let entry: Value = origins.raw_get(value).ok()?;
        let origin = entry.as_userdata()?.borrow::<Origin>().ok()?;
        let text = |name: &str| match value.raw_get(name).ok()? {
            Value::String(text) => Some(text.to_string_lossy()),
            _ => None,
        };
        if origin.epoch == self.epoch.get() {
            let mut failure = origin.failure.clone();
            if origin.long {
                failure.message = text("message").unwrap_or_default();
            }
            return Some(failure);
        }
        let kind = text("kind").and_then(|tag| Kind::from_tag(&tag));
        let kind = kind.unwrap_or(Kind::Lua);
        let mut failure = Failure::new(kind, text("message").unwrap_or_else(|| kind.tag().into()));
        failure.rebuilt = true;
        failure.fields = FIELDS
            .iter()
            .filter_map(|name| Some((*name, Field::Text(text(name)?))))
            .collect();
        if let Ok(Value::Integer(count)) = value.raw_get("count") {
            failure.fields.push(("count", Field::Count(count)));
        }
        Some(failure)
    }

    /// The text of an ordinary Lua error that ends a run: where it was, what it says, and the
    /// author's frames (spec L90 to L92).
    fn report(&self, block: &Compiled, message: &str, trace: &str) -> String {
        let trace = author_frames(trace);
        let text = match trace.is_empty() {
            true => message.to_owned(),
            false => format!("{message}\nstack traceback:{trace}"),
        };
        match first_line(&text, block.marker()) {
            None => text,
            Some(line) => {
                let label = block.label();
                format!("{label}:{line}: {}{text}", self.runtime_word())
            }
        }
    }

    /// Lua's own message without the place in front of it.
    fn without_place<'a>(&self, text: &'a str) -> &'a str {
        let markers = self.markers.borrow();
        let places = markers.iter().map(Compiled::marker);
        for marker in places {
            if let Some(rest) = text.strip_prefix(marker).and_then(after_line) {
                return rest;
            }
        }
        without_helper(text).unwrap_or(text)
    }
}

/// A message without the place of a helper in front of it; `None` where there is none.
fn without_helper(text: &str) -> Option<&str> {
    let (_, rest) = text.strip_prefix(PLACE)?.split_once(':')?;
    Some(rest.split_once(": ")?.1)
}

/// A message that Lua placed in a helper, placed where the author called it.
fn author_place<'a>(text: &'a str, block: &Compiled, trace: &str) -> Cow<'a, str> {
    let marker = block.marker();
    match (without_helper(text), first_line(trace, marker)) {
        (Some(rest), Some(line)) => format!("{marker}:{line}: {rest}").into(),
        (Some(rest), None) => rest.into(),
        (None, _) => text.into(),
    }
}

/// What follows `:{line}: `.
fn after_line(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(':')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return None;
    }
    rest[digits..].strip_prefix(": ")
}

/// The line of the first marker of a region in a text.
fn first_line<'a>(text: &'a str, marker: &str) -> Option<&'a str> {
    text.match_indices(marker).find_map(|(at, _)| {
        let rest = text[at + marker.len()..].strip_prefix(':')?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0 && rest[digits..].starts_with(':')).then(|| &rest[..digits])
    })
}

/// A traceback's lines without the frames in which the engine runs a block.
fn author_frames(trace: &str) -> String {
    let lines: Vec<&str> = trace.lines().skip(1).collect();
    let runner = lines
        .iter()
        .position(|line| line.contains("runvil/run.lua:"));
    // The runner's protected call stands just above it.
    let end = runner.map_or(lines.len(), |at| at.saturating_sub(1));
    let mut out = String::new();
    for line in &lines[..end] {
        if line.trim() != "[C]: in ?" {
            out.push('\n');
            out.push_str(line);
        }
    }
    out
}

/// The text of a raised value that is no string and no error value of the engine's (spec L100).
fn foreign_text(lua: &Lua, value: &Value) -> String {
    if let Value::Integer(_) | Value::Number(_) = value
        && let Ok(Some(text)) = lua.coerce_string(value.clone())
    {
        return text.to_string_lossy();
    }
    let own = match value {
        Value::Table(table) => table.metatable(),
        _ => None,
    };
    let show = own.and_then(|metatable| metatable.raw_get::<mlua::Function>("__tostring").ok());
    if let Some(show) = show
        && let Ok(text) = show.call::<LuaString>(value.clone())
    {
        return text.to_string_lossy();
    }
    format!("(error object is a {} value)", value.type_name())
}

fn message_of(lua: &Lua, error: &Table) -> mlua::Result<LuaString> {
    for name in ["message", "kind"] {
        if let Some(text) = lua.coerce_string(error.raw_get(name)?)? {
            return Ok(text);
        }
    }
    lua.create_string("error")
}

/// One side of `..` with an error value on the other or on both.
fn operand(lua: &Lua, value: Value) -> mlua::Result<Vec<u8>> {
    let text = match &value {
        Value::Table(table) => Some(message_of(lua, table)?),
        other => lua.coerce_string(other.clone())?,
    };
    match text {
        Some(text) => Ok(text.as_bytes().to_vec()),
        None => {
            let message = format!("attempt to concatenate a {} value", value.type_name());
            Err(Failure::lua(message).into())
        }
    }
}
