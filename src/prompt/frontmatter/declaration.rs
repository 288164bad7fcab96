//! The declarations of args, model roles, tools, Plugins and Packs (spec F49, L106 to L109).

use super::id::{check_plugin, check_tool, split_pack};
use super::reading::{
    Detail, Failure, Reading, Scalar, Shape, Visit, fields, found, unknown, wrong,
};
use super::shape::{
    Anything, Boolean, List, Text, ignore_map, ignore_sequence, ignore_tagged, mismatch,
};
use crate::prompt::tree::{
    Arg, ArgDefault, ArgType, FileDeclaration, Keyword, PackReference, Plugin, Role,
};
use serde::de::{EnumAccess, MapAccess, SeqAccess};

/// A word of a closed set.
#[derive(Clone, Copy)]
struct Word<T: 'static>(&'static [(&'static str, T)]);

impl<T: Copy> Shape<'_> for Word<T> {
    type Value = T;

    fn expected(&self) -> String {
        "a string".to_owned()
    }

    fn scalar(self, _: &Reading, scalar: Scalar<'_>) -> Result<T, Failure> {
        let Scalar::Text(text) = scalar else {
            return mismatch(&self, scalar);
        };
        let known = self.0.iter().find(|(word, _)| *word == text);
        known.map(|(_, value)| *value).ok_or_else(|| {
            let words: Vec<_> = self.0.iter().map(|(word, _)| *word).collect();
            wrong(unknown("variant", text, &words))
        })
    }
}

const ARG_TYPES: [(&str, ArgType); 4] = [
    ("string", ArgType::String),
    ("boolean", ArgType::Boolean),
    ("integer", ArgType::Integer),
    ("number", ArgType::Number),
];

/// `input:` or `output:`.
pub(super) struct FileShape;

impl<'de> Shape<'de> for FileShape {
    type Value = FileDeclaration;

    fn expected(&self) -> String {
        "a map with `path` and `description`".to_owned()
    }

    fn map<A: MapAccess<'de>>(self, reading: &Reading, map: A) -> Result<Self::Value, A::Error> {
        let (mut path, mut description) = (None, None);
        fields(reading, &["path", "description"], map, |key, map| {
            let text = reading.value(map, Text)?;
            *(if key == "path" {
                &mut path
            } else {
                &mut description
            }) = Some(text);
            Ok(())
        })?;
        Ok(FileDeclaration {
            path: path.ok_or_else(|| reading.missing("path"))?,
            description: description.ok_or_else(|| reading.missing("description"))?,
        })
    }
}

/// The default of an arg, before its type is looked at.
struct Default;

/// What is written as a default.
enum Written {
    Null,
    Value(ArgDefault),
    /// A collection or a tagged value, which no type has.
    Other,
}

impl Written {
    /// The default, if it is of the declared type (spec L108).
    fn of_type(self, kind: ArgType) -> Result<Option<ArgDefault>, String> {
        use ArgDefault as Value;
        match (self, kind) {
            (Self::Null, _) => Ok(None),
            (Self::Value(value @ Value::String(_)), ArgType::String)
            | (Self::Value(value @ Value::Boolean(_)), ArgType::Boolean)
            | (Self::Value(value @ Value::Integer(_)), ArgType::Integer | ArgType::Number)
            | (Self::Value(value @ Value::Number(_)), ArgType::Number) => Ok(Some(value)),
            _ => {
                let known = ARG_TYPES.iter().find(|(_, known)| *known == kind);
                let word = known.map_or("", |(word, _)| word);
                Err(format!(
                    "the default does not match the declared type `{word}`"
                ))
            }
        }
    }
}

impl<'de> Shape<'de> for Default {
    type Value = (Written, Visit);

    fn expected(&self) -> String {
        "a default".to_owned()
    }

    fn scalar(self, reading: &Reading, scalar: Scalar<'_>) -> Result<Self::Value, Failure> {
        let value = match scalar {
            Scalar::Null => Written::Null,
            Scalar::Text(text) => Written::Value(ArgDefault::String(text.to_owned())),
            Scalar::Boolean(value) => Written::Value(ArgDefault::Boolean(value)),
            Scalar::Integer(value) => Written::Value(match i64::try_from(value) {
                Ok(value) => ArgDefault::Integer(value),
                Err(_) => ArgDefault::Number(value as f64),
            }),
            Scalar::Float(value) => Written::Value(ArgDefault::Number(value)),
        };
        Ok((value, reading.current()))
    }

    fn sequence<A: SeqAccess<'de>>(
        self,
        reading: &Reading,
        items: A,
    ) -> Result<Self::Value, A::Error> {
        let at = reading.current();
        ignore_sequence(items).map(|()| (Written::Other, at))
    }

    fn map<A: MapAccess<'de>>(self, reading: &Reading, map: A) -> Result<Self::Value, A::Error> {
        let at = reading.current();
        ignore_map(map).map(|()| (Written::Other, at))
    }

    fn tagged<A: EnumAccess<'de>>(
        self,
        reading: &Reading,
        data: A,
    ) -> Result<Self::Value, A::Error> {
        let at = reading.current();
        ignore_tagged(data).map(|()| (Written::Other, at))
    }
}

/// An arg declaration.
#[derive(Clone, Copy)]
pub(super) struct ArgShape;

impl<'de> Shape<'de> for ArgShape {
    type Value = Arg;

    fn expected(&self) -> String {
        "a map with `type`, `optional`, `default`, and `description`".to_owned()
    }

