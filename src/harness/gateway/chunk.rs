//! What a chunk of a completion says (spec M66, M70): a quick reading of chunks as they should be,
//! and a slow one of all others, which finds what is wrong with them. Neither holds more than a few
//! of a chunk's choices and calls at a time, however many there are.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::many::{Many, Object, Slow, each};
use super::metadata::Kind;
use super::raw::{Text, is_array, is_object, is_string, members, read};

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
    fn no_index(self) -> Unread {
        Unread::Malformed(format!("{} had no integer index", self.words().choice))
    }

    /// The failure of a call, or a part of one, without an index.
    fn no_call_index(self) -> Unread {
        Unread::Malformed(format!("{} had no integer index", self.words().call))
    }

    /// The failure of a completion without a choice.
    fn no_choice(self) -> Unread {
        Unread::Malformed(format!("{} named no choice", self.words().chunk))
    }
}

struct Words {
    chunk: &'static str,
    choice: &'static str,
    inner: &'static str,
    key: &'static str,
    call: &'static str,
}

/// What a chunk says, in the order in which it is taken.
pub(super) enum Part<'a> {
    /// The model's name.
    Model(Cow<'a, str>),
    /// What is beside the reply.
    Metadata(Kind, &'a RawValue),
    /// Why the reply ends.
    FinishReason(Cow<'a, str>),
    /// Of the reasoning.
    Reasoning(Cow<'a, str>),
    /// Of the text.
    Text(Cow<'a, str>),
    /// Of the call with this index.
    Call(i64, Fragment<'a>),
}

type Say<'s, 'a> = &'s mut dyn FnMut(Part<'a>);

/// Why a chunk could not be read.
#[derive(Debug)]
pub(super) enum Unread {
    /// It is no JSON. Nothing was said.
    NotJson,
    /// A part of it is not what it should be: spec M70's text.
    Malformed(String),
    /// It tells of an error: the error's text.
    Failed(String),
}

impl From<serde_json::Error> for Unread {
    fn from(_: serde_json::Error) -> Self {
        Self::NotJson
    }
}

/// Reads a chunk. JSON that is no object says nothing.
pub(super) fn read_chunk<'a>(
    payload: &'a [u8],
    form: Form,
    say: Say<'_, 'a>,
) -> Result<(), Unread> {
    let payload = std::str::from_utf8(payload).map_err(|_| Unread::NotJson)?;
    if let Ok(Object(chunk)) = serde_json::from_str::<Object<Chunk<'a>>>(payload) {
        return chunk.say(form, say);
    }
    let raw: &RawValue = serde_json::from_str(payload)?;
    let said = Chunk::slow(raw, form).and_then(|chunk| chunk.say(form, say));
    said.map_err(|unread| match unread {
        // A string with half a character.
        Unread::NotJson => Unread::Malformed(form.not_json()),
        unread => unread,
    })
}

/// A chunk of a completion, or the whole of one. What is absent and what is null is the same.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Chunk<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<Text<'a>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    timings: Option<&'a RawValue>,
    #[serde(borrow)]
    metrics: Option<&'a RawValue>,
    #[serde(borrow)]
    choices: Option<Many<'a, Choice<'a>>>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Choice<'a> {
    index: Option<i64>,
    #[serde(borrow)]
    finish_reason: Option<Text<'a>>,
    #[serde(borrow)]
    delta: Option<Object<Delta<'a>>>,
    #[serde(borrow)]
    message: Option<Object<Delta<'a>>>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Delta<'a> {
    #[serde(borrow)]
    content: Option<Text<'a>>,
    #[serde(borrow)]
    reasoning_content: Option<Text<'a>>,
    #[serde(borrow)]
    reasoning: Option<Text<'a>>,
    #[serde(borrow)]
    thinking: Option<Text<'a>>,
    #[serde(borrow)]
    tool_calls: Option<Many<'a, Fragment<'a>>>,
}

/// A call, or a part of one.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Fragment<'a> {
    index: Option<i64>,
    #[serde(borrow)]
    pub(super) id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) function: Option<Object<Function<'a>>>,
}

/// What is called.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    pub(super) name: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) arguments: Option<Text<'a>>,
}

impl<'a> Chunk<'a> {
    fn slow(raw: &'a RawValue, form: Form) -> Result<Self, Unread> {
        let keys = ["error", "model", "usage", "timings", "metrics", "choices"];
        let [error, model, usage, timings, metrics, choices] = members(raw, keys)?;
        let choices = match error {
            None => array(choices, "choices", form.words().chunk)?,
            // An error ends the round, whatever else there is.
            Some(_) => None,
        };
        Ok(Self {
            error,
            // One that is no text is told of as one that is absent.
            model: model.and_then(read),
            usage,
            timings,
            metrics,
            choices,
        })
    }

    fn say(self, form: Form, say: Say<'_, 'a>) -> Result<(), Unread> {
        if let Some(error) = self.error {
            return Err(Unread::Failed(message(error)));
        }
        if let Some(Text(model)) = self.model {
            say(Part::Model(model));
        }
        let metadata = [
            (Kind::Usage, self.usage),
            (Kind::Timings, self.timings),
            (Kind::Metrics, self.metrics),
        ];
        for (kind, raw) in metadata {
            if let Some(raw) = raw {
                say(Part::Metadata(kind, raw));
            }
        }
        let mut is_empty = true;
        each(self.choices, |position, choice| {
            is_empty = false;
            if form == Form::Plain && position > 0 {
                return Ok(());
            }
            let choice = choice.read(form)?;
            if form == Form::Plain || choice.index.ok_or_else(|| form.no_index())? == 0 {
                choice.say(form, say)?;
            }
            Ok(())
        })?;
        match form {
            Form::Plain if is_empty => Err(form.no_choice()),
            _ => Ok(()),
        }
    }
}

