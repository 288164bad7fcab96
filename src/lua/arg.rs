//! Arguments as engine functions read them.

use std::rc::Rc;

use mlua::{Table, Value};

use super::convert::{NotData, to_data, to_sequences, type_name};
use super::data::Data;
use super::failure::Failure;
use super::guard::is_frozen;
use super::host::{Call, Host};
use super::object::Object;
use super::raised::failure_of;
use super::vm::scalar;

/// How many elements a table may give by indexing alone: more than a section's memory holds.
const MOST_INDEXED: usize = 1 << 20;

/// One argument of a call, or a part of one.
#[derive(Clone, Debug)]
pub struct Arg(pub(super) Value);

impl Arg {
    /// Whether it is absent or nil.
    pub fn is_nil(&self) -> bool {
        self.0.is_nil()
    }

    /// The type word of the engine's messages: `integer` for an integer, else Lua's.
    pub fn type_of(&self) -> &'static str {
        type_name(&self.0)
    }

    /// The type word that Lua itself has.
    pub fn lua_type(&self) -> &'static str {
        match self.0 {
            Value::Integer(_) => "number",
            _ => self.type_of(),
        }
    }

    /// A Lua integer.
    pub fn integer(&self) -> Option<i64> {
        self.0.as_integer()
    }

    /// A Lua number, integer or float.
    pub fn number(&self) -> Option<f64> {
        match self.0 {
            Value::Integer(i) => Some(i as f64),
            Value::Number(n) => Some(n),
            _ => None,
        }
    }

    /// Whether it is a frozen table, such as a part of `argv` (spec L126).
    pub fn is_frozen(&self) -> bool {
        self.0.as_table().is_some_and(is_frozen)
    }

    /// Whether it is a table.
    pub fn is_table(&self) -> bool {
        self.0.is_table()
    }

    /// Whether it is a function.
    pub fn is_function(&self) -> bool {
        self.0.is_function()
    }

    /// Whether it is userdata.
    pub fn is_userdata(&self) -> bool {
        self.type_of() == "userdata"
    }

    /// What an object of the engine's stands for; `None` for anything else.
    pub fn object<T: 'static>(&self) -> Option<Rc<T>> {
        let object = self.0.as_userdata()?.borrow::<Object>().ok()?;
        object.inner.clone().downcast().ok()
    }

    /// A boolean.
    pub fn boolean(&self) -> Option<bool> {
        self.0.as_boolean()
    }

    /// Whether it is a function, userdata or thread: never data, whatever it holds.
    pub fn is_opaque(&self) -> bool {
        matches!(
            self.0,
            Value::Function(_) | Value::UserData(_) | Value::LightUserData(_) | Value::Thread(_)
        )
    }

    /// A string's text; `None` for another type.
    pub fn text(&self) -> Option<Result<String, NotUtf8>> {
        let text = self.0.as_string()?;
        Some(
            text.to_str()
                .map(|text| text.to_owned())
                .map_err(|_| NotUtf8),
        )
    }

    /// A string's or number's text, bytes that are no UTF-8 replaced; the type word of another.
    pub fn lossy(&self) -> String {
        match &self.0 {
            Value::String(text) => text.to_string_lossy(),
            Value::Integer(number) => number.to_string(),
            Value::Number(number) => number.to_string(),
            other => type_name(other).to_owned(),
        }
    }

    /// A required string (spec L36).
    ///
    /// # Errors
    /// `{name} must be a string, got {type}` or `{name} must be a valid UTF-8 string`.
    pub fn string(&self, name: &str) -> Result<String, Failure> {
        match self.text() {
            Some(Ok(text)) => Ok(text),
            Some(Err(NotUtf8)) => Err(Failure::lua(format!("{name} must be a valid UTF-8 string"))),
            None => {
                let found = self.type_of();
                Err(Failure::lua(format!(
                    "{name} must be a string, got {found}"
                )))
            }
        }
    }

    /// The JSON data it stands for. `root` names it in the error's path.
    ///
    /// # Errors
    /// Where it is not data, and its type.
    pub fn data<H: Host>(&self, root: &str, call: &Call<'_, H>) -> Result<Data, NotData> {
        to_data(call.lua, &self.0, root)
    }

    /// As [`Arg::data`], but a table with a sequence part is that sequence, whatever else it
    /// holds (spec M35).
    pub fn sequences<H: Host>(&self, root: &str, call: &Call<'_, H>) -> Result<Data, NotData> {
        to_sequences(call.lua, &self.0, root)
    }

    /// The text of a result (spec K21a); `None` is nil.
    ///
    /// # Errors
    /// `cannot return a {type} as a result`.
    pub fn scalar(&self) -> Result<Option<String>, Failure> {
        scalar(&self.0)
    }

    /// A field, read as Lua code would read it; nil where this is no table.
    ///
    /// # Errors
    /// What a prompt's own `__index` raised.
    pub fn field(&self, name: &str) -> Result<Arg, Failure> {
        self.read(|table| table.get(name))
    }

    /// An element, read as Lua code would read it; nil where this is no table.
    ///
    /// # Errors
    /// What a prompt's own `__index` raised.
    pub fn element(&self, index: usize) -> Result<Arg, Failure> {
        self.read(|table| table.get(index))
    }

    /// Hands over the elements of a table's list part in order. Where that is empty the table is
    /// indexed until nil comes: a guarded table has no raw length of its own (spec K103).
    ///
    /// # Errors
    /// What a prompt's own `__index` raised, or that it has no end, or what the visitor says.
    pub fn each(&self, mut visit: impl FnMut(Arg) -> Result<(), Failure>) -> Result<(), Failure> {
        let length = self.raw_len();
        for at in 1..=length {
            visit(self.element(at)?)?;
        }
        if length > 0 {
            return Ok(());
        }
        for at in 1..=MOST_INDEXED {
            let element = self.element(at)?;
            if element.is_nil() {
                return Ok(());
            }
            visit(element)?;
        }
        Err(Failure::lua("not enough memory"))
    }

    /// The raw length of a table.
    pub fn raw_len(&self) -> usize {
        self.0.as_table().map_or(0, Table::raw_len)
    }

    fn read(&self, get: impl FnOnce(&Table) -> mlua::Result<Value>) -> Result<Arg, Failure> {
        match &self.0 {
            Value::Table(table) => get(table).map(Arg).map_err(|error| failure_of(&error)),
            _ => Ok(Arg(Value::Nil)),
        }
    }
}

/// A Lua string that is not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotUtf8;
