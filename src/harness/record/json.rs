//! JSON text of a record's lines. The data in a line nests as deep as the language allows, and the
//! line a little deeper, so that the reader's own limit would refuse what was written.

use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::lua::Data;

/// How deep a line may nest: its data, and what stands around it.
const MAX_DEPTH: usize = Data::MAX_DEPTH + 9;

/// Reads one JSON value.
///
/// # Errors
/// The reader's own words.
pub(in crate::harness) fn read<'a, T: Deserialize<'a>>(
    text: &'a str,
) -> Result<T, serde_json::Error> {
    if !is_shallow(text) {
        return Err(serde_json::Error::custom("it nests too deep"));
    }
    read_shallow(text)
}

/// As [`read`], for a part of a line that was read already.
///
/// # Errors
/// The reader's own words.
pub(super) fn read_shallow<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    let value = T::deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Reads one JSON value in which no object has a key twice: a reader that takes the last of them
/// would not see what the first one says.
///
/// # Errors
/// The reader's own words, and a key that is there twice.
pub(in crate::harness) fn read_distinct(text: &str) -> Result<Data, serde_json::Error> {
    let data = read(text)?;
    read_shallow::<Distinct>(text)?;
    Ok(data)
}

/// Any JSON value, none of whose objects has a key twice.
struct Distinct;

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Distinct {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(Self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if keys.contains(&key) {
                return Err(A::Error::custom(format_args!(
                    "the key {key:?} is there twice"
                )));
            }
            keys.insert(key);
            entries.next_value::<Self>()?;
        }
        Ok(Self)
    }
}

/// Whether arrays and objects nest no deeper than a line may. Nothing is built, so no text is too
/// deep for this.
fn is_shallow(text: &str) -> bool {
    let opening = memchr::memchr2_iter(b'[', b'{', text.as_bytes());
    if opening.take(MAX_DEPTH + 1).count() <= MAX_DEPTH {
        return true;
    }
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return false;
        }
    }
    true
}

/// Whether a key is there, whatever its value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen(pub(super) bool);

impl<'de> Deserialize<'de> for Seen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self(true))
    }
}

/// A word that must be one of a few.
pub(super) fn word<T, E: serde::de::Error>(
    what: &str,
    word: impl AsRef<str> + fmt::Debug,
    known: impl FnOnce(&str) -> Option<T>,
) -> Result<T, E> {
    known(word.as_ref()).ok_or_else(|| E::custom(format_args!("{word:?} is no {what}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_counted_outside_of_strings() {
        let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(read::<Data>(&deep(MAX_DEPTH)).is_ok());
        assert!(read::<Data>(&deep(MAX_DEPTH + 1)).is_err());
        assert!(read::<Data>(&deep(1_000_000)).is_err());
        let text = format!("[{:?}]", "[\"".repeat(1000));
        assert!(read::<Data>(&text).is_ok());
        let wide = format!("[{}[]]", "[],".repeat(1000));
        assert!(read::<Data>(&wide).is_ok());
    }

    #[test]
    fn a_key_is_there_once() {
        // spec R15
        for text in [r#"{"a":1,"b":{"a":[{"a":null}]}}"#, "[true,-1,0.5,\"a\"]"] {
            assert!(read_distinct(text).is_ok(), "{text}");
        }
        for text in [r#"{"a":1,"a":1}"#, r#"[{"b":{"a":[],"\u0061":2}}]"#] {
            let error = read_distinct(text).err().map(|error| error.to_string());
            assert!(error.is_some_and(|text| text.starts_with("the key \"a\" is there twice")));
        }
    }

    #[test]
    fn numbers_are_read_to_the_last_bit() {
        // spec L136: what is written again is the same
        for text in [
            "12.345678901234567",
            "2.2250738585072011e-308",
            "0.1",
            "72057594037927945.0",
        ] {
            let number: f64 = text.parse().expect("a number");
            let data: Data = read(text).expect("valid");
            assert_eq!(data, Data::Float(number));
        }
    }
}