    fn map<A: MapAccess<'de>>(self, reading: &Reading, map: A) -> Result<Arg, A::Error> {
        let (mut kind, mut optional, mut description) = (None, false, None);
        // A default that comes before its type waits for it.
        let (mut written, mut default) = (None, None);
        let known = ["type", "optional", "default", "description"];
        fields(reading, &known, map, |key, map| {
            match key {
                "type" => kind = Some(reading.value(map, Word(&ARG_TYPES))?),
                "optional" => optional = reading.value(map, Boolean)?,
                "default" => written = Some(reading.value(map, Default)?),
                _ => description = Some(reading.value(map, Text)?),
            }
            if let Some(kind) = kind
                && let Some((value, at)) = written.take()
            {
                default = value.of_type(kind).map_err(|text| {
                    reading.fail_with(Failure {
                        detail: Detail::Text(text),
                        at: Some(at),
                    })
                })?;
            }
            Ok(())
        })?;
        let kind = kind.ok_or_else(|| reading.missing("type"))?;
        Ok(Arg {
            kind,
            optional,
            default,
            description,
        })
    }
}

/// The smallest context window of a role.
struct MinContext;

impl Shape<'_> for MinContext {
    type Value = u32;

    fn expected(&self) -> String {
        "a whole number from 1 to 4294967295".to_owned()
    }

    fn scalar(self, _: &Reading, scalar: Scalar<'_>) -> Result<u32, Failure> {
        let Scalar::Integer(value) = scalar else {
            return mismatch(&self, scalar);
        };
        let tokens = u32::try_from(value).ok().filter(|tokens| *tokens > 0);
        tokens.ok_or_else(|| {
            wrong(format!(
                "invalid value: {}, expected {}",
                found(scalar),
                self.expected()
            ))
        })
    }
}

/// A model role declaration.
#[derive(Clone, Copy)]
pub(super) struct RoleShape;

impl<'de> Shape<'de> for RoleShape {
    type Value = Role;

    fn expected(&self) -> String {
        "a map with `keywords`, `min_context`, and `description`".to_owned()
    }

    fn map<A: MapAccess<'de>>(self, reading: &Reading, map: A) -> Result<Role, A::Error> {
        let mut role = Role::default();
        fields(
            reading,
            &["keywords", "min_context", "description"],
            map,
            |key, map| {
                match key {
                    "keywords" => {
                        let keywords = List("a list of keywords", Word(&Keyword::WORDS));
                        role.keywords = reading.value(map, keywords)?;
                    }
                    "min_context" => {
                        role.min_context = Some(reading.value(map, MinContext)?);
                    }
                    _ => role.description = Some(reading.value(map, Text)?),
                }
                Ok(())
            },
        )?;
        Ok(role)
    }
}

/// A value of `tools:`.
#[derive(Clone, Copy)]
pub(super) struct ToolShape;

impl Shape<'_> for ToolShape {
    type Value = String;

    fn expected(&self) -> String {
        "an exact tool path string".to_owned()
    }

    fn scalar(self, _: &Reading, scalar: Scalar<'_>) -> Result<String, Failure> {
        let Scalar::Text(text) = scalar else {
            return mismatch(&self, scalar);
        };
        check_tool(text).map(|()| text.to_owned()).map_err(wrong)
    }
}

/// An entry of `plugins:`.
#[derive(Clone, Copy)]
pub(super) struct PluginShape;

/// The id of a Plugin, by itself or as `ref`.
struct PluginId;

impl Shape<'_> for PluginId {
    type Value = String;

    fn expected(&self) -> String {
        "a string".to_owned()
    }

    fn scalar(self, _: &Reading, scalar: Scalar<'_>) -> Result<String, Failure> {
        let Scalar::Text(text) = scalar else {
            return mismatch(&self, scalar);
        };
        check_plugin(text).map(|()| text.to_owned()).map_err(wrong)
    }
}

impl<'de> Shape<'de> for PluginShape {
    type Value = Plugin;

    fn expected(&self) -> String {
        "a Plugin id string or a map with `ref`, `optional`, and `config`".to_owned()
    }

    fn scalar(self, reading: &Reading, scalar: Scalar<'_>) -> Result<Plugin, Failure> {
        let Scalar::Text(_) = scalar else {
            return mismatch(&self, scalar);
        };
        let id = PluginId.scalar(reading, scalar)?;
        Ok(Plugin {
            id,
            optional: false,
            config: None,
        })
    }

    fn map<A: MapAccess<'de>>(self, reading: &Reading, map: A) -> Result<Plugin, A::Error> {
        let (mut id, mut optional, mut config) = (None, false, None);
        fields(reading, &["ref", "optional", "config"], map, |key, map| {
            match key {
                "ref" => id = Some(reading.value(map, PluginId)?),
                "optional" => optional = reading.value(map, Boolean)?,
                _ => config = Some(reading.value(map, Anything)?),
            }
            Ok(())
        })?;
        let id = id.ok_or_else(|| reading.missing("ref"))?;
        Ok(Plugin {
            id,
            optional,
            config,
        })
    }
}

/// An entry of `uses:`.
#[derive(Clone, Copy)]
pub(super) struct PackShape;

impl Shape<'_> for PackShape {
    type Value = PackReference;

    fn expected(&self) -> String {
        "a Pack id string".to_owned()
    }

    fn scalar(self, _: &Reading, scalar: Scalar<'_>) -> Result<PackReference, Failure> {
        let Scalar::Text(text) = scalar else {
            return mismatch(&self, scalar);
        };
        let (vendor, name) = split_pack(text).map_err(wrong)?;
        Ok(PackReference {
            vendor: vendor.map(str::to_owned),
            name: name.to_owned(),
        })
    }
}
