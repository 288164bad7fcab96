//! JSON data: what `var`, arguments, snapshots and effects are made of (spec L37, L136).

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

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
    fn keys_are_sorted_and_the_last_of_two_wins() {
        let data = Data::from_json(r#"{"b":1,"a":[{}],"b":2}"#).expect("valid");
        assert_eq!(data.to_json(), r#"{"a":[{}],"b":2}"#);
    }
}
