//! The shapes of plain values: strings, booleans, lists, any YAML.

use super::reading::{Failure, Node, Reading, Scalar, Shape, found, wrong};
use serde::de::{EnumAccess, IgnoredAny, MapAccess, SeqAccess, VariantAccess};
use serde_yaml::value::{Tag, TaggedValue};
use serde_yaml::{Mapping, Value};

/// A string.
pub(super) struct Text;

impl Shape<'_> for Text {
    type Value = String;

    fn expected(&self) -> String {
        "a string".to_owned()
    }

    fn scalar(self, _: &Reading, scalar: Scalar<'_>) -> Result<String, Failure> {
        match scalar {
            Scalar::Text(text) => Ok(text.to_owned()),
            _ => mismatch(&self, scalar),
        }
    }
}

/// A boolean.
pub(super) struct Boolean;

impl Shape<'_> for Boolean {
    type Value = bool;

    fn expected(&self) -> String {
        "a boolean".to_owned()
    }

    fn scalar(self, _: &Reading, scalar: Scalar<'_>) -> Result<bool, Failure> {
        match scalar {
            Scalar::Boolean(value) => Ok(value),
            _ => mismatch(&self, scalar),
        }
    }
}

/// The failure of a shape that does not take a scalar.
pub(super) fn mismatch<'de, S: Shape<'de>, T>(shape: &S, scalar: Scalar<'_>) -> Result<T, Failure> {
    Err(wrong(type_error(shape, scalar)))
}

/// What a shape says of a scalar that it does not take (spec F33).
pub(super) fn type_error<'de, S: Shape<'de>>(shape: &S, scalar: Scalar<'_>) -> String {
    format!(
        "invalid type: {}, expected {}",
        found(scalar),
        shape.expected()
    )
}

/// A value, or null for none (spec F30).
pub(super) struct Nullable<S>(pub S);

impl<'de, S: Shape<'de>> Shape<'de> for Nullable<S> {
    type Value = Option<S::Value>;

    fn expected(&self) -> String {
        self.0.expected()
    }

    fn scalar(self, reading: &Reading, scalar: Scalar<'_>) -> Result<Self::Value, Failure> {
        match scalar {
            Scalar::Null => Ok(None),
            _ => self.0.scalar(reading, scalar).map(Some),
        }
    }

    fn sequence<A: SeqAccess<'de>>(
        self,
        reading: &Reading,
        items: A,
    ) -> Result<Self::Value, A::Error> {
        self.0.sequence(reading, items).map(Some)
    }

    fn map<A: MapAccess<'de>>(self, reading: &Reading, map: A) -> Result<Self::Value, A::Error> {
        self.0.map(reading, map).map(Some)
    }

    fn tagged<A: EnumAccess<'de>>(
        self,
        reading: &Reading,
        data: A,
    ) -> Result<Self::Value, A::Error> {
        self.0.tagged(reading, data).map(Some)
    }
}

/// A sequence of one shape, by what it is called.
pub(super) struct List<S>(pub &'static str, pub S);

impl<'de, S: Shape<'de> + Copy> Shape<'de> for List<S> {
    type Value = Vec<S::Value>;

    fn expected(&self) -> String {
        self.0.to_owned()
    }

    fn sequence<A: SeqAccess<'de>>(
        self,
        reading: &Reading,
        mut items: A,
    ) -> Result<Self::Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(Node::new(reading, self.1))? {
            values.push(value);
        }
        Ok(values)
    }
}

/// Any YAML value.
#[derive(Clone, Copy)]
pub(super) struct Anything;

impl<'de> Shape<'de> for Anything {
    type Value = Value;

    fn expected(&self) -> String {
        "any YAML value".to_owned()
    }

    fn scalar(self, _: &Reading, scalar: Scalar<'_>) -> Result<Value, Failure> {
        Ok(match scalar {
            Scalar::Null => Value::Null,
            Scalar::Boolean(value) => Value::Bool(value),
            Scalar::Integer(value) => match (i64::try_from(value), u64::try_from(value)) {
                (Ok(value), _) => Value::from(value),
                (_, Ok(value)) => Value::from(value),
                _ => Value::from(value as f64),
            },
            Scalar::Float(value) => Value::from(value),
            Scalar::Text(text) => Value::from(text),
        })
    }

    fn sequence<A: SeqAccess<'de>>(self, reading: &Reading, items: A) -> Result<Value, A::Error> {
        List("a sequence", self)
            .sequence(reading, items)
            .map(Value::Sequence)
    }

    fn map<A: MapAccess<'de>>(self, reading: &Reading, mut map: A) -> Result<Value, A::Error> {
        let mut values = Mapping::new();
        while let Some(key) = map.next_key_seed(Node::new(reading, self))? {
            let value = reading.value(&mut map, self)?;
            values.insert(key, value);
        }
        Ok(Value::Mapping(values))
    }

    fn tagged<A: EnumAccess<'de>>(self, reading: &Reading, data: A) -> Result<Value, A::Error> {
        let (tag, content) = data.variant::<String>()?;
        let value = content.newtype_variant_seed(Node::new(reading, self))?;
        let tag = Tag::new(format!("!{tag}"));
        Ok(Value::Tagged(Box::new(TaggedValue { tag, value })))
    }
}

/// Passes the rest of a sequence.
pub(super) fn ignore_sequence<'de, A: SeqAccess<'de>>(mut items: A) -> Result<(), A::Error> {
    while items.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

/// Passes the rest of a map.
pub(super) fn ignore_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

/// Passes a value with a tag of its own.
pub(super) fn ignore_tagged<'de, A: EnumAccess<'de>>(data: A) -> Result<(), A::Error> {
    let (IgnoredAny, content) = data.variant()?;
    content.newtype_variant::<IgnoredAny>().map(|_| ())
}
