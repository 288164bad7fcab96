//! What an attempt sends (spec P96, P97).

use serde_json::Value;

use crate::packet::prompt::Prompt;
use crate::packet::recovery::RepairBlock;
use crate::packet::state::Mode;

/// The text of an attempt, and what it is made of.
#[derive(Clone, Debug)]
pub(in crate::packet) struct Sent {
    pub(super) mode: Mode,
    pub(super) text: String,
    pub(super) block: Option<RepairBlock>,
    pub(super) failures: Vec<Value>,
}

impl Sent {
    /// The body alone.
    pub(in crate::packet) fn body(prompt: &Prompt) -> Self {
        Self {
            mode: Mode::Run,
            text: prompt.body.clone(),
            block: None,
            failures: Vec::new(),
        }
    }

    /// The body and what is left to do.
    pub(in crate::packet) fn repair(
        prompt: &Prompt,
        block: RepairBlock,
        failures: Vec<Value>,
    ) -> Self {
        Self {
            mode: Mode::Repair,
            text: block.below(&prompt.body),
            block: Some(block),
            failures,
        }
    }
}
