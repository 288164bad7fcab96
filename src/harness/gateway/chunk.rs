//! What a chunk of a completion says (spec M66, M70): a quick reading of chunks as they should be,
//! and a slow one of all others, which finds what is wrong with them.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;

/// How a reply comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As a stream of events (spec M66).
    Stream,
    /// As one JSON object (spec M66a).
    Plain,
}

impl Form {
    /// What malformed parts are called: the chunk, a choice, what the choice holds and the key it
    /// holds that under, a call.
    fn words(self) -> Words {
        match self {
            Self::Stream => Words {
                chunk: "stream chunk",
                choice: "stream choice",
                inner: "stream delta",
                key: "delta",
                call: "stream tool-call fragment",
            },
            Self::Plain => Words {
                chunk: "completion response",
                choice: "completion choice",
                inner: "completion message",
                key: "message",
                call: "completion tool call",
            },
        }
    }

    /// The failure of a chunk that is no JSON.
    pub(super) fn not_json(self) -> String {
        format!("{} was not valid JSON", self.words().chunk)
    }

    /// The failure of a choice without an index.
    pub(super) fn no_index(self) -> String {
        format!("{} had no integer index", self.words().choice)
    }

    /// The failure of a call, or a part of one, without an index.
    pub(super) fn no_call_index(self) -> String {
        format!("{} had no integer index", self.words().call)
    }
}

struct Words {
    chunk: &'static str,
    choice: &'static str,
    inner: &'static str,
    key: &'static str,
    call: &'static str,
}

/// A chunk of a completion, or the whole of one. What is absent and what is null is the same.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Chunk<'a> {
    pub(super) error: Option<Value>,
    #[serde(borrow)]
    pub(super) model: Option<Text<'a>>,
    pub(super) usage: Option<Value>,
    pub(super) timings: Option<Value>,
    pub(super) metrics: Option<Value>,
    #[serde(borrow)]
    pub(super) choices: Option<Vec<Object<Choice<'a>>>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Choice<'a> {
    pub(super) index: Option<i64>,
    #[serde(borrow)]
    pub(super) finish_reason: Option<Text<'a>>,
    #[serde(borrow)]
    delta: Option<Object<Delta<'a>>>,
    #[serde(borrow)]
    message: Option<Object<Delta<'a>>>,
}

impl<'a> Choice<'a> {
    /// What the choice holds.
    pub(super) fn into_delta(self, form: Form) -> Option<Delta<'a>> {
        let delta = match form {
            Form::Stream => self.delta,
            Form::Plain => self.message,
        };
        delta.map(|delta| delta.0)
    }
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Delta<'a> {
    #[serde(borrow)]
    pub(super) content: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) reasoning_content: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) reasoning: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) thinking: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) tool_calls: Option<Vec<Object<Fragment<'a>>>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Fragment<'a> {
    pub(super) index: Option<i64>,
    #[serde(borrow)]
    pub(super) id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) function: Option<Object<Function<'a>>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    pub(super) name: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) arguments: Option<Text<'a>>,
}

/// Why a chunk could not be read.
#[derive(Debug)]
pub(super) enum Unread {
    /// It is no JSON.
    NotJson,
    /// A part of it is not what it should be: spec M70's text.
    Malformed(String),
}

impl<'a> Chunk<'a> {
    /// Reads a chunk. JSON that is no object says nothing.
    pub(super) fn read(payload: &'a [u8], form: Form) -> Result<Self, Unread> {
        let payload = std::str::from_utf8(payload).map_err(|_| Unread::NotJson)?;
        if let Ok(Object(chunk)) = serde_json::from_str(payload) {
            return Ok(chunk);
        }
        let value: Value = serde_json::from_str(payload).map_err(|_| Unread::NotJson)?;
        slow(value, form).map_err(Unread::Malformed)
    }
}

