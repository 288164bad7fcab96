//! Reading YAML into typed values with every failure at its place.
//!
//! `serde_yaml` tells where a value is only in the error that its visitor raises. So a failure is
//! raised while the value or key it is about is being visited, and its text travels beside the
//! error, which would put a path before it and a place after it. Where something about a value
//! turns out only later, the document is read again and stopped at that value: [`Reading::place`].

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Visitor};
use std::cell::{Cell, RefCell};
use std::fmt;

/// A YAML scalar. A whole number beyond 128 bits is a [`Scalar::Float`], as YAML reads it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar<'a> {
    Null,
    Boolean(bool),
    Integer(i128),
    Float(f64),
    Text(&'a str),
}

/// The number of a value among all values of a document, in the order they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Visit(usize);

/// A failure without the prefix that every message has.
#[derive(Debug)]
pub(super) struct Failure {
    /// What is wrong.
    pub detail: Detail,
    /// The value it is about, if that is not the one being read.
    pub at: Option<Visit>,
}

/// The text of a failure.
#[derive(Debug)]
pub(super) enum Detail {
    /// It is known.
    Text(String),
    /// It needs the number as written: this is a whole number out of the range of
    /// `max_tool_iterations` (spec F29), or else of the wrong type.
    Rounds { otherwise: String },
}

/// What the seeds of one pass over a document share.
pub(super) struct Reading {
    visits: Cell<usize>,
    /// What aliases may still add: entries and bytes.
    allowance: Cell<usize>,
    stop: Option<Visit>,
    failure: RefCell<Option<Failure>>,
}

/// How often its own size a document may come to through aliases.
const EXPANSION: usize = 16;

impl Reading {
    /// Starts a pass over a document of this many bytes.
    pub fn new(bytes: usize, stop: Option<Visit>) -> Self {
        let allowance = bytes.saturating_add(1024).saturating_mul(EXPANSION);
        Self {
            visits: Cell::new(0),
            allowance: Cell::new(allowance),
            stop,
            failure: RefCell::new(None),
        }
    }

    /// The value being read.
    pub fn current(&self) -> Visit {
        Visit(self.visits.get())
    }

    /// Reads the value of the key that a map has just given.
    pub fn value<'de, A: MapAccess<'de>, S: Shape<'de>>(
        &self,
        map: &mut A,
        shape: S,
    ) -> Result<S::Value, A::Error> {
        map.next_value_seed(Node::new(self, shape))
    }

    /// What has failed.
    pub fn into_failure(self) -> Option<Failure> {
        self.failure.into_inner()
    }

    /// Fails at the value or key being visited.
    pub fn fail<E: Error>(&self, text: impl Into<String>) -> E {
        self.fail_with(Failure {
            detail: Detail::Text(text.into()),
            at: None,
        })
    }

    /// Fails with a failure of any kind.
    pub fn fail_with<E: Error>(&self, failure: Failure) -> E {
        *self.failure.borrow_mut() = Some(failure);
        E::custom("")
    }

    /// Fails for a key that a map lacks.
    pub fn missing<E: Error>(&self, key: &str) -> E {
        self.fail(format!("missing field `{key}`"))
    }

    /// Counts a value or key of this many bytes, so that aliases cannot multiply a document beyond
    /// measure.
    fn charge<E: Error>(&self, bytes: usize) -> Result<(), E> {
        let left = self.allowance.get().checked_sub(bytes + 1);
        self.allowance
            .set(left.ok_or_else(|| self.fail::<E>("repetition limit exceeded"))?);
        Ok(())
    }
}

/// What a value must be. All that a shape does not accept is a mismatch of types (spec F33).
pub(super) trait Shape<'de>: Sized {
    /// What the value comes to.
    type Value;

    /// What was expected, for the message of a mismatch.
    fn expected(&self) -> String;

    /// Takes a scalar.
    fn scalar(self, _: &Reading, scalar: Scalar<'_>) -> Result<Self::Value, Failure> {
        Err(mismatch(&found(scalar), &self.expected()))
    }

    /// Takes a sequence.
    fn sequence<A: SeqAccess<'de>>(self, reading: &Reading, _: A) -> Result<Self::Value, A::Error> {
        Err(reading.fail_with(mismatch("sequence", &self.expected())))
    }

    /// Takes a map.
    fn map<A: MapAccess<'de>>(self, reading: &Reading, _: A) -> Result<Self::Value, A::Error> {
        Err(reading.fail_with(mismatch("map", &self.expected())))
    }

    /// Takes a value with a tag of its own.
    fn tagged<A: EnumAccess<'de>>(self, reading: &Reading, _: A) -> Result<Self::Value, A::Error> {
        Err(reading.fail_with(mismatch("tagged value", &self.expected())))
    }
}

/// A failure at the value being visited.
pub(super) fn wrong(text: String) -> Failure {
    Failure {
        detail: Detail::Text(text),
        at: None,
    }
}

