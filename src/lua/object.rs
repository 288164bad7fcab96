//! Objects of the engine as Lua holds them: sealed userdata with fields to read (spec M25, M26,
//! T60, T61).

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use mlua::{Lua, MetaMethod, UserData, UserDataFields, UserDataMethods, Value};

use super::convert::to_lua;
use super::data::Data;
use super::failure::Failure;

/// A value of the engine's in Lua: an immutable snapshot that no data can hold.
#[derive(Clone)]
pub struct Object {
    /// Its fields.
    pub fields: Fields,
    /// What `tostring` gives.
    pub text: Arc<str>,
    /// What the engine knows it by.
    pub inner: Rc<dyn Any>,
    /// What objects of its kind are called, where a section VM has one value for each thing: then
    /// the same thing is the same value, wherever it comes from.
    pub noun: Option<&'static str>,
}

/// Gives an object's field of a name; `None` where it has none.
pub type Fields = Rc<dyn Fn(&str) -> Option<Part>>;

/// What a field of an object holds. A table is new at every read.
#[derive(Clone, Debug)]
pub enum Part {
    /// Data.
    Data(Data),
    /// Another object.
    Object(Object),
    /// A sequence of objects.
    Objects(Vec<Object>),
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Object").field(&self.text).finish()
    }
}

impl PartialEq for Object {
    /// Two are the same when they stand for the same thing of the engine's.
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.inner, &other.inner)
    }
}

/// The objects that a VM has one value of.
#[derive(Default)]
struct Known(HashMap<*const (), Value>);

impl Object {
    /// A value that shows nothing, for helpers to hand on.
    pub fn opaque<T: 'static>(inner: T) -> Self {
        Self {
            fields: Rc::new(|_| None),
            text: Arc::default(),
            inner: Rc::new(inner),
            noun: None,
        }
    }

    /// The value that stands for it.
    pub(super) fn into_lua(self, lua: &Lua) -> mlua::Result<Value> {
        if self.noun.is_none() {
            return lua.create_userdata(self).map(Value::UserData);
        }
        let thing = Rc::as_ptr(&self.inner).cast::<()>();
        if let Some(known) = lua.app_data_ref::<Known>()
            && let Some(value) = known.0.get(&thing)
        {
            return Ok(value.clone());
        }
        let value = Value::UserData(lua.create_userdata(self)?);
        if lua.app_data_ref::<Known>().is_none() {
            lua.set_app_data(Known::default());
        }
        if let Some(mut known) = lua.app_data_mut::<Known>() {
            known.0.insert(thing, value.clone());
        }
        Ok(value)
    }
}

/// A sequence of objects, a table of its own.
pub(super) fn sequence(lua: &Lua, objects: Vec<Object>) -> mlua::Result<Value> {
    let list = lua.create_table_with_capacity(objects.len(), 0)?;
    for (at, object) in (1i64..).zip(objects) {
        list.raw_set(at, object.into_lua(lua)?)?;
    }
    Ok(Value::Table(list))
}

impl UserData for Object {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        // What Lua's own messages call such a value.
        fields.add_meta_field("__name", "userdata");
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, object, key: Value| {
            let name = key.as_string().map(|key| key.to_string_lossy());
            match name.and_then(|name| (object.fields)(&name)) {
                Some(Part::Data(data)) => to_lua(lua, &data),
                Some(Part::Object(object)) => object.into_lua(lua),
                Some(Part::Objects(objects)) => sequence(lua, objects),
                None => {
                    let key = shown(lua, key)?;
                    let text = format!("attempt to get an unknown field '{key}'");
                    Err(Failure::lua(text).into())
                }
            }
        });
        methods.add_meta_method(
            MetaMethod::NewIndex,
            |lua, object, (key, _): (Value, Value)| -> mlua::Result<()> {
                let key = shown(lua, key)?;
                let text = match object.noun {
                    Some(noun) => format!("{noun} objects are frozen: cannot assign field {key:?}"),
                    None => format!("attempt to set an unknown field '{key}'"),
                };
                Err(Failure::lua(text).into())
            },
        );
        methods.add_meta_method(MetaMethod::ToString, |lua, object, ()| {
            lua.create_string(&*object.text)
        });
    }
}

/// A key, for a message.
fn shown(lua: &Lua, key: Value) -> mlua::Result<String> {
    Ok(match lua.coerce_string(key.clone())? {
        Some(text) => text.to_string_lossy(),
        None => key.type_name().to_owned(),
    })
}
