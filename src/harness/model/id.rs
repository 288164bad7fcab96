//! What may be a model's id (spec M21, M75).

use std::sync::Arc;

use serde::Deserialize;

use crate::engine::model::model_id_fault;

/// A model's id: text that is not empty and holds no control character.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct ModelId(Arc<str>);

impl ModelId {
    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ModelId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match model_id_fault(&text) {
            None => Ok(Self(text.into())),
            Some(reason) => Err(format!("invalid model id: {reason}")),
        }
    }
}

impl From<ModelId> for Arc<str> {
    fn from(id: ModelId) -> Self {
        id.0
    }
}