fn slow(mut chunk: Value, form: Form) -> Result<Chunk<'static>, String> {
    let words = form.words();
    let error = taken(&mut chunk, "error");
    // An error ends the round, whatever else there is.
    let choices = match error {
        None => array(&mut chunk, "choices", words.chunk)?,
        Some(_) => None,
    };
    let mut read = Vec::new();
    for (position, mut choice) in choices.into_iter().flatten().enumerate() {
        let index = taken(&mut choice, "index").and_then(|index| index.as_i64());
        let is_read = match form {
            Form::Stream => index.ok_or_else(|| form.no_index())? == 0,
            Form::Plain => position == 0,
        };
        if is_read {
            read.push(Object(slow_choice(choice, index, form)?));
        }
    }
    Ok(Chunk {
        error,
        model: match taken(&mut chunk, "model") {
            Some(Value::String(model)) => Some(Text(model.into())),
            _ => None,
        },
        usage: taken(&mut chunk, "usage"),
        timings: taken(&mut chunk, "timings"),
        metrics: taken(&mut chunk, "metrics"),
        choices: Some(read),
    })
}

fn slow_choice(
    mut choice: Value,
    index: Option<i64>,
    form: Form,
) -> Result<Choice<'static>, String> {
    let words = form.words();
    let finish_reason = text(&mut choice, "finish_reason", words.choice, PRESENT)?;
    let delta = taken(&mut choice, words.key).map(|delta| match delta.is_object() {
        true => slow_delta(delta, form).map(Object),
        false => Err(format!(
            "{} `{}` {PRESENT} an object",
            words.choice, words.key
        )),
    });
    let (delta, message) = match form {
        Form::Stream => (delta.transpose()?, None),
        Form::Plain => (None, delta.transpose()?),
    };
    Ok(Choice {
        index,
        finish_reason,
        delta,
        message,
    })
}

fn slow_delta(mut delta: Value, form: Form) -> Result<Delta<'static>, String> {
    let words = form.words();
    let mut piece = |key| text(&mut delta, key, words.inner, PRESENT);
    let (content, reasoning_content) = (piece("content")?, piece("reasoning_content")?);
    let (reasoning, thinking) = (piece("reasoning")?, piece("thinking")?);
    let calls = array(&mut delta, "tool_calls", words.inner)?;
    let calls = calls.map(|calls| {
        let read = |call| slow_fragment(call, form).map(Object);
        calls.into_iter().map(read).collect()
    });
    Ok(Delta {
        content,
        reasoning_content,
        reasoning,
        thinking,
        tool_calls: calls.transpose()?,
    })
}

fn slow_fragment(mut fragment: Value, form: Form) -> Result<Fragment<'static>, String> {
    let place = form.words().call;
    let index = taken(&mut fragment, "index").and_then(|index| index.as_i64());
    if form == Form::Stream && index.is_none() {
        return Err(form.no_call_index());
    }
    let id = text(&mut fragment, "id", place, WAS)?;
    let function = match taken(&mut fragment, "function") {
        Some(function) if !function.is_object() => {
            return Err(format!("{place} `function` {WAS} an object"));
        }
        function => function.map(|mut function| {
            Ok::<_, String>(Object(Function {
                name: text(&mut function, "name", place, WAS)?,
                arguments: text(&mut function, "arguments", place, WAS)?,
            }))
        }),
    };
    Ok(Fragment {
        index,
        id,
        function: function.transpose()?,
    })
}

const PRESENT: &str = "was present but not";
const WAS: &str = "was not";

/// What an object has under a key, taken out of it; `None` for null.
fn taken(object: &mut Value, key: &str) -> Option<Value> {
    let value = object.get_mut(key).map(Value::take);
    value.filter(|value| !value.is_null())
}

fn text(
    object: &mut Value,
    key: &str,
    place: &str,
    fault: &str,
) -> Result<Option<Text<'static>>, String> {
    match taken(object, key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(Text(text.into()))),
        Some(_) => Err(format!("{place} `{key}` {fault} a string")),
    }
}

fn array(object: &mut Value, key: &str, place: &str) -> Result<Option<Vec<Value>>, String> {
    match taken(object, key) {
        None => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items)),
        Some(_) => Err(format!("{place} `{key}` {PRESENT} an array")),
    }
}

/// A string that is borrowed from the chunk where it holds no escapes.
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

/// A value that has to be written as an object: serde would take an array for a struct too.
#[derive(Debug)]
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }

        deserializer.deserialize_map(Reader(PhantomData))
    }
}