impl<'a> Choice<'a> {
    fn say(self, form: Form, say: Say<'_, 'a>) -> Result<(), Unread> {
        if let Some(Text(reason)) = self.finish_reason {
            say(Part::FinishReason(reason));
        }
        let delta = match form {
            Form::Stream => self.delta,
            Form::Plain => self.message,
        };
        let Some(Object(delta)) = delta else {
            return Ok(());
        };
        let reasoning = [delta.reasoning_content, delta.reasoning, delta.thinking];
        for Text(piece) in reasoning.into_iter().flatten() {
            say(Part::Reasoning(piece));
        }
        if let Some(Text(piece)) = delta.content {
            say(Part::Text(piece));
        }
        each(delta.tool_calls, |position, fragment| {
            let fragment = fragment.read(form)?;
            let index = match form {
                Form::Stream => fragment.index.ok_or_else(|| form.no_call_index())?,
                Form::Plain => i64::try_from(position).unwrap_or(i64::MAX),
            };
            say(Part::Call(index, fragment));
            Ok(())
        })
    }
}

impl<'a> Slow<'a> for Choice<'a> {
    /// Of a choice that is not read the index alone is.
    fn slow(raw: &'a RawValue, form: Form) -> Result<Self, Unread> {
        let words = form.words();
        let [index, reason, inner] = members(raw, ["index", "finish_reason", words.key])?;
        let index = index.and_then(read);
        if form == Form::Stream && index != Some(0) {
            return Ok(Self {
                index,
                ..Self::default()
            });
        }
        let finish_reason = text(reason, "finish_reason", words.choice, PRESENT)?;
        let inner = inner.map(|inner| match is_object(inner) {
            true => Delta::slow(inner, form).map(Object),
            false => Err(fault(words.choice, words.key, PRESENT, "an object")),
        });
        let (delta, message) = match form {
            Form::Stream => (inner.transpose()?, None),
            Form::Plain => (None, inner.transpose()?),
        };
        Ok(Self {
            index,
            finish_reason,
            delta,
            message,
        })
    }
}

impl<'a> Slow<'a> for Delta<'a> {
    fn slow(raw: &'a RawValue, form: Form) -> Result<Self, Unread> {
        const KEYS: [&str; 5] = [
            "content",
            "reasoning_content",
            "reasoning",
            "thinking",
            "tool_calls",
        ];
        let place = form.words().inner;
        let [content, reasoning_content, reasoning, thinking, calls] = members(raw, KEYS)?;
        let piece = |raw, key| text(raw, key, place, PRESENT);
        Ok(Self {
            content: piece(content, KEYS[0])?,
            reasoning_content: piece(reasoning_content, KEYS[1])?,
            reasoning: piece(reasoning, KEYS[2])?,
            thinking: piece(thinking, KEYS[3])?,
            tool_calls: array(calls, KEYS[4], place)?,
        })
    }
}

impl<'a> Slow<'a> for Fragment<'a> {
    fn slow(raw: &'a RawValue, form: Form) -> Result<Self, Unread> {
        let place = form.words().call;
        let [index, id, function] = members(raw, ["index", "id", "function"])?;
        let index = index.and_then(read);
        if form == Form::Stream && index.is_none() {
            return Err(form.no_call_index());
        }
        let id = text(id, "id", place, WAS)?;
        let function = function.map(|function| {
            if !is_object(function) {
                return Err(fault(place, "function", WAS, "an object"));
            }
            let [name, arguments] = members(function, ["name", "arguments"])?;
            Ok(Object(Function {
                name: text(name, "name", place, WAS)?,
                arguments: text(arguments, "arguments", place, WAS)?,
            }))
        });
        Ok(Self {
            index,
            id,
            function: function.transpose()?,
        })
    }
}

const PRESENT: &str = "was present but not";
const WAS: &str = "was not";

fn fault(place: &str, key: &str, fault: &str, kind: &str) -> Unread {
    Unread::Malformed(format!("{place} `{key}` {fault} {kind}"))
}

fn text<'a>(
    raw: Option<&'a RawValue>,
    key: &str,
    place: &str,
    said: &str,
) -> Result<Option<Text<'a>>, Unread> {
    match raw {
        None => Ok(None),
        Some(raw) if is_string(raw) => Ok(Some(serde_json::from_str(raw.get())?)),
        Some(_) => Err(fault(place, key, said, "a string")),
    }
}

fn array<'a, T>(
    raw: Option<&'a RawValue>,
    key: &str,
    place: &str,
) -> Result<Option<Many<'a, T>>, Unread> {
    match raw {
        None => Ok(None),
        Some(raw) if is_array(raw) => Ok(Some(Many::Raw(raw))),
        Some(_) => Err(fault(place, key, PRESENT, "an array")),
    }
}

/// What an error in a chunk says: its `message`, or itself where it is text.
fn message(error: &RawValue) -> String {
    let text = match members(error, ["message"]) {
        Ok([Some(message)]) => message,
        _ => error,
    };
    read(text).unwrap_or_default()
}
