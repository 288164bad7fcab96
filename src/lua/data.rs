//! JSON data: what `var`, arguments, snapshots and effects are made of (spec L37, L136).

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
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
    List(Arc<List>),
    /// An object, its keys sorted bytewise.
    Map(Arc<Map>),
}

/// The items of an array, and how large and deep they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct List {
    items: Vec<Data>,
    weight: Weight,
}

/// The entries of an object, and how large and deep they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    entries: BTreeMap<Arc<str>, Data>,
    weight: Weight,
}

/// What data would take written out: parts that are shared count each time. Kept with every array
/// and object, since counting would take as long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Weight {
    bytes: usize,
    depth: usize,
}

impl Weight {
    fn add(&mut self, key: usize, part: &Data) {
        self.bytes = self.bytes.saturating_add(key).saturating_add(part.size());
        self.depth = self.depth.max(part.depth());
    }
}

impl From<Vec<Data>> for List {
    fn from(items: Vec<Data>) -> Self {
        let mut weight = Weight::default();
        items.iter().for_each(|item| weight.add(0, item));
        Self { items, weight }
    }
}

impl From<BTreeMap<Arc<str>, Data>> for Map {
    fn from(entries: BTreeMap<Arc<str>, Data>) -> Self {
        let mut weight = Weight::default();
        entries
            .iter()
            .for_each(|(key, value)| weight.add(key.len(), value));
        Self { entries, weight }
    }
}

impl Deref for List {
    type Target = Vec<Data>;

    fn deref(&self) -> &Vec<Data> {
        &self.items
    }
}

impl Deref for Map {
    type Target = BTreeMap<Arc<str>, Data>;

    fn deref(&self) -> &BTreeMap<Arc<str>, Data> {
        &self.entries
    }
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

    /// An array of the given items.
    pub fn list(items: impl Into<Vec<Data>>) -> Self {
        Self::List(Arc::new(List::from(items.into())))
    }

    /// An object of these entries.
    pub(crate) fn map(entries: BTreeMap<Arc<str>, Data>) -> Self {
        Self::Map(Arc::new(Map::from(entries)))
    }

    /// An object of the given entries; a key given twice keeps the later value.
    pub fn object<K: Into<Arc<str>>>(entries: impl IntoIterator<Item = (K, Data)>) -> Self {
        Self::map(entries.into_iter().map(|(k, v)| (k.into(), v)).collect())
    }

    /// Reads JSON text. Of a key written twice the last one wins (spec L112).
    ///
    /// # Errors
    /// The reader's own description, where the text is not one JSON value.
    pub fn from_json(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// As [`Data::from_json`], for text of a prompt's own: data of more than `limit` values is
    /// refused before it is built.
    ///
    /// # Errors
    /// Also `too many values`.
    pub fn from_json_within(text: &str, limit: usize) -> Result<Self, String> {
        match Self::count_in_json(text) <= limit {
            true => Self::from_json(text),
            false => Err("too many values".to_owned()),
        }
    }

    /// How many values JSON text holds.
    pub(crate) fn count_in_json(text: &str) -> usize {
        // Every value but the first follows one of these, outside of strings.
        let (mut count, mut in_string, mut is_escaped) = (1, false, false);
        let mut last = b' ';
        for byte in text.bytes() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = in_string,
                b'"' => in_string = !in_string,
                _ if in_string => {}
                b' ' | b'\n' | b'\r' | b'\t' => continue,
                b',' | b'[' | b'{' => count += 1,
                // In an empty one nothing followed.
                b']' | b'}' if matches!(last, b'[' | b'{') => count -= 1,
                _ => {}
            }
            last = byte;
        }
        count
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

    /// About the memory it would take if nothing were shared, in bytes.
    pub(crate) fn size(&self) -> usize {
        let inside = match self {
            Self::Text(text) => text.len(),
            Self::List(list) => list.weight.bytes,
            Self::Map(map) => map.weight.bytes,
            _ => 0,
        };
        inside.saturating_add(16)
    }

    /// How many arrays and objects stand in each other.
    pub(crate) fn depth(&self) -> usize {
        match self {
            Self::List(list) => list.weight.depth + 1,
            Self::Map(map) => map.weight.depth + 1,
            _ => 0,
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
        Ok(Data::list(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Data, A::Error> {
        let mut map = BTreeMap::new();
        while let Some((key, value)) = access.next_entry::<String, Data>()? {
            map.insert(Arc::from(key), value);
        }
        Ok(Data::map(map))
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
    fn shared_parts_count_each_time() {
        let mut data = Data::list([Data::Null]);
        for _ in 0..100 {
            data = Data::list([data.clone(), data]);
        }
        assert_eq!(data.depth(), 101);
        assert_eq!(data.size(), usize::MAX);
    }

    #[test]
    fn values_are_counted_outside_of_strings() {
        for (text, count) in [
            ("5", 1),
            ("{}", 1),
            (" [ [ ] , { } ] ", 3),
            (r#"["[",[],"{"]"#, 4),
            (r#"{"[":{}}"#, 2),
        ] {
            assert_eq!(Data::count_in_json(text), count, "{text}");
        }
        let text = r#"{"a,[{\"],":[1,"\\",{"b":null}]}"#;
        assert_eq!(Data::count_in_json(text), 6);
        assert!(Data::from_json_within(text, 6).is_ok());
        assert_eq!(
            Data::from_json_within(text, 5),
            Err("too many values".to_owned())
        );
    }

    #[test]
    fn keys_are_sorted_and_the_last_of_two_wins() {
        let data = Data::from_json(r#"{"b":1,"a":[{}],"b":2}"#).expect("valid");
        assert_eq!(data.to_json(), r#"{"a":[{}],"b":2}"#);
    }
}
