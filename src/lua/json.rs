//! Data as JSON text (spec L34, L136).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor,
};
use serde::ser::{Error as _, Serialize, Serializer};

use super::data::Data;
use super::failure::INTERRUPTED;
use super::watch::Cancelled;

/// Called with the number of steps done since the last call; fails once the work is to end.
pub type Look<'a> = &'a dyn Fn(usize) -> Result<(), Cancelled>;

/// How many bytes are counted between two looks.
const PIECE: usize = 1 << 16;

impl Data {
    /// Reads JSON text. Of a key written twice the last one wins (spec L112).
    ///
    /// # Errors
    /// The reader's own description, where the text is not one JSON value.
    pub fn from_json(text: &str) -> Result<Self, String> {
        Self::read_json(text, &|_| Ok(()))
    }

    /// As [`Data::from_json`], for text of a prompt's own: data of more than `limit` values is
    /// refused before it is built.
    ///
    /// # Errors
    /// Also `too many values`.
    pub fn from_json_within(text: &str, limit: usize) -> Result<Self, String> {
        Self::from_json_watched(text, limit, &|_| Ok(()))
    }

    /// As [`Data::from_json_within`], with a look at what may end it, which is told how many steps
    /// went by since the last one.
    ///
    /// # Errors
    /// Also that the look ended it, in any words.
    pub fn from_json_watched(text: &str, limit: usize, look: Look<'_>) -> Result<Self, String> {
        match Self::count_watched(text, look) {
            Ok(count) if count <= limit => Self::read_json(text, look),
            Ok(_) => Err("too many values".to_owned()),
            Err(Cancelled) => Err(INTERRUPTED.to_owned()),
        }
    }

    fn read_json(text: &str, look: Look<'_>) -> Result<Self, String> {
        let mut reader = serde_json::Deserializer::from_str(text);
        Watched { look }
            .deserialize(&mut reader)
            .and_then(|data| reader.end().map(|()| data))
            .map_err(|error| error.to_string())
    }

    /// How many values JSON text holds.
    pub(crate) fn count_in_json(text: &str) -> usize {
        Self::count_watched(text, &|_| Ok(())).unwrap_or_default()
    }

    fn count_watched(text: &str, look: Look<'_>) -> Result<usize, Cancelled> {
        // Every value but the first follows one of these, outside of strings.
        let (mut count, mut in_string, mut is_escaped) = (1, false, false);
        let mut last = b' ';
        for piece in text.as_bytes().chunks(PIECE) {
            look(piece.len())?;
            for &byte in piece {
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
        }
        Ok(count)
    }

    /// The compact JSON text (spec L136).
    pub fn to_json(&self) -> String {
        // Keys are strings and floats finite, so writing to memory cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// As [`Data::render`], with a look as in [`Data::to_json_watched`].
    ///
    /// # Errors
    /// The look ended it.
    pub fn render_watched(&self, look: Look<'_>) -> Result<String, Cancelled> {
        match self {
            Self::Text(text) => Ok(text.to_string()),
            other => other.to_json_watched(look),
        }
    }

    /// As [`Data::to_json`], with a look at what may end it, which is told how many steps went by
    /// since the last one.
    ///
    /// # Errors
    /// The look ended it.
    pub fn to_json_watched(&self, look: Look<'_>) -> Result<String, Cancelled> {
        // Keys are strings and floats finite: nothing else can go wrong.
        serde_json::to_string(&Looked { data: self, look }).map_err(|_| Cancelled)
    }
}

/// Data that is written with a look at each value.
struct Looked<'a> {
    data: &'a Data,
    look: Look<'a>,
}

impl Serialize for Looked<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { data, look } = *self;
        let text = match data {
            Data::Text(text) => text.len(),
            _ => 0,
        };
        look(1 + text / 64).map_err(|_| S::Error::custom(INTERRUPTED))?;
        match data {
            Data::List(items) => {
                serializer.collect_seq(items.iter().map(|data| Self { data, look }))
            }
            Data::Map(map) => {
                let entries = map.iter();
                serializer.collect_map(entries.map(|(key, data)| (&**key, Self { data, look })))
            }
            scalar => scalar.serialize(serializer),
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
        Watched { look: &|_| Ok(()) }.deserialize(deserializer)
    }
}

/// Reads data, and looks at each value.
#[derive(Clone, Copy)]
struct Watched<'a> {
    look: Look<'a>,
}

impl<'de> DeserializeSeed<'de> for Watched<'_> {
    type Value = Data;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Data, D::Error> {
        (self.look)(1).map_err(|_| D::Error::custom(INTERRUPTED))?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Watched<'_> {
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
        while let Some(item) = seq.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Data::list(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Data, A::Error> {
        let mut map = BTreeMap::new();
        while let Some(key) = access.next_key::<String>()? {
            map.insert(Arc::from(key), access.next_value_seed(self)?);
        }
        Ok(Data::map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_look_ends_reading_and_writing() {
        // spec R19
        let text = format!("[{}0]", "{\"k\":0},".repeat(1000));
        let data = Data::from_json(&text).expect("valid");
        let ends = |after: usize| {
            let left = std::cell::Cell::new(after);
            move |steps: usize| {
                left.set(left.get().checked_sub(steps).ok_or(Cancelled)?);
                Ok(())
            }
        };
        let counted = text.len();
        for (steps, is_whole) in [(counted + 2002, true), (counted + 2001, false), (9, false)] {
            let read = Data::from_json_watched(&text, usize::MAX, &ends(steps));
            assert_eq!(read.is_ok(), is_whole, "{steps}");
        }
        assert_eq!(data.to_json_watched(&ends(2002)), Ok(text));
        assert_eq!(data.to_json_watched(&ends(2001)), Err(Cancelled));
    }
}
