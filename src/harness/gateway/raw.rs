//! Parts of JSON text, taken out of it where they stand: nothing of it is built, since what is built
//! takes many times the room of its text.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

pub(super) fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

pub(super) fn is_array(raw: &RawValue) -> bool {
    raw.get().starts_with('[')
}

pub(super) fn is_string(raw: &RawValue) -> bool {
    raw.get().starts_with('"')
}

/// What a value is read as; `None` where it is something else.
pub(super) fn read<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

/// What an object has under these keys: `None` for null, and all of them where it is no object. Of a
/// key that is there twice the last one counts.
///
/// # Errors
/// A key that is no text.
pub(super) fn members<'a, const N: usize>(
    object: &'a RawValue,
    keys: [&str; N],
) -> Result<[Option<&'a RawValue>; N], serde_json::Error> {
    match is_object(object) {
        true => serde_json::Deserializer::from_str(object.get()).deserialize_map(Members(keys)),
        false => Ok([None; N]),
    }
}

struct Members<'k, const N: usize>([&'k str; N]);

impl<'de, const N: usize> Visitor<'de> for Members<'_, N> {
    type Value = [Option<&'de RawValue>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = [None; N];
        while let Some(at) = map.next_key_seed(Position(&self.0))? {
            match at.and_then(|at| found.get_mut(at)) {
                Some(place) => *place = map.next_value()?,
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(found)
    }
}

/// Which of some keys a key is.
struct Position<'k>(&'k [&'k str]);

impl<'de> DeserializeSeed<'de> for Position<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Position<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|wanted| *wanted == key))
    }
}

/// Goes through the items of an array, up to the first fault.
pub(super) fn items<'a, E: From<serde_json::Error>>(
    array: &'a RawValue,
    each: impl FnMut(&'a RawValue) -> Result<(), E>,
) -> Result<(), E> {
    let mut fault = None;
    let items = Items {
        each,
        fault: &mut fault,
    };
    let read = serde_json::Deserializer::from_str(array.get()).deserialize_seq(items);
    match fault {
        Some(fault) => Err(fault),
        None => read.map_err(E::from),
    }
}

struct Items<'f, F, E> {
    each: F,
    fault: &'f mut Option<E>,
}

impl<'de, E, F: FnMut(&'de RawValue) -> Result<(), E>> Visitor<'de> for Items<'_, F, E> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut array: A) -> Result<(), A::Error> {
        while let Some(item) = array.next_element()? {
            if let Err(fault) = (self.each)(item) {
                *self.fault = Some(fault);
                return Err(A::Error::custom("an item is at fault"));
            }
        }
        Ok(())
    }
}

/// A string that is borrowed from its text where it holds no escapes.
#[derive(Debug)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(text.into()))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(text.to_owned().into()))
            }
        }

        deserializer.deserialize_str(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> &RawValue {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn members_are_found_by_their_keys() {
        let object = raw(r#" {"a":1,"b\u0063":[2, {}],"x":1e999,"a":"\ud800","n":5,"n":null} "#);
        let found = members(object, ["bc", "a", "n", "y"]).expect("an object");
        let found = found.map(|part| part.map(RawValue::get));
        assert_eq!(found, [Some("[2, {}]"), Some("\"\\ud800\""), None, None]);
        for other in ["[]", "5", "\"a\"", "null"] {
            let found = members(raw(other), ["a"]).expect("nothing");
            assert!(found[0].is_none());
        }
    }

    #[test]
    fn items_are_seen_up_to_the_first_fault() {
        let mut seen = Vec::new();
        let read = items(raw("[1, [2], {\"a\":3}, 4]"), |item| {
            seen.push(item.get());
            match item.get() {
                "{\"a\":3}" => Err("wrong".to_owned().into()),
                _ => Ok::<(), Box<dyn std::error::Error>>(()),
            }
        });
        assert_eq!(read.expect_err("stopped").to_string(), "wrong");
        assert_eq!(seen, ["1", "[2]", "{\"a\":3}"]);
    }
}
