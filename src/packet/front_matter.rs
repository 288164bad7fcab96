//! The YAML of a document: maps with text for keys, in the order of the file (spec P5).

use std::cell::Cell;
use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde_yaml::{Mapping, Number, Value};

use crate::harness::yaml::{self, YamlError};

/// How far aliases may expand a document, in bytes of scalars and one for each list or map.
const EXPANSION_CAP: usize = 1 << 20;

/// Why YAML is not taken.
#[derive(Debug)]
pub(super) enum FrontMatterError {
    /// It does not parse; the line is that of the YAML.
    Syntax(YamlError),
    /// It is no map.
    NotAMap,
}

/// Reads YAML. An empty document is an empty map. No key stands twice in a map, no value has a
/// tag, and aliases have a bound.
pub(super) fn read(text: &str) -> Result<Mapping, FrontMatterError> {
    // A document without an alias is its own size: an escape at most doubles what it stands for.
    let left = Cell::new(EXPANSION_CAP.max(text.len().saturating_mul(2)));
    let node = Node {
        left: &left,
        tags: Tags::Refused,
    };
    match yaml::read_seed(text, node) {
        Ok(Value::Mapping(map)) => Ok(map),
        Ok(Value::Null) => Ok(Mapping::new()),
        Ok(_) => Err(FrontMatterError::NotAMap),
        Err(error) => Err(FrontMatterError::Syntax(error)),
    }
}

/// Reads YAML that is anybody's: a tag is left out, and an empty document is null. The rest is as
/// with frontmatter.
pub(super) fn read_data(text: &str) -> Result<Value, YamlError> {
    let left = Cell::new(EXPANSION_CAP.max(text.len().saturating_mul(2)));
    let node = Node {
        left: &left,
        tags: Tags::LeftOut,
    };
    yaml::read_seed(text, node)
}

/// What becomes of tags.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tags {
    Refused,
    LeftOut,
}

/// Reads a value, counting what it takes.
#[derive(Clone, Copy)]
struct Node<'a> {
    left: &'a Cell<usize>,
    tags: Tags,
}

impl Node<'_> {
    /// Takes the size of a node from what is left.
    fn spend<E: Error>(self, size: usize) -> Result<(), E> {
        let left = self.left.get().checked_sub(size.max(1));
        let left = left.ok_or_else(|| E::custom("aliases expand the document beyond 1 MiB"))?;
        self.left.set(left);
        Ok(())
    }

    fn number<E: Error>(self, number: impl Into<Number>) -> Result<Value, E> {
        self.spend(1)?;
        Ok(Value::Number(number.into()))
    }
}

const TAGGED: &str = "a tagged value is not supported";

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.spend(1)?;
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        self.visit_unit()
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.spend(1)?;
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.number(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.number(value)
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<Value, E> {
        self.number(value as f64)
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<Value, E> {
        self.number(value as f64)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        self.number(value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.spend(value.len())?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.spend(1)?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::Sequence(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        self.spend(1)?;
        let mut map = Mapping::new();
        while let Some(key) = entries.next_key_seed(Key {
            node: self,
            map: &map,
        })? {
            let value = entries.next_value_seed(self)?;
            map.insert(Value::String(key), value);
        }
        Ok(Value::Mapping(map))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<Value, A::Error> {
        match self.tags {
            Tags::Refused => Err(A::Error::custom(TAGGED)),
            Tags::LeftOut => {
                let (_, value) = tagged.variant::<String>()?;
                value.newtype_variant_seed(self)
            }
        }
    }
}

/// Reads a key as text, which must be none of a map's.
struct Key<'a> {
    node: Node<'a>,
    map: &'a Mapping,
}

impl Key<'_> {
    fn text<E: Error>(self, key: String) -> Result<String, E> {
        self.node.spend(key.len())?;
        match self.map.contains_key(&key) {
            true => Err(E::custom(format_args!("`{key}` is there twice"))),
            false => Ok(key),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Key<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_unit<E: Error>(self) -> Result<String, E> {
        self.text("null".to_owned())
    }

    fn visit_bool<E: Error>(self, key: bool) -> Result<String, E> {
        self.text(key.to_string())
    }

    fn visit_i64<E: Error>(self, key: i64) -> Result<String, E> {
        self.text(key.to_string())
    }

    fn visit_u64<E: Error>(self, key: u64) -> Result<String, E> {
        self.text(key.to_string())
    }

    fn visit_i128<E: Error>(self, key: i128) -> Result<String, E> {
        self.text(key.to_string())
    }

    fn visit_u128<E: Error>(self, key: u128) -> Result<String, E> {
        self.text(key.to_string())
    }

    fn visit_f64<E: Error>(self, key: f64) -> Result<String, E> {
        self.text(Number::from(key).to_string())
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<String, E> {
        self.text(key.to_owned())
    }

    fn visit_enum<A: EnumAccess<'de>>(self, _: A) -> Result<String, A::Error> {
        Err(A::Error::custom(TAGGED))
    }
}
