//! Effects as a record holds them (spec R21).

use std::io;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::value::RawValue;

use super::json::{read_shallow, word};
use super::text::{END, escaped, number, raw, string, value};
use crate::engine::model::{Content, Message, Origin, Part, Role, Round, Tool, ToolCall};
use crate::engine::store::StoreOp;
use crate::engine::{Effect, ToolRequest};
use crate::lua::Data;

/// Appends an effect, and ends its line.
///
/// # Errors
/// Something in it has no JSON form.
pub(super) fn write(out: &mut Vec<u8>, effect: &Effect) -> io::Result<()> {
    match effect {
        Effect::Store { op, direct } => store(out, op, *direct),
        Effect::Model(round) => return model(out, round),
        Effect::Tool(request) => return tool(out, request),
        Effect::Timer { timer, seconds } => {
            raw(out, r#"{"kind":"timer","timer":"#);
            string(out, timer);
            raw(out, r#","seconds":"#);
            value(out, seconds)?;
            raw(out, END);
        }
    }
    Ok(())
}

fn store(out: &mut Vec<u8>, op: &StoreOp, direct: bool) {
    match op {
        StoreOp::Write { path, contents } => {
            raw(out, r#"{"kind":"store","op":"write","path":""#);
            escaped(out, path);
            raw(out, r#"","contents":""#);
            escaped(out, contents);
        }
        StoreOp::Append { path, contents } => {
            raw(out, r#"{"kind":"store","op":"append","path":""#);
            escaped(out, path);
            raw(out, r#"","contents":""#);
            escaped(out, contents);
        }
        StoreOp::Read { path, start, end } => {
            raw(out, r#"{"kind":"store","op":"read","path":""#);
            escaped(out, path);
            return range(out, *start, *end, direct);
        }
        StoreOp::ReadNumbered { path, start, end } => {
            raw(out, r#"{"kind":"store","op":"read_numbered","path":""#);
            escaped(out, path);
            return range(out, *start, *end, direct);
        }
        StoreOp::Replace { path, old, new } => {
            raw(out, r#"{"kind":"store","op":"replace","path":""#);
            escaped(out, path);
            raw(out, r#"","old":""#);
            escaped(out, old);
            raw(out, r#"","new":""#);
            escaped(out, new);
        }
        StoreOp::Delete { path } => {
            raw(out, r#"{"kind":"store","op":"delete","path":""#);
            escaped(out, path);
        }
        StoreOp::Exists { path } => {
            raw(out, r#"{"kind":"store","op":"exists","path":""#);
            escaped(out, path);
        }
        StoreOp::Glob { pattern } => {
            raw(out, r#"{"kind":"store","op":"glob","pattern":""#);
            escaped(out, pattern);
        }
        StoreOp::Open { task } => {
            raw(out, r#"{"kind":"store","op":"open","task":""#);
            escaped(out, task);
        }
    }
    match direct {
        true => raw(out, "\",\"direct\":true}}\n"),
        false => raw(out, "\"}}\n"),
    }
}

/// What stands after the path of a file of which so many lines are read.
fn range(out: &mut Vec<u8>, start: Option<i64>, end: Option<i64>, direct: bool) {
    raw(out, "\"");
    for (key, line) in [(r#","start":"#, start), (r#","end":"#, end)] {
        if let Some(line) = line {
            raw(out, key);
            raw(out, if line < 0 { "-" } else { "" });
            number(out, line.unsigned_abs());
        }
    }
    if direct {
        raw(out, r#","direct":true"#);
    }
    raw(out, END);
}

fn model(out: &mut Vec<u8>, round: &Round) -> io::Result<()> {
    raw(out, r#"{"kind":"model","round":"#);
    number(out, round.round);
    raw(out, r#","origin":""#);
    raw(out, round.origin.tag());
    raw(out, r#"","model":""#);
    escaped(out, &round.model);
    raw(out, r#"","messages":["#);
    for (at, message) in round.messages.iter().enumerate() {
        if at > 0 {
            raw(out, ",");
        }
        write_message(out, message)?;
    }
    raw(out, "]");
    if !round.tools.is_empty() {
        raw(out, r#","tools":"#);
        value(out, &*round.tools)?;
    }
    if let Some(temperature) = &round.temperature {
        raw(out, r#","temperature":"#);
        value(out, temperature)?;
    }
    if let Some(max_tokens) = round.max_tokens {
        raw(out, r#","max_tokens":"#);
        number(out, max_tokens.into());
    }
    if let Some(thinking) = &round.thinking {
        raw(out, r#","thinking":"#);
        value(out, thinking)?;
    }
    raw(out, END);
    Ok(())
}

/// A message in its wire form (spec M64).
fn write_message(out: &mut Vec<u8>, message: &Message) -> io::Result<()> {
    let Content::Text(text) = &message.content else {
        return value(out, message);
    };
    raw(out, r#"{"role":""#);
    raw(out, message.role.name());
    raw(out, r#"","content":""#);
    escaped(out, text);
    raw(out, "\"");
    if !message.tool_calls.is_empty() {
        raw(out, r#","tool_calls":"#);
        value(out, &message.tool_calls)?;
    }
    if let Some(id) = &message.tool_call_id {
        raw(out, r#","tool_call_id":"#);
        string(out, id);
    }
    raw(out, "}");
    Ok(())
}

fn tool(out: &mut Vec<u8>, request: &ToolRequest) -> io::Result<()> {
    raw(out, r#"{"kind":"tool","tool":"#);
    string(out, &request.tool);
    if let Some(id) = &request.call_id {
        raw(out, r#","call_id":"#);
        string(out, id);
    }
    raw(out, r#","arguments":"#);
    value(out, &request.arguments)?;
    raw(out, END);
    Ok(())
}

/// Reads an effect.
///
/// # Errors
/// The JSON reader's, and that of anything that is no such effect.
pub(super) fn read(text: &str) -> Result<Effect, serde_json::Error> {
    #[derive(Deserialize)]
    struct Head {
        kind: String,
    }
    let Head { kind } = read_shallow(text)?;
    Ok(match kind.as_str() {
        "store" => {
            let form: StoreForm = read_shallow(text)?;
            Effect::Store {
                op: form.op,
                direct: form.direct,
            }
        }
        "model" => Effect::Model(Arc::new(read_shallow::<ModelForm>(text)?.round()?)),
        "tool" => Effect::Tool(Arc::new(read_shallow::<ToolForm>(text)?.request()?)),
        "timer" => {
            let form: TimerForm = read_shallow(text)?;
            Effect::Timer {
                timer: form.timer.into(),
                seconds: form.seconds,
            }
        }
        other => return Err(serde_json::Error::custom(format!("{other:?} is no effect"))),
    })
}

/// The kind was looked at before.
type Kind = serde::de::IgnoredAny;

#[derive(Deserialize)]
struct StoreForm {
    #[serde(default)]
    direct: bool,
    #[serde(flatten)]
    op: StoreOp,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TimerForm {
    #[serde(rename = "kind")]
    _kind: Kind,
    timer: String,
    seconds: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolForm<'a> {
    #[serde(rename = "kind")]
    _kind: Kind,
    tool: String,
    call_id: Option<String>,
    #[serde(borrow)]
    arguments: &'a RawValue,
}

impl ToolForm<'_> {
    fn request(self) -> Result<ToolRequest, serde_json::Error> {
        Ok(ToolRequest {
            tool: self.tool.into(),
            call_id: self.call_id.map(Arc::from),
            arguments: object(self.arguments.get())?,
        })
    }
}

/// Reads an object.
pub(super) fn object(text: &str) -> Result<Data, serde_json::Error> {
    match read_shallow(text)? {
        object @ Data::Map(_) => Ok(object),
        _ => Err(serde_json::Error::custom("the arguments are no object")),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelForm {
    #[serde(rename = "kind")]
    _kind: Kind,
    round: u64,
    origin: String,
    model: String,
    messages: Vec<MessageForm>,
    #[serde(default)]
    tools: Vec<OfferForm>,
    temperature: Option<f64>,
    max_tokens: Option<u32>,
    thinking: Option<bool>,
}

impl ModelForm {
    fn round(self) -> Result<Round, serde_json::Error> {
        let messages = self.messages.into_iter().map(MessageForm::message);
        let tools = self.tools.into_iter().map(|tool| Tool {
            name: tool.name.into(),
            description: tool.description.into(),
            parameters: tool.parameters,
        });
        Ok(Round {
            round: self.round,
            origin: word("origin of a round", self.origin, Origin::from_tag)?,
            model: self.model.into(),
            messages: messages.collect::<Result<_, _>>()?,
            tools: tools.collect(),
            temperature: self.temperature,
            max_tokens: self.max_tokens,
            thinking: self.thinking,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfferForm {
    name: String,
    description: String,
    parameters: Data,
}

/// A message in its wire form (spec M64).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MessageForm {
    role: String,
    content: ContentForm,
    #[serde(default)]
    tool_calls: Vec<CallForm>,
    tool_call_id: Option<String>,
}

impl MessageForm {
    fn message(self) -> Result<Message, serde_json::Error> {
        let calls = self.tool_calls.into_iter().map(CallForm::call);
        Ok(Message {
            role: word("role", self.role, Role::from_name)?,
            content: match self.content {
                ContentForm::Text(text) => Content::Text(text.into()),
                ContentForm::Parts(parts) => Content::Parts(
                    parts
                        .into_iter()
                        .map(|part| match part {
                            PartForm::Text { text } => Part::Text(text.into()),
                            PartForm::ImageUrl { image_url } => Part::Image(image_url.url.into()),
                        })
                        .collect(),
                ),
            },
            tool_calls: calls.collect::<Result<_, _>>()?,
            tool_call_id: self.tool_call_id.map(Arc::from),
        })
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ContentForm {
    Text(String),
    Parts(Vec<PartForm>),
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum PartForm {
    Text { text: String },
    ImageUrl { image_url: UrlForm },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UrlForm {
    url: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallForm {
    id: String,
    #[serde(rename = "type", deserialize_with = "is_function")]
    _type: (),
    function: FunctionForm,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FunctionForm {
    name: String,
    arguments: String,
}

impl CallForm {
    fn call(self) -> Result<ToolCall, serde_json::Error> {
        Ok(ToolCall {
            id: self.id.into(),
            name: self.function.name.into(),
            arguments: super::json::read(&self.function.arguments)?,
        })
    }
}

fn is_function<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "function" => Ok(()),
        other => Err(D::Error::custom(format_args!(
            "{other:?} is no type of a call"
        ))),
    }
}
