//! A round: one request to a model, and its reply (spec M63, R21).

use std::sync::Arc;

use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use super::message::{Message, ToolCall};
use super::metrics::Metrics;
use crate::lua::Data;

/// A model that a Host has, as its catalog lists it (spec M75).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// Its id in the catalog.
    pub id: Arc<str>,
    /// Its context window, in tokens; at least 1.
    pub context: u32,
    /// Whether it thinks.
    pub thinking: Thinking,
    /// What it is; may be empty.
    pub description: Arc<str>,
}

/// Why a text cannot be a model's id: it is empty, or holds a control character (spec M21).
pub fn model_id_fault(id: &str) -> Option<&'static str> {
    if id.is_empty() {
        Some("name must not be empty")
    } else if id.chars().any(char::is_control) {
        Some("name must not contain a control character")
    } else {
        None
    }
}

/// Whether a model thinks before it answers. Files and catalogs write it in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Thinking {
    /// It cannot.
    Never,
    /// It cannot help it.
    Always,
    /// As it is told.
    Switchable,
}

/// What started a round (spec M76).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `models.loop`
    Chat,
    /// `models.infer`
    Infer,
}

impl Origin {
    /// The word that events and records have.
    pub fn tag(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Infer => "infer",
        }
    }

    /// The origin of a word.
    pub fn from_tag(tag: &str) -> Option<Self> {
        [Self::Chat, Self::Infer]
            .into_iter()
            .find(|origin| origin.tag() == tag)
    }
}

/// A tool as it is offered to a model (spec T78).
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The name the model calls it by.
    pub name: Arc<str>,
    /// What it does.
    pub description: Arc<str>,
    /// The JSON Schema of its arguments.
    pub parameters: Data,
}

/// A request to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// Counts the rounds of a run from 0, in issue order.
    pub round: u64,
    /// What started it.
    pub origin: Origin,
    /// The catalog id of the model that is asked.
    pub model: Arc<str>,
    /// The composed messages.
    pub messages: Arc<[Message]>,
    /// The tools on offer, in order.
    pub tools: Arc<[Tool]>,
    /// The sampling temperature, where it is set.
    pub temperature: Option<f64>,
    /// The most tokens of a reply, where it is set.
    pub max_tokens: Option<u32>,
    /// The thinking switch, where it is set.
    pub thinking: Option<bool>,
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Text, or calls of tools.
    pub body: Body,
    /// Why the provider says it ended.
    pub finish_reason: Option<String>,
    /// The reasoning that came with it; may be empty.
    pub reasoning: Arc<str>,
    /// The model that the provider named; empty for none.
    pub model: Arc<str>,
    /// What the reply says of its cost.
    pub metrics: Metrics,
    /// What of its metadata was ignored, and why (spec K188).
    pub degraded: Vec<String>,
}

/// What a reply is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// The whole text as received; may be blank.
    Text(Arc<str>),
    /// Calls of tools, at least one. Text beside them is dropped.
    Calls(Vec<ToolCall>),
}

impl Reply {
    /// A reply that is text and nothing else.
    pub fn text(text: impl Into<Arc<str>>, finish_reason: Option<&str>) -> Self {
        Self {
            body: Body::Text(text.into()),
            finish_reason: finish_reason.map(str::to_owned),
            reasoning: Arc::default(),
            model: Arc::default(),
            metrics: Metrics::default(),
            degraded: Vec::new(),
        }
    }
}

impl Serialize for Tool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("name", &*self.name)?;
        map.serialize_entry("description", &*self.description)?;
        map.serialize_entry("parameters", &self.parameters)?;
        map.end()
    }
}
