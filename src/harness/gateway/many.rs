//! Arrays of objects in a chunk: read on the way where they are short and as they should be, else
//! left as they are written until each item is asked for.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::chunk::{Form, Unread};
use super::raw::items;

/// What can be read slowly.
pub(super) trait Slow<'a>: Sized {
    /// Reads it, or finds what is wrong with it.
    fn slow(raw: &'a RawValue, form: Form) -> Result<Self, Unread>;
}

/// The items of an array.
pub(super) enum Many<'a, T> {
    /// A few, as they should be.
    Few(Vec<T>),
    /// Any, which nobody has looked at.
    Raw(&'a RawValue),
}

/// How many are a few.
const FEW: usize = 64;

/// An item of an array.
pub(super) enum Item<'a, T> {
    Read(T),
    Raw(&'a RawValue),
}

impl<'a, T: Slow<'a>> Item<'a, T> {
    /// The item, read if it has not been.
    pub(super) fn read(self, form: Form) -> Result<T, Unread> {
        match self {
            Self::Read(item) => Ok(item),
            Self::Raw(raw) => T::slow(raw, form),
        }
    }
}

/// Goes through items, each with its position.
pub(super) fn each<'a, T>(
    many: Option<Many<'a, T>>,
    mut act: impl FnMut(usize, Item<'a, T>) -> Result<(), Unread>,
) -> Result<(), Unread> {
    match many {
        None => Ok(()),
        Some(Many::Few(few)) => {
            let mut few = few.into_iter().enumerate();
            few.try_for_each(|(position, item)| act(position, Item::Read(item)))
        }
        Some(Many::Raw(raw)) => {
            let mut positions = 0..;
            items(raw, |item| {
                act(positions.next().unwrap_or(usize::MAX), Item::Raw(item))
            })
        }
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Many<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a few objects")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Vec<T>, A::Error> {
                let mut few = Vec::new();
                while let Some(Object(item)) = array.next_element()? {
                    if few.len() == FEW {
                        return Err(A::Error::invalid_length(FEW + 1, &self));
                    }
                    if few.is_empty() {
                        // Mostly it stays at one, and items are large.
                        few.reserve_exact(1);
                    }
                    few.push(item);
                }
                Ok(few)
            }
        }

        deserializer
            .deserialize_seq(Reader(PhantomData))
            .map(Self::Few)
    }
}

/// A value that has to be written as an object: serde would take an array for a struct too.
#[derive(Debug)]
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }

        deserializer.deserialize_map(Reader(PhantomData))
    }
}
