//! The body of a round's request (spec M63).

use serde::Serialize;
use serde_json::value::RawValue;

use super::offered::OfferedTools;
use crate::engine::model::{Message, Round};

/// The JSON body that asks for a round, under the name the wire calls its model.
pub(super) fn body(
    round: &Round,
    wire_name: &str,
    offered: &OfferedTools,
) -> Result<Vec<u8>, serde_json::Error> {
    let tools = offered.json(&round.tools)?;
    serde_json::to_vec(&Request {
        model: wire_name,
        messages: &round.messages,
        stream: true,
        stream_options: StreamOptions {
            include_usage: true,
        },
        tool_choice: tools.is_some().then_some("auto"),
        tools: tools.as_deref(),
        temperature: round.temperature,
        max_tokens: round.max_tokens,
        chat_template_kwargs: round.thinking.map(|on| TemplateArguments {
            enable_thinking: on,
        }),
    })
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    messages: &'a [Message],
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chat_template_kwargs: Option<TemplateArguments>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct TemplateArguments {
    enable_thinking: bool,
}
