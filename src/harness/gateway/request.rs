//! The body of a round's request (spec M63).

use serde::Serialize;

use crate::engine::model::{Message, Round, Tool};

/// The JSON body that asks for a round, under the name the wire calls its model.
pub(super) fn body(round: &Round, wire_name: &str) -> Result<Vec<u8>, serde_json::Error> {
    let tools: Vec<Offered<'_>> = round.tools.iter().map(Offered::new).collect();
    serde_json::to_vec(&Request {
        model: wire_name,
        messages: &round.messages,
        stream: true,
        stream_options: StreamOptions {
            include_usage: true,
        },
        tool_choice: (!tools.is_empty()).then_some("auto"),
        tools,
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Offered<'a>>,
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

#[derive(Serialize)]
struct Offered<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: &'a Tool,
}

impl<'a> Offered<'a> {
    fn new(function: &'a Tool) -> Self {
        Self {
            kind: "function",
            function,
        }
    }
}
