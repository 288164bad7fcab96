//! `tostring` and `string.format` without addresses: a value that Lua would show by its address is
//! shown by a number, counted from 1 in the order in which the VM first shows such values.

use std::cell::Cell;
use std::rc::Rc;

use mlua::{Function, Lua, LuaString, MultiValue, Table, Value};

/// The natives and the numbers given so far.
struct Shown {
    tostring: Function,
    format: Function,
    numbers: Table,
    count: Cell<u64>,
}

/// What replaces Lua's `tostring` and `string.format`.
pub(super) fn functions(
    lua: &Lua,
    tostring: Function,
    format: Function,
) -> mlua::Result<(Function, Function)> {
    let numbers = lua.create_table()?;
    let weak = lua.create_table()?;
    weak.raw_set("__mode", "k")?;
    numbers.set_metatable(Some(weak))?;
    let shown = Rc::new(Shown {
        tostring,
        format,
        numbers,
        count: Cell::new(0),
    });
    let own = shown.clone();
    let tostring = lua.create_function(move |lua, args: MultiValue| match args.front() {
        Some(value) if is_reference(value) => own.show(lua, value).map(Value::String),
        _ => own.tostring.call(args),
    })?;
    let format = lua.create_function(move |lua, args: MultiValue| shown.format(lua, args))?;
    Ok((tostring, format))
}

/// Whether Lua shows the value by its address.
fn is_reference(value: &Value) -> bool {
    !matches!(
        value,
        Value::Nil | Value::Boolean(_) | Value::Integer(_) | Value::Number(_) | Value::String(_)
    )
}

impl Shown {
    fn number(&self, value: &Value) -> mlua::Result<u64> {
        if let Value::Integer(number) = self.numbers.raw_get(value)? {
            return Ok(number as u64);
        }
        self.count.set(self.count.get() + 1);
        self.numbers.raw_set(value, self.count.get())?;
        Ok(self.count.get())
    }

    /// The value's text, its own `__tostring` or `__name` included.
    fn show(&self, lua: &Lua, value: &Value) -> mlua::Result<LuaString> {
        let text: LuaString = self.tostring.call(value)?;
        let address: LuaString = self.format.call(("%p", value))?;
        let shown = match text.as_bytes().strip_suffix(&*address.as_bytes()) {
            Some(kind) => Some([kind, self.number(value)?.to_string().as_bytes()].concat()),
            None => None,
        };
        shown.map_or(Ok(text), |shown| lua.create_string(shown))
    }

    fn format(&self, lua: &Lua, mut args: MultiValue) -> mlua::Result<MultiValue> {
        let Some(Value::String(pattern)) = args.front() else {
            return self.format.call(args);
        };
        let pattern = pattern.as_bytes().to_vec();
        if !pattern.contains(&b'p') && !args.iter().any(is_reference) {
            return self.format.call(args);
        }
        let mut rewritten = Vec::with_capacity(pattern.len());
        let mut rest = &pattern[..];
        let mut at = 0;
        while let Some(percent) = rest.iter().position(|byte| *byte == b'%') {
            let options = rest[percent + 1..]
                .iter()
                .take_while(|byte| matches!(byte, b'-' | b'+' | b' ' | b'#' | b'.' | b'0'..=b'9'))
                .count();
            let end = percent + 1 + options;
            rewritten.extend_from_slice(&rest[..end]);
            let Some(conversion) = rest.get(end) else {
                rest = &[];
                break;
            };
            at += usize::from(*conversion != b'%');
            let value = args.get(at).cloned();
            match (conversion, value) {
                (b's', Some(value)) if is_reference(&value) => {
                    args[at] = Value::String(self.show(lua, &value)?);
                    rewritten.push(b's');
                }
                (b'p', Some(value)) => {
                    let text = match is_reference(&value) || value.is_string() {
                        true => self.number(&value)?.to_string(),
                        false => "(null)".to_owned(),
                    };
                    args[at] = Value::String(lua.create_string(text)?);
                    rewritten.push(b's');
                }
                (other, _) => rewritten.push(*other),
            }
            rest = &rest[end + 1..];
        }
        rewritten.extend_from_slice(rest);
        args[0] = Value::String(lua.create_string(rewritten)?);
        self.format.call(args)
    }
}
