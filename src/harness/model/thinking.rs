//! The words for whether a model thinks, as files and catalogs write them (spec C9, M75).

use serde::{Deserialize, Serialize};

use crate::engine::model::Thinking;

/// Reads and writes a [`Thinking`]: `#[serde(with = "ThinkingWord")]`.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Thinking", rename_all = "lowercase")]
pub enum ThinkingWord {
    /// `never`
    Never,
    /// `always`
    Always,
    /// `switchable`
    Switchable,
}
