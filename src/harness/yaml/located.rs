//! A value that is blamed itself for what is wrong with it as a whole.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    Deserialize, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

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
        T::deserialize(List(sequence))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

/// A list, which is no map: serde would take one for a struct, field by field.
struct List<A>(A);

impl<'de, A: SeqAccess<'de>> List<A> {
    fn is_no_map<V: Visitor<'de>>(visitor: &V) -> A::Error {
        A::Error::invalid_type(Unexpected::Seq, visitor)
    }
}

impl<'de, A: SeqAccess<'de>> Deserializer<'de> for List<A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_seq(self.0)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        Err(Self::is_no_map(&visitor))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        Err(Self::is_no_map(&visitor))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct enum identifier ignored_any
    }
}
