//! The Host's side of model rounds in a case: the model it has, what answers, and what it was asked.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use runvil::engine::model::{Body, Metrics, Model, Reply, Round, Thinking, UnmetRole};
use runvil::harness::Script;
use runvil::harness::model::{Broker, Piece, Taken, Terms};
use serde::Deserialize;
use serde_json::Value;

use crate::pattern::{agrees, named};
use crate::signal::Signals;

/// The Host's current model; the keys a case leaves out are those of part 05's cases.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSetup {
    #[serde(default = "first_model")]
    id: String,
    #[serde(default = "window")]
    context: u32,
    #[serde(default)]
    thinking: ThinkingName,
    #[serde(default)]
    description: String,
}

fn first_model() -> String {
    "m1".to_owned()
}

fn window() -> u32 {
    32_000
}

/// A catalog's word for a model's thinking (spec M75).
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ThinkingName {
    Never,
    Always,
    #[default]
    Switchable,
}

impl ModelSetup {
    /// The model as a launch takes it.
    pub fn model(&self) -> Model {
        Model {
            id: self.id.as_str().into(),
            context: self.context,
            thinking: match self.thinking {
                ThinkingName::Never => Thinking::Never,
                ThinkingName::Always => Thinking::Always,
                ThinkingName::Switchable => Thinking::Switchable,
            },
            description: self.description.as_str().into(),
        }
    }
}

/// A check that a role fails, as the requirements report has it (spec M12).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnmetPattern {
    label: String,
    check: String,
    required: String,
    actual: String,
}

impl From<&UnmetRole> for UnmetPattern {
    fn from(unmet: &UnmetRole) -> Self {
        Self {
            label: unmet.label.clone(),
            check: format!("{:?}", unmet.check),
            required: unmet.required.clone(),
            actual: unmet.actual.clone(),
        }
    }
}

/// A piece of a reply that the Host was shown (spec M76).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShownPiece {
    round: u64,
    #[serde(default)]
    reasoning: bool,
    text: String,
}

impl From<Piece<'_>> for ShownPiece {
    fn from(piece: Piece<'_>) -> Self {
        Self {
            round: piece.round,
            reasoning: piece.reasoning,
            text: piece.text.to_owned(),
        }
    }
}

/// What a round asked of the broker: each part that is named must be so, and a null says that the
/// request leaves it out.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundPattern {
    messages: Option<Vec<Value>>,
    /// The last message alone.
    last: Option<Value>,
    model: Option<String>,
    tools: Option<Vec<ToolPattern>>,
    #[serde(default, deserialize_with = "named")]
    temperature: Option<Option<f64>>,
    #[serde(default, deserialize_with = "named")]
    max_tokens: Option<Option<u32>>,
    #[serde(default, deserialize_with = "named")]
    thinking: Option<Option<bool>>,
    origin: Option<String>,
}

/// A tool on offer: its name alone, or a map of what is said of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum ToolPattern {
    Name(String),
    Map(ToolMap),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolMap {
    name: String,
    description: Option<String>,
    /// A part of the description.
    description_contains: Option<String>,
    parameters: Option<Value>,
}

impl RoundPattern {
    /// What differs, the round's own part after the name of each; empty where the round is so.
    pub fn differences(&self, round: &Round) -> Vec<String> {
        let mut found = Vec::new();
        let mut require = |holds: bool, what: &str, got: &dyn fmt::Debug| {
            if !holds {
                found.push(format!("{what} {got:?}"));
            }
        };
        let messages = serde_json::to_value(&*round.messages).unwrap_or_default();
        let messages = messages.as_array().map(Vec::as_slice).unwrap_or_default();
        require(
            self.messages.as_ref().is_none_or(|all| all == messages),
            "messages",
            &messages,
        );
        require(
            self.last.is_none() || self.last.as_ref() == messages.last(),
            "last message",
            &messages.last(),
        );
        require(
            self.model.as_ref().is_none_or(|id| **id == *round.model),
            "model",
            &round.model,
        );
        let tools = serde_json::to_value(&*round.tools).unwrap_or_default();
        let offered = tools.as_array().map(Vec::as_slice).unwrap_or_default();
        require(
            self.tools
                .as_ref()
                .is_none_or(|wanted| ToolPattern::all_match(wanted, offered)),
            "tools",
            &tools,
        );
        require(
            agrees(&self.temperature, &round.temperature),
            "temperature",
            &round.temperature,
        );
        require(
            agrees(&self.max_tokens, &round.max_tokens),
            "max_tokens",
            &round.max_tokens,
        );
        require(
            agrees(&self.thinking, &round.thinking),
            "thinking",
            &round.thinking,
        );
        let origin = round.origin.tag();
        require(
            self.origin.as_ref().is_none_or(|wanted| wanted == origin),
            "origin",
            &origin,
        );
        found
    }
}

