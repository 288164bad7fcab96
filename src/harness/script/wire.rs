//! A scripted reply as the body of a completion that does not stream (spec M66a): what a gateway
//! would have sent, for debug events (spec K188a).

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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::engine::model::Metrics;
    use crate::harness::gateway::{Completion as Read, Form};
    use crate::lua::Data;

    #[test]
    fn a_completion_is_read_as_the_reply_that_it_says() {
        // spec M66a, K188a
        let call = |id: &str, arguments| ToolCall {
            id: id.into(),
            name: "echo".into(),
            arguments,
        };
        let usage = Usage {
            prompt_tokens: 3,
            completion_tokens: 2,
            total_tokens: 5,
            cached_tokens: Some(1),
            reasoning_tokens: Some(0),
        };
        let plain = Usage {
            cached_tokens: None,
            reasoning_tokens: None,
            ..usage
        };
        let arguments = Data::object([("a", Data::Text("\"\u{1}é".into())), ("b", Data::Null)]);
        let calls = vec![call("call_1", arguments), call("call_2", Data::empty())];
        let bodies = [Body::Text("a \"b\"\n\u{7f}".into()), Body::Calls(calls)];
        for body in bodies {
            for (reasoning, finish_reason, usage) in [
                ("", None, None),
                ("hm\n", Some("stop"), Some(usage)),
                (" ", Some("tool_calls"), Some(plain)),
            ] {
                let reply = Reply {
                    body: body.clone(),
                    finish_reason: finish_reason.map(str::to_owned),
                    reasoning: Arc::from(reasoning),
                    model: "m1".into(),
                    metrics: Metrics {
                        usage,
                        ..Metrics::default()
                    },
                    degraded: Vec::new(),
                };
                let mut read = Read::new(Form::Plain);
                let bytes = completion(&reply).expect("JSON");
                read.feed(&bytes, &mut |_| {}).expect("taken");
                assert_eq!(read.finish(&mut |_| {}), Ok(Box::new(reply)));
            }
        }
    }
}
