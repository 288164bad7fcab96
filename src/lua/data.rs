//! JSON data: what `var`, arguments, snapshots and effects are made of (spec L37, L136).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// A JSON value. Arrays, objects and strings are shared, so a clone costs a counter and a value
/// crosses sections, chains and threads without a copy.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Data {
    /// `null`; reads as nil in Lua.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number written without fraction and exponent that fits a signed 64-bit integer.
    Int(i64),
    /// Any other number; finite.
    Float(f64),
    /// A string.
    Text(Arc<str>),
    /// An array.
    List(Arc<Vec<Data>>),
    /// An object, its keys sorted bytewise.
    Map(Arc<BTreeMap<Arc<str>, Data>>),
}

impl Data {
    /// How deep arrays and objects may nest: what the JSON reader takes, too.
    pub const MAX_DEPTH: usize = 127;

    /// An object without keys.
    pub fn empty() -> Self {
        Self::Map(Arc::default())
    }

    /// A string.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text(text.into())
    }

    /// An object of the given entries; a key given twice keeps the later value.
    pub fn object<K: Into<Arc<str>>>(entries: impl IntoIterator<Item = (K, Data)>) -> Self {
        Self::Map(Arc::new(
            entries.into_iter().map(|(k, v)| (k.into(), v)).collect(),
        ))
    }

    /// Reads JSON text. Of a key written twice the last one wins (spec L112).
    ///
    /// # Errors
    /// The reader's own description, where the text is not one JSON value.
    pub fn from_json(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// The compact JSON text (spec L136).
    pub fn to_json(&self) -> String {
        // Keys are strings and floats finite, so writing to memory cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The value as it stands in rendered prose: a string verbatim, else JSON (spec L136).
    pub fn render(&self) -> String {
        match self {
            Self::Text(text) => text.to_string(),
            other => other.to_json(),
        }
    }

    /// The value of an object's key.
    pub fn get(&self, key: &str) -> Option<&Data> {
        match self {
            Self::Map(map) => map.get(key),
            _ => None,
        }
    }

    /// Whether arrays and objects nest no deeper than `levels`.
    pub(crate) fn fits(&self, levels: usize) -> bool {
        let inside = |value: &Self| levels > 0 && value.fits(levels - 1);
        match self {
            Self::List(items) => levels > 0 && items.iter().all(inside),
            Self::Map(map) => levels > 0 && map.values().all(inside),
            _ => true,
        }
    }

    /// Whether both are the very same shared value, which a comparison by content would have to
    /// walk to find out.
    pub(crate) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::List(a), Self::List(b)) => Arc::ptr_eq(a, b),
            (Self::Map(a), Self::Map(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Int(value) => serializer.serialize_i64(*value),
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items.iter()),
            Self::Map(map) => serializer.collect_map(map.iter().map(|(k, v)| (&**k, v))),
        }
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DataVisitor)
    }
}

struct DataVisitor;

impl<'de> Visitor<'de> for DataVisitor {
    type Value = Data;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Data, E> {
        Ok(Data::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Data, E> {
        Ok(Data::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Data, E> {
        Ok(Data::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Data, E> {
        Ok(i64::try_from(value).map_or(Data::Float(value as f64), Data::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Data, E> {
        Ok(Data::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Data, E> {
        Ok(Data::text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Data, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Data::List(Arc::new(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Data, A::Error> {
        let mut map = BTreeMap::new();
        while let Some((key, value)) = access.next_entry::<String, Data>()? {
            map.insert(Arc::from(key), value);
        }
        Ok(Data::Map(Arc::new(map)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_the_language_says() {
        // spec L136, L37
        let text = "[1e20,3.0,1e-7,-0.0,7,-0,9223372036854775808,1e16,12345678.5]";
        let data = Data::from_json(text).expect("valid");
        assert_eq!(
            data.to_json(),
            "[1e+20,3.0,1e-7,-0.0,7,-0.0,9.223372036854776e+18,1e+16,12345678.5]"
        );
    }

    #[test]
    fn keys_are_sorted_and_the_last_of_two_wins() {
        let data = Data::from_json(r#"{"b":1,"a":[{}],"b":2}"#).expect("valid");
        assert_eq!(data.to_json(), r#"{"a":[{}],"b":2}"#);
    }
}
