//! Answers as a record holds them (spec R21).

use std::io;

use serde::Deserialize;
use serde::de::Error as _;
use serde_json::value::RawValue;

use super::effect::object;
use super::json::{Seen, read_shallow, word};
use super::text::{END, escaped, raw, string, value};
use crate::engine::model::{Body, FailureClass, Metrics, ModelFailure, Reply, ToolCall};
use crate::engine::store::{self, StoreValue};
use crate::engine::tool::{ToolClass, ToolFailure};
use crate::engine::{Answer, Withdrawal};

/// How an effect was answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Answered {
    /// The run was handed this.
    Taken(Answer),
    /// The run wanted no answer any more, for a reason of its own. It follows from what the run is
    /// told otherwise.
    Withdrawn(Withdrawal),
}

/// Appends an answer that was taken, and ends its line.
///
/// # Errors
/// Something in it has no JSON form.
pub(super) fn write(out: &mut Vec<u8>, answer: &Answer) -> io::Result<()> {
    match answer {
        Answer::Store(Ok(found)) => {
            store_value(out, found);
            return Ok(());
        }
        Answer::Store(Err(failure)) => {
            raw(out, r#"{"failure":"#);
            value(out, failure)?;
        }
        Answer::Model(Ok(reply)) => return model_reply(out, reply),
        Answer::Model(Err(failure)) => {
            raw(out, r#"{"failure":"#);
            value(out, &ModelForm::from(failure))?;
        }
        Answer::Tool(Ok(output)) => {
            raw(out, r#"{"output":"#);
            string(out, output);
        }
        Answer::Tool(Err(failure)) => {
            raw(out, r#"{"failure":{"class":"#);
            string(out, failure.class.name());
            raw(out, r#","message":"#);
            string(out, &failure.message);
            raw(out, "}");
        }
        Answer::Fired => raw(out, r#"{"fired":true"#),
        Answer::Broken(text) => {
            raw(out, r#"{"broken":"#);
            string(out, text);
        }
    }
    raw(out, END);
    Ok(())
}

fn store_value(out: &mut Vec<u8>, found: &StoreValue) {
    match found {
        StoreValue::Null => raw(out, "{\"value\":null}}\n"),
        StoreValue::Bool(true) => raw(out, "{\"value\":true}}\n"),
        StoreValue::Bool(false) => raw(out, "{\"value\":false}}\n"),
        StoreValue::Text(text) => {
            raw(out, r#"{"value":""#);
            escaped(out, text);
            raw(out, "\"}}\n");
        }
        StoreValue::List(paths) => {
            raw(out, r#"{"value":["#);
            for (at, path) in paths.iter().enumerate() {
                raw(out, if at > 0 { "," } else { "" });
                string(out, path);
            }
            raw(out, "]}}\n");
        }
    }
}

#[derive(serde::Serialize)]
struct ModelForm<'a> {
    class: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a str>,
}

impl<'a> From<&'a ModelFailure> for ModelForm<'a> {
    fn from(failure: &'a ModelFailure) -> Self {
        Self {
            class: failure.class.name(),
            status: failure.status,
            message: &failure.message,
            cause: failure.cause.as_deref(),
        }
    }
}

fn model_reply(out: &mut Vec<u8>, reply: &Reply) -> io::Result<()> {
    match &reply.body {
        Body::Text(text) => {
            raw(out, r#"{"text":""#);
            escaped(out, text);
            raw(out, "\"");
        }
        Body::Calls(calls) => {
            raw(out, r#"{"calls":["#);
            for (at, call) in calls.iter().enumerate() {
                raw(out, if at > 0 { r#",{"id":"# } else { r#"{"id":"# });
                string(out, &call.id);
                raw(out, r#","name":"#);
                string(out, &call.name);
                raw(out, r#","arguments":"#);
                value(out, &call.arguments)?;
                raw(out, "}");
            }
            raw(out, "]");
        }
    }
    if let Some(reason) = &reply.finish_reason {
        raw(out, r#","finish_reason":"#);
        string(out, reason);
    }
    if !reply.reasoning.is_empty() {
        raw(out, r#","reasoning":"#);
        string(out, &reply.reasoning);
    }
    raw(out, r#","model":"#);
    string(out, &reply.model);
    if !reply.metrics.is_empty() {
        raw(out, r#","metrics":"#);
        value(out, &reply.metrics)?;
    }
    if !reply.degraded.is_empty() {
        raw(out, r#","degraded":"#);
        value(out, &reply.degraded)?;
    }
    raw(out, END);
    Ok(())
}

/// Reads an answer.
///
/// # Errors
/// The JSON reader's, and that of anything that is no such answer.
pub(super) fn read(text: &str) -> Result<Answered, serde_json::Error> {
    #[derive(Deserialize)]
    #[serde(default)]
    #[derive(Default)]
    struct Keys {
        value: Seen,
        failure: Seen,
        output: Seen,
        fired: Seen,
        broken: Seen,
    }
    const YES: Seen = Seen(true);
    if text.starts_with('"') {
        let tag: String = read_shallow(text)?;
        return word("answer", tag, Withdrawal::from_tag).map(Answered::Withdrawn);
    }
    let keys: Keys = read_shallow(text)?;
    Ok(Answered::Taken(match keys {
        Keys { value: YES, .. } => Answer::Store(store_answer(text)?),
        Keys { failure: YES, .. } => failure(text)?,
        Keys { output: YES, .. } => Answer::Tool(Ok(read_shallow::<Output>(text)?.output)),
        Keys { fired: YES, .. } => match read_shallow::<Fired>(text)? {
            Fired { fired: true } => Answer::Fired,
            Fired { fired: false } => return Err(serde_json::Error::custom("`fired` is true")),
        },
        Keys { broken: YES, .. } => Answer::Broken(read_shallow::<Broken>(text)?.broken),
        _ => Answer::Model(Ok(Box::new(read_shallow::<ReplyForm>(text)?.reply()?))),
    }))
}

type StoreAnswer = Result<store::StoreValue, store::StoreFailure>;

fn store_answer(text: &str) -> Result<StoreAnswer, serde_json::Error> {
    store::answer::deserialize(&mut serde_json::Deserializer::from_str(text))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Output {
    output: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fired {
    fired: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Broken {
    broken: String,
}

/// Reads a failure; which keys it has says what failed.
fn failure(text: &str) -> Result<Answer, serde_json::Error> {
    #[derive(Deserialize)]
    struct Keys {
        failure: Head,
    }
    #[derive(Deserialize)]
    struct Head {
        class: Option<String>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Form<'a> {
        #[serde(borrow)]
        failure: &'a RawValue,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Model {
        class: String,
        status: Option<u16>,
        message: String,
        cause: Option<String>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Tool {
        class: String,
        message: String,
    }
    let Keys { failure: head } = read_shallow(text)?;
    let Some(class) = head.class else {
        return Ok(Answer::Store(store_answer(text)?));
    };
    let form: Form = read_shallow(text)?;
    if ToolClass::from_name(&class).is_some() {
        let Tool { class, message } = read_shallow(form.failure.get())?;
        let class = word("class of a tool's failure", class, ToolClass::from_name)?;
        return Ok(Answer::Tool(Err(ToolFailure { class, message })));
    }
    let model: Model = read_shallow(form.failure.get())?;
    Ok(Answer::Model(Err(ModelFailure {
        class: word("class of a failure", model.class, FailureClass::from_name)?,
        status: model.status,
        message: model.message,
        cause: model.cause,
    })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplyForm<'a> {
    text: Option<String>,
    #[serde(borrow)]
    calls: Option<Vec<CallForm<'a>>>,
    finish_reason: Option<String>,
    #[serde(default)]
    reasoning: String,
    model: String,
    #[serde(default)]
    metrics: Metrics,
    #[serde(default)]
    degraded: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallForm<'a> {
    id: String,
    name: String,
    #[serde(borrow)]
    arguments: &'a RawValue,
}

impl ReplyForm<'_> {
    pub(super) fn reply(self) -> Result<Reply, serde_json::Error> {
        let body = match (self.text, self.calls) {
            (Some(text), None) => Body::Text(text.into()),
            (None, Some(calls)) => {
                let calls = calls.into_iter().map(|call| {
                    Ok::<_, serde_json::Error>(ToolCall {
                        id: call.id.into(),
                        name: call.name.into(),
                        arguments: object(call.arguments.get())?,
                    })
                });
                Body::Calls(calls.collect::<Result<_, _>>()?)
            }
            _ => {
                let text = "a reply has either `text` or `calls`";
                return Err(serde_json::Error::custom(text));
            }
        };
        Ok(Reply {
            body,
            finish_reason: self.finish_reason,
            reasoning: self.reasoning.into(),
            model: self.model.into(),
            metrics: self.metrics,
            degraded: self.degraded,
        })
    }
}
