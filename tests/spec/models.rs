//! The Host's side of model rounds in a case: the model it has, what answers, and a broker that keeps
//! what it was asked.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use runvil::engine::model::{Model, Round, Thinking};
use runvil::harness::model::{Broker, Taken, Terms};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

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

/// Keeps a key that is absent apart from one that is null.
fn named<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
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

fn agrees<T: PartialEq>(wanted: &Option<T>, found: &T) -> bool {
    wanted.as_ref().is_none_or(|wanted| wanted == found)
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

/// What is done when the nth round goes out.
pub struct AtRound {
    pub nth: usize,
    pub act: Box<dyn Fn() + Send + Sync>,
}

/// A broker that keeps what it was asked and lets another answer.
pub struct Recorder {
    answers: Arc<dyn Broker>,
    /// How long each round is held on its way out, so that what falls due meanwhile waits with its
    /// answer.
    held: Duration,
    at_round: Option<AtRound>,
    taken: AtomicUsize,
    rounds: Mutex<Vec<Arc<Round>>>,
}

impl Recorder {
    pub fn new(answers: Arc<dyn Broker>, held: Duration, at_round: Option<AtRound>) -> Self {
        Self {
            answers,
            held,
            at_round,
            taken: AtomicUsize::new(0),
            rounds: Mutex::default(),
        }
    }

    /// The rounds so far, in the order they were asked.
    pub fn rounds(&self) -> Vec<Arc<Round>> {
        self.rounds
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Broker for Recorder {
    fn take(&self, round: Arc<Round>, terms: Terms) -> Taken {
        self.rounds
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(round.clone());
        let count = self.taken.fetch_add(1, Ordering::Relaxed) + 1;
        thread::sleep(self.held);
        if let Some(at_round) = &self.at_round
            && at_round.nth == count
        {
            (at_round.act)();
        }
        self.answers.take(round, terms)
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recorder")
    }
}

/// What answers the rounds of a case: its `script:`, a list of rules as a script file has them
/// under `rounds:` (spec C8).
pub fn scripted(rules: &serde_yaml::Value) -> Result<Arc<dyn Broker>, String> {
    let _ = rules;
    Err("there is no scripted model".to_owned())
}
