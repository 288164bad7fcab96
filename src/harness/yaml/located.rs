//! A value that is blamed itself for what is wrong with it as a whole.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{
    Deserialize, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};

/// Reads a value so that an error raised once it was read, such as one of a conversion, has the
/// value's own line and path. Without this it has those of the list or map around it, since a YAML
/// reader knows a place only while it visits it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Located<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Located<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visited = deserializer.deserialize_any(Locating(PhantomData))?;
        Ok(Self(visited))
    }
}

struct Locating<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Locating<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        T::deserialize(().into_deserializer())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<T, E> {
        T::deserialize(value.into_deserializer())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        T::deserialize(value.into_deserializer())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        T::deserialize(value.into_deserializer())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
        T::deserialize(value.into_deserializer())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<T, E> {
        T::deserialize(value.into_deserializer())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<T, A::Error> {
        T::deserialize(SeqAccessDeserializer::new(sequence))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}
