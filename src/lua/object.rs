//! Objects of the engine as Lua holds them: sealed userdata with fields to read (spec M25, M26).

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

use mlua::{MetaMethod, UserData, UserDataFields, UserDataMethods, Value};

use super::convert::to_lua;
use super::data::Data;
use super::failure::Failure;

/// A value of the engine's in Lua: an immutable snapshot that no data can hold.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its fields; a table among them is new at every read.
    pub fields: Vec<(&'static str, Data)>,
    /// What `tostring` gives.
    pub text: Arc<str>,
    /// What the engine knows it by.
    pub inner: Rc<dyn Any>,
}

impl PartialEq for Object {
    /// Two are the same when they stand for the same thing of the engine's.
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.inner, &other.inner)
    }
}

impl UserData for Object {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        // What Lua's own messages call such a value.
        fields.add_meta_field("__name", "userdata");
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, object, key: Value| {
            let field = key.as_string().and_then(|key| {
                let mut fields = object.fields.iter();
                fields.find(|(name, _)| *key == **name)
            });
            match field {
                Some((_, value)) => to_lua(lua, value),
                None => Err(unknown(lua, "get", key)?),
            }
        });
        methods.add_meta_method(
            MetaMethod::NewIndex,
            |lua, _, (key, _): (Value, Value)| -> mlua::Result<()> {
                Err(unknown(lua, "set", key)?)
            },
        );
        methods.add_meta_method(MetaMethod::ToString, |lua, object, ()| {
            lua.create_string(&*object.text)
        });
    }
}

fn unknown(lua: &mlua::Lua, what: &str, key: Value) -> mlua::Result<mlua::Error> {
    let key = match lua.coerce_string(key.clone())? {
        Some(text) => text.to_string_lossy(),
        None => key.type_name().to_owned(),
    };
    Ok(Failure::lua(format!("attempt to {what} an unknown field '{key}'")).into())
}
