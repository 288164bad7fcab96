//! Maps and lists of things that have ids.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A map whose keys are ids: each is checked where it stands, and none stands twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entries<K, V>(pub BTreeMap<K, V>);

impl<K, V> Default for Entries<K, V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<'de, K, V> Deserialize<'de> for Entries<K, V>
where
    K: FromStr<Err: fmt::Display> + Ord,
    V: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

struct EntriesVisitor<K, V>(PhantomData<(K, V)>);

impl<'de, K, V> Visitor<'de> for EntriesVisitor<K, V>
where
    K: FromStr<Err: fmt::Display> + Ord,
    V: Deserialize<'de>,
{
    type Value = Entries<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = BTreeMap::new();
        while let Some(key) = map.next_key_seed(NewKey(&entries))? {
            entries.insert(key, map.next_value()?);
        }
        Ok(Entries(entries))
    }
}

/// Reads a key that must be none of those that were read.
struct NewKey<'a, K, V>(&'a BTreeMap<K, V>);

impl<'de, K: FromStr<Err: fmt::Display> + Ord, V> DeserializeSeed<'de> for NewKey<'_, K, V> {
    type Value = K;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<K, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<K: FromStr<Err: fmt::Display> + Ord, V> Visitor<'_> for NewKey<'_, K, V> {
    type Value = K;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<K, E> {
        let key = K::from_str(text).map_err(E::custom)?;
        match self.0.contains_key(&key) {
            true => Err(E::custom(format_args!("`{text}` is there twice"))),
            false => Ok(key),
        }
    }
}

/// Something in a list that has an id.
pub trait Identified {
    /// Its id.
    fn id(&self) -> &str;
}

/// A list of maps of which no two have one id. The second is the one to blame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distinct<T>(pub Vec<T>);

impl<T> Default for Distinct<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Identified + Deserialize<'de>> Deserialize<'de> for Distinct<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(DistinctVisitor(PhantomData))
    }
}

struct DistinctVisitor<T>(PhantomData<T>);

impl<'de, T: Identified + Deserialize<'de>> Visitor<'de> for DistinctVisitor<T> {
    type Value = Distinct<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        let mut seen = BTreeSet::new();
        while let Some(item) = list.next_element_seed(NewItem(&mut seen, PhantomData))? {
            items.push(item);
        }
        Ok(Distinct(items))
    }
}

/// Reads an item whose id must be none of those that were seen. It raises its error while the
/// reader visits the item, which gives the error the item's own line.
struct NewItem<'a, T>(&'a mut BTreeSet<String>, PhantomData<T>);

impl<'de, T: Identified + Deserialize<'de>> DeserializeSeed<'de> for NewItem<'_, T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, T: Identified + Deserialize<'de>> Visitor<'de> for NewItem<'_, T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        let item = T::deserialize(MapAccessDeserializer::new(map))?;
        match self.0.insert(item.id().to_owned()) {
            true => Ok(item),
            false => {
                let message = format!("the id `{}` is there twice", item.id());
                Err(A::Error::custom(message))
            }
        }
    }
}