fn mismatch(found: &str, expected: &str) -> Failure {
    wrong(format!("invalid type: {found}, expected {expected}"))
}

/// A scalar as messages name it.
pub(super) fn found(scalar: Scalar<'_>) -> String {
    match scalar {
        Scalar::Null => "unit value".to_owned(),
        Scalar::Boolean(value) => format!("boolean `{value}`"),
        Scalar::Integer(value) => format!("integer `{value}`"),
        Scalar::Float(value) => format!("floating point `{value:?}`"),
        Scalar::Text(text) => format!("string {text:?}"),
    }
}

/// The seed and visitor of a value.
pub(super) struct Node<'r, S> {
    reading: &'r Reading,
    shape: S,
}

impl<'r, S> Node<'r, S> {
    pub fn new(reading: &'r Reading, shape: S) -> Self {
        Self { reading, shape }
    }
}

impl<'de, S: Shape<'de>> Node<'_, S> {
    fn visit<E: Error>(&self, bytes: usize) -> Result<(), E> {
        self.reading.charge(bytes)?;
        self.reading.visits.set(self.reading.visits.get() + 1);
        if self.reading.stop == Some(self.reading.current()) {
            return Err(E::custom(""));
        }
        Ok(())
    }

    fn scalar<E: Error>(self, scalar: Scalar<'_>) -> Result<S::Value, E> {
        let bytes = if let Scalar::Text(text) = scalar {
            text.len()
        } else {
            0
        };
        self.visit(bytes)?;
        self.shape
            .scalar(self.reading, scalar)
            .map_err(|failure| self.reading.fail_with(failure))
    }
}

impl<'de, S: Shape<'de>> DeserializeSeed<'de> for Node<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, S: Shape<'de>> Visitor<'de> for Node<'_, S> {
    type Value = S::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shape.expected())
    }

    fn visit_unit<E: Error>(self) -> Result<S::Value, E> {
        self.scalar(Scalar::Null)
    }

    fn visit_none<E: Error>(self) -> Result<S::Value, E> {
        self.scalar(Scalar::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<S::Value, E> {
        self.scalar(Scalar::Boolean(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<S::Value, E> {
        self.scalar(Scalar::Integer(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<S::Value, E> {
        self.scalar(Scalar::Integer(value.into()))
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<S::Value, E> {
        self.scalar(Scalar::Integer(value))
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<S::Value, E> {
        self.scalar(i128::try_from(value).map_or(Scalar::Float(value as f64), Scalar::Integer))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<S::Value, E> {
        self.scalar(Scalar::Float(value))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<S::Value, E> {
        self.scalar(Scalar::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<S::Value, A::Error> {
        self.visit(0)?;
        self.shape.sequence(self.reading, sequence)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<S::Value, A::Error> {
        self.visit(0)?;
        self.shape.map(self.reading, map)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<S::Value, A::Error> {
        self.visit(0)?;
        self.shape.tagged(self.reading, data)
    }
}

/// The seed and visitor of a key, which is read as text however it is written.
pub(super) struct Key<'r, F> {
    reading: &'r Reading,
    accept: F,
}

impl<'r, T, F: FnOnce(&str) -> Result<T, String>> Key<'r, F> {
    /// A key is accepted, or refused with a message.
    pub fn new(reading: &'r Reading, accept: F) -> Self {
        Self { reading, accept }
    }
}

impl<'de, T, F: FnOnce(&str) -> Result<T, String>> DeserializeSeed<'de> for Key<'_, F> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<T, F: FnOnce(&str) -> Result<T, String>> Visitor<'_> for Key<'_, F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string key")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        self.reading.charge(text.len())?;
        (self.accept)(text).map_err(|message| self.reading.fail(message))
    }
}

/// Reads a map of fixed keys: `read` takes the value of each, in the order of the document.
pub(super) fn fields<'de, A: MapAccess<'de>>(
    reading: &Reading,
    known: &[&'static str],
    mut map: A,
    mut read: impl FnMut(&'static str, &mut A) -> Result<(), A::Error>,
) -> Result<(), A::Error> {
    let mut seen = vec![false; known.len()];
    let mut accept = |text: &str| {
        let Some(index) = known.iter().position(|key| *key == text) else {
            return Err(unknown("field", text, known));
        };
        if std::mem::replace(&mut seen[index], true) {
            return Err(format!("duplicate field `{text}`"));
        }
        Ok(known[index])
    };
    while let Some(key) = map.next_key_seed(Key::new(reading, &mut accept))? {
        read(key, &mut map)?;
    }
    Ok(())
}

/// The message on a word that is none of the known ones.
pub(super) fn unknown(what: &str, word: &str, known: &[&str]) -> String {
    let known: Vec<_> = known.iter().map(|known| format!("`{known}`")).collect();
    format!(
        "unknown {what} `{word}`, expected one of {}",
        known.join(", ")
    )
}
