//! The catalog of a configuration (spec C9, M75).

use std::num::NonZeroU32;
use std::sync::Arc;

use runvil::engine::model::{Model, Thinking};
use runvil::harness::model::ModelId;
use runvil::harness::yaml::{Identified, Located};
use serde::Deserialize;

/// A model of the catalog.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a map")]
pub struct ModelEntry {
    id: Located<ModelId>,
    /// What the wire calls it; by default its id.
    pub name: Option<String>,
    context: NonZeroU32,
    thinking: Thinking,
    #[serde(default)]
    description: String,
}

impl Identified for ModelEntry {
    fn id(&self) -> &str {
        self.id.0.as_str()
    }
}

impl From<&ModelEntry> for Model {
    fn from(entry: &ModelEntry) -> Self {
        Self {
            id: Arc::from(entry.id.0.clone()),
            context: entry.context.get(),
            thinking: entry.thinking,
            description: entry.description.as_str().into(),
        }
    }
}
