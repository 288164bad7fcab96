//! The arguments of a library function that is replaced, read as Lua's own functions read theirs.

use mlua::{Error, Lua, LuaString, Value};

/// Why a library function did not come to its end.
pub(super) enum Failed {
    /// In Lua's words.
    Text(String),
    Error(Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// The arguments of a function, read as Lua's own functions read theirs.
pub(super) struct Arguments<'a> {
    pub(super) lua: &'a Lua,
    /// What the function is called where nothing says how it was called.
    pub(super) name: &'static str,
    pub(super) args: &'a [Value],
}

impl Arguments<'_> {
    pub(super) fn get(&self, index: usize) -> &Value {
        self.args.get(index).unwrap_or(&Value::Nil)
    }

    pub(super) fn string(&self, index: usize) -> Result<LuaString, Failed> {
        match self.get(index) {
            Value::String(text) => Ok(text.clone()),
            number @ (Value::Integer(_) | Value::Number(_)) => {
                let text = self.lua.coerce_string(number.clone())?;
                text.ok_or_else(|| self.type_error(index, "string"))
            }
            _ => Err(self.type_error(index, "string")),
        }
    }

    /// An integer; `None` where there is none.
    pub(super) fn integer(&self, index: usize) -> Result<Option<i64>, Failed> {
        let value = self.get(index);
        if value.is_nil() {
            return Ok(None);
        }
        if let Some(integer) = self.lua.coerce_integer(value.clone())? {
            return Ok(Some(integer));
        }
        Err(match self.lua.coerce_number(value.clone())? {
            Some(_) => self.error(index, "number has no integer representation"),
            None => self.type_error(index, "number"),
        })
    }

    pub(super) fn type_error(&self, index: usize, expected: &str) -> Failed {
        let found = match self.args.get(index) {
            None => "no value".to_owned(),
            Some(value) => own_name(value).unwrap_or_else(|| match value {
                Value::LightUserData(_) => "light userdata".to_owned(),
                Value::Integer(_) | Value::Number(_) => "number".to_owned(),
                Value::Error(_) => "userdata".to_owned(),
                value => value.type_name().to_owned(),
            }),
        };
        self.error(index, &format!("{expected} expected, got {found}"))
    }

    /// What is wrong with an argument, in Lua's words: a method's object is not counted.
    fn error(&self, index: usize, text: &str) -> Failed {
        let called = self.lua.inspect_stack(1, |frame| {
            let names = frame.names();
            let is_method = names.name_what == Some("method");
            (names.name.map(|name| name.into_owned()), is_method)
        });
        let (name, is_method) = called.unwrap_or_default();
        let name = name.as_deref().unwrap_or(self.name);
        Failed::Text(match (is_method, index) {
            (true, 0) => format!("calling '{name}' on bad self ({text})"),
            (true, index) => format!("bad argument #{index} to '{name}' ({text})"),
            (false, index) => format!("bad argument #{} to '{name}' ({text})", index + 1),
        })
    }
}

/// The `__name` of a value's metatable.
fn own_name(value: &Value) -> Option<String> {
    let Value::Table(table) = value else {
        return None;
    };
    match table.metatable()?.raw_get("__name").ok()? {
        Value::String(name) => Some(name.to_string_lossy()),
        _ => None,
    }
}
