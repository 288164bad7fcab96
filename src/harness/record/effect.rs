//! Effects as a record holds them (spec R21).

use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use super::json::{read_shallow, word};
use crate::engine::model::{Content, Message, Origin, Part, Role, Round, Tool, ToolCall};
use crate::engine::store::StoreOp;
use crate::engine::{Effect, ToolRequest};
use crate::lua::Data;

/// An effect to be written.
pub(super) struct Written<'a>(pub(super) &'a Effect);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Effect::Store { op, direct } => store(op, *direct, serializer),
            Effect::Model(round) => model(round, serializer),
            Effect::Tool(request) => tool(request, serializer),
            Effect::Timer { timer, seconds } => {
                let mut map = serializer.serialize_map(Some(3))?;
                map.serialize_entry("kind", "timer")?;
                map.serialize_entry("timer", &**timer)?;
                map.serialize_entry("seconds", seconds)?;
                map.end()
            }
        }
    }
}

fn store<S: Serializer>(op: &StoreOp, direct: bool, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(serde::Serialize)]
    struct Form<'a> {
        kind: &'static str,
        #[serde(flatten)]
        op: &'a StoreOp,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        direct: bool,
    }
    let kind = "store";
    Form { kind, op, direct }.serialize(serializer)
}

fn model<S: Serializer>(round: &Round, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("kind", "model")?;
    map.serialize_entry("round", &round.round)?;
    map.serialize_entry("origin", round.origin.tag())?;
    map.serialize_entry("model", &*round.model)?;
    map.serialize_entry("messages", &*round.messages)?;
    if !round.tools.is_empty() {
        map.serialize_entry("tools", &*round.tools)?;
    }
    if let Some(temperature) = &round.temperature {
        map.serialize_entry("temperature", temperature)?;
    }
    if let Some(max_tokens) = &round.max_tokens {
        map.serialize_entry("max_tokens", max_tokens)?;
    }
    if let Some(thinking) = &round.thinking {
        map.serialize_entry("thinking", thinking)?;
    }
    map.end()
}

fn tool<S: Serializer>(request: &ToolRequest, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("kind", "tool")?;
    map.serialize_entry("tool", &*request.tool)?;
    if let Some(id) = &request.call_id {
        map.serialize_entry("call_id", &**id)?;
    }
    map.serialize_entry("arguments", &request.arguments)?;
    map.end()
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
