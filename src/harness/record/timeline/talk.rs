//! Rounds with a model.

use std::sync::Arc;

use super::Clip;
use crate::engine::model::{Body, Content, Message, Metrics, Origin, Part, Role, ToolCall};
use crate::engine::{self, model};

/// A round with a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// Its number within the run, from 0.
    pub round: u64,
    /// What started it.
    pub origin: Origin,
    /// The catalog id of the model that was asked.
    pub model: Arc<str>,
    /// How many messages were sent.
    pub messages: usize,
    /// How many of them, at the start, are those of the same task's round before, and its reply.
    pub repeated: usize,
    /// The others, where messages are kept.
    pub added: Vec<Said>,
    /// The names of the tools on offer, where messages are kept.
    pub offered: Vec<Arc<str>>,
    /// The sampling temperature, where it was set.
    pub temperature: Option<f64>,
    /// The most tokens of a reply, where it was set.
    pub max_tokens: Option<u32>,
    /// The thinking switch, where it was set.
    pub thinking: Option<bool>,
    /// What the model answered.
    pub reply: Option<Reply>,
    /// Why it failed.
    pub failure: Option<Failure>,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Who it is from.
    pub role: Role,
    /// What it says.
    pub text: Clip,
    /// How many images it has.
    pub images: usize,
    /// The calls of an assistant that calls tools.
    pub calls: Vec<AskedCall>,
    /// The call that a tool message answers.
    pub call_id: Option<Arc<str>>,
}

/// A call that a model asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedCall {
    /// The call's id.
    pub id: Arc<str>,
    /// The tool's name.
    pub name: Arc<str>,
    /// The arguments, as JSON.
    pub arguments: Clip,
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The text; empty where it calls tools.
    pub text: Clip,
    /// The calls, at least one unless it is text.
    pub calls: Vec<AskedCall>,
    /// The reasoning that came with it.
    pub reasoning: Clip,
    /// Why the provider says it ended.
    pub finish_reason: Option<String>,
    /// The model that the provider named.
    pub model: Arc<str>,
    /// What it says of its cost.
    pub metrics: Metrics,
    /// What of its metadata was ignored.
    pub degraded: Vec<String>,
}

/// Why something failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The class of a round's or a tool's failure, the reason of the store's.
    pub class: &'static str,
    /// The status of a response.
    pub status: Option<u16>,
    /// What is wrong.
    pub message: Clip,
}

/// What a track's next round may repeat.
#[derive(Debug)]
pub(super) struct Before {
    messages: Arc<[Message]>,
    reply: Option<Body>,
}

impl Before {
    pub(super) fn new(round: &model::Round) -> Self {
        Self {
            messages: round.messages.clone(),
            reply: None,
        }
    }

    pub(super) fn answered(&mut self, body: &Body) {
        self.reply = Some(body.clone());
    }

    /// How many messages at the start are known already.
    fn known(&self, messages: &[Message]) -> usize {
        let pairs = self.messages.iter().zip(messages);
        let same = pairs.take_while(|(before, now)| before == now).count();
        let is_reply = |message: &Message| match &self.reply {
            _ if message.role != Role::Assistant => false,
            Some(Body::Text(text)) => *text.trim() == *message.content.joined().trim(),
            Some(Body::Calls(calls)) => *calls == message.tool_calls,
            None => false,
        };
        let replied = same == self.messages.len() && messages.get(same).is_some_and(is_reply);
        same + usize::from(replied)
    }
}

impl Round {
    /// A round as it is asked, with its messages where they are kept.
    pub(super) fn new(
        round: &model::Round,
        before: Option<&Before>,
        messages: bool,
        limit: usize,
    ) -> Self {
        let repeated = before.map_or(0, |before| before.known(&round.messages));
        let added = round.messages.iter().skip(repeated);
        let added = added.filter(|_| messages).map(|it| Said::new(it, limit));
        let offered = round.tools.iter().filter(|_| messages);
        Self {
            round: round.round,
            origin: round.origin,
            model: round.model.clone(),
            messages: round.messages.len(),
            repeated,
            added: added.collect(),
            offered: offered.map(|tool| tool.name.clone()).collect(),
            temperature: round.temperature,
            max_tokens: round.max_tokens,
            thinking: round.thinking,
            reply: None,
            failure: None,
        }
    }
}

impl Said {
    fn new(message: &Message, limit: usize) -> Self {
        let images = match &message.content {
            Content::Text(_) => 0,
            Content::Parts(parts) => {
                let images = parts.iter().filter(|part| matches!(part, Part::Image(_)));
                images.count()
            }
        };
        Self {
            role: message.role,
            text: match &message.content {
                Content::Text(text) => Clip::new(text, limit),
                parts => Clip::new(&parts.joined(), limit),
            },
            images,
            calls: AskedCall::all(&message.tool_calls, limit),
            call_id: message.tool_call_id.clone(),
        }
    }
}

impl AskedCall {
    fn all(calls: &[ToolCall], limit: usize) -> Vec<Self> {
        let calls = calls.iter().map(|call| Self {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: Clip::new(&call.arguments.to_json(), limit),
        });
        calls.collect()
    }
}

impl Reply {
    pub(super) fn new(reply: model::Reply, limit: usize) -> Self {
        let (text, calls) = match &reply.body {
            Body::Text(text) => (Clip::new(text, limit), Vec::new()),
            Body::Calls(calls) => (Clip::default(), AskedCall::all(calls, limit)),
        };
        Self {
            text,
            calls,
            reasoning: Clip::new(&reply.reasoning, limit),
            finish_reason: reply.finish_reason,
            model: reply.model,
            metrics: reply.metrics,
            degraded: reply.degraded,
        }
    }
}

impl Failure {
    pub(super) fn of_model(failure: &model::ModelFailure, limit: usize) -> Self {
        let message = match &failure.cause {
            Some(cause) => format!("{}: {cause}", failure.message),
            None => failure.message.clone(),
        };
        Self {
            class: failure.class.name(),
            status: failure.status,
            message: Clip::new(&message, limit),
        }
    }

    pub(super) fn of_tool(failure: &engine::tool::ToolFailure, limit: usize) -> Self {
        Self::plain(failure.class.name(), &failure.message, limit)
    }

    pub(super) fn of_store(failure: &engine::store::StoreFailure, limit: usize) -> Self {
        Self::plain(failure.reason.tag(), &failure.message, limit)
    }

    pub(super) fn plain(class: &'static str, message: &str, limit: usize) -> Self {
        Self {
            class,
            status: None,
            message: Clip::new(message, limit),
        }
    }
}