impl ToolPattern {
    fn all_match(patterns: &[Self], offered: &[Value]) -> bool {
        patterns.len() == offered.len()
            && patterns
                .iter()
                .zip(offered)
                .all(|(pattern, tool)| pattern.matches(tool))
    }

    fn matches(&self, tool: &Value) -> bool {
        match self {
            Self::Name(name) => tool["name"] == name.as_str(),
            Self::Map(map) => {
                let description = tool["description"].as_str().unwrap_or_default();
                tool["name"] == map.name.as_str()
                    && agrees(&map.description.as_deref(), &description)
                    && map
                        .description_contains
                        .as_ref()
                        .is_none_or(|part| description.contains(part.as_str()))
                    && agrees(&map.parameters.as_ref(), &&tool["parameters"])
            }
        }
    }
}

/// What every reply of a case says of itself, in the place of what its script gives it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// The model the provider names.
    model: Option<String>,
    metrics: Option<Metrics>,
    degraded: Option<Vec<String>>,
    /// The ids of all calls, in the order they are made.
    call_ids: Option<Vec<String>>,
}

impl Metadata {
    /// Writes itself into a reply; `made` counts the calls of the replies before.
    fn write(&self, reply: &mut Reply, made: &mut usize) {
        if let Some(model) = &self.model {
            reply.model = model.as_str().into();
        }
        if let Some(metrics) = &self.metrics {
            reply.metrics = metrics.clone();
        }
        if let Some(degraded) = &self.degraded {
            reply.degraded.clone_from(degraded);
        }
        let (Some(ids), Body::Calls(calls)) = (&self.call_ids, &mut reply.body) else {
            return;
        };
        for (call, id) in calls.iter_mut().zip(ids.iter().skip(*made)) {
            call.id = id.as_str().into();
            *made += 1;
        }
    }
}

/// A script that keeps what it was asked.
pub struct Witness {
    script: Script,
    metadata: Metadata,
    /// How long each round is held on its way out, so that what falls due meanwhile waits with its
    /// answer.
    held: Duration,
    signals: Arc<Signals>,
    asked: Mutex<Asked>,
}

/// What was asked so far.
#[derive(Default)]
struct Asked {
    rounds: Vec<Arc<Round>>,
    /// The calls that the replies held.
    calls: usize,
}

impl Witness {
    /// A witness of a case's `script:`, a list of rules as a script's file has them under
    /// `rounds:` (spec C8).
    pub fn new(
        rules: &serde_yaml::Value,
        metadata: Metadata,
        held: Duration,
        signals: Arc<Signals>,
    ) -> Result<Self, String> {
        let file = serde_yaml::Mapping::from_iter([("rounds".into(), rules.clone())]);
        let text = serde_yaml::to_string(&file).map_err(|error| error.to_string())?;
        Ok(Self {
            script: Script::from_yaml(&text).map_err(|error| format!("script: {error}"))?,
            metadata,
            held,
            signals,
            asked: Mutex::default(),
        })
    }

    /// The rounds so far, in the order they were asked.
    pub fn rounds(&self) -> Vec<Arc<Round>> {
        self.asked().rounds.clone()
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Broker for Witness {
    fn take(&self, round: Arc<Round>, terms: Terms) -> Taken {
        let mut asked = self.asked();
        asked.rounds.push(round.clone());
        self.signals.round(asked.rounds.len());
        thread::sleep(self.held);
        let mut taken = self.script.take(round, terms);
        if let Taken::Known(_, Ok(reply)) = &mut taken {
            self.metadata.write(reply, &mut asked.calls);
        }
        taken
    }
}

impl fmt::Debug for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Witness").field(&self.script).finish()
    }
}
