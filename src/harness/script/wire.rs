//! A scripted reply as the body of a completion that does not stream (spec M66a): what a gateway
//! would have sent, for debug events (spec K187).

use serde::Serialize;

use crate::engine::model::{Body, Reply, ToolCall, Usage};
use crate::harness::model::Tap;

/// Tells what listens in of a reply.
pub(super) fn tell(reply: &Reply, tap: &Tap) {
    if let Ok(body) = completion(reply) {
        tap.came(&body);
    }
    if let Some(reason) = &reply.finish_reason {
        tap.finish_reason(reason);
    }
    tap.reasoning(&reply.reasoning);
}

/// The JSON of the completion that a reply is read from.
fn completion(reply: &Reply) -> Result<Vec<u8>, serde_json::Error> {
    let (content, calls) = match &reply.body {
        Body::Text(text) => (Some(&**text), None),
        Body::Calls(calls) => (None, Some(calls.as_slice())),
    };
    let message = Message {
        role: "assistant",
        content,
        reasoning_content: Some(&*reply.reasoning).filter(|text| !text.is_empty()),
        tool_calls: calls,
    };
    let choice = Choice {
        index: 0,
        message,
        finish_reason: reply.finish_reason.as_deref(),
    };
    serde_json::to_vec(&Completion {
        model: &reply.model,
        choices: [choice],
        usage: reply.metrics.usage.map(Tokens::from),
    })
}

#[derive(Serialize)]
struct Completion<'a> {
    model: &'a str,
    choices: [Choice<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Tokens>,
}

#[derive(Serialize)]
struct Choice<'a> {
    index: u32,
    message: Message<'a>,
    finish_reason: Option<&'a str>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<&'a [ToolCall]>,
}

/// Token counts as the wire has them (spec M72).
#[derive(Serialize)]
struct Tokens {
    prompt_tokens: u32,
    completion_tokens: u32,
    total_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_tokens_details: Option<Cached>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completion_tokens_details: Option<Reasoned>,
}

#[derive(Serialize)]
struct Cached {
    cached_tokens: u32,
}

#[derive(Serialize)]
struct Reasoned {
    reasoning_tokens: u32,
}

impl From<Usage> for Tokens {
    fn from(usage: Usage) -> Self {
        let cached = |cached_tokens| Cached { cached_tokens };
        let reasoned = |reasoning_tokens| Reasoned { reasoning_tokens };
        Self {
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            total_tokens: usage.total_tokens,
            prompt_tokens_details: usage.cached_tokens.map(cached),
            completion_tokens_details: usage.reasoning_tokens.map(reasoned),
        }
    }
}
