//! What no file may hold, wherever it stands: keys that are there twice, and tags. Of the first a
//! map of free-form data would keep the last, of the second a string would lose the tag, and nobody
//! would be told.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error};
use serde::de::{MapAccess, SeqAccess, Visitor};

/// A document without those, whatever else it is.
pub(super) struct Plain;

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Value)
    }
}

const TAGGED: &str = "a tagged value is not supported";

/// What a scalar of each kind is taken as.
macro_rules! scalars {
    ($($visit:ident($kind:ty)),*) => {
        $(fn $visit<E: Error>(self, value: $kind) -> Result<Self::Value, E> {
            self.scalar(value)
        })*
    };
}

struct Value;

impl Value {
    fn scalar<E>(self, _: impl fmt::Debug) -> Result<Plain, E> {
        Ok(Plain)
    }
}

impl<'de> Visitor<'de> for Value {
    type Value = Plain;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    scalars!(
        visit_bool(bool),
        visit_i64(i64),
        visit_u64(u64),
        visit_i128(i128)
    );
    scalars!(visit_u128(u128), visit_f64(f64), visit_str(&str));

    fn visit_unit<E: Error>(self) -> Result<Plain, E> {
        Ok(Plain)
    }

    fn visit_none<E: Error>(self) -> Result<Plain, E> {
        Ok(Plain)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Plain, A::Error> {
        while let Some(Plain) = list.next_element()? {}
        Ok(Plain)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Plain, A::Error> {
        let mut seen = HashSet::new();
        while let Some(()) = map.next_key_seed(NewKey(&mut seen))? {
            let Plain = map.next_value()?;
        }
        Ok(Plain)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, _: A) -> Result<Plain, A::Error> {
        Err(A::Error::custom(TAGGED))
    }
}

/// Reads a key that must be none of those that were seen; one that is no string is the text that a
/// map of strings would take it as.
struct NewKey<'a>(&'a mut HashSet<String>);

impl NewKey<'_> {
    fn scalar<E: Error>(self, key: impl fmt::Display) -> Result<(), E> {
        let key = key.to_string();
        match self.0.contains(&key) {
            true => Err(E::custom(format_args!("`{key}` is there twice"))),
            false => {
                self.0.insert(key);
                Ok(())
            }
        }
    }
}

impl<'de> DeserializeSeed<'de> for NewKey<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NewKey<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    scalars!(
        visit_bool(bool),
        visit_i64(i64),
        visit_u64(u64),
        visit_i128(i128)
    );
    scalars!(visit_u128(u128), visit_f64(f64), visit_str(&str));

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.scalar("null")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(A::Error::custom(TAGGED))
    }
}
