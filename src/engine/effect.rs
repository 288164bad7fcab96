//! What a run asks of the outside, and what it is told (spec R6, R21).

use std::sync::Arc;

use super::model::{ModelFailure, Reply, Round};
use super::store::{StoreFailure, StoreOp, StoreValue};
use super::tool::ToolFailure;
use crate::lua::Data;

/// Counts the effects of a run from 0, in issue order (spec R14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EffectId(pub u64);

/// An effect as it is put out: its id, its coordinates and what to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Issued {
    /// The effect's id.
    pub id: EffectId,
    /// The task that asks.
    pub task: Arc<str>,
    /// Its number within the task (spec K183).
    pub seq: u32,
    /// What to do.
    pub effect: Effect,
}

/// An outside deed.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// An operation on the run's store.
    Store {
        /// The operation, its arguments already checked.
        op: StoreOp,
        /// Whether it must be answered before anything else runs (spec K205).
        direct: bool,
    },
    /// A round with a model.
    Model(Arc<Round>),
    /// A call of a tool that lives outside the run.
    Tool(Arc<ToolRequest>),
    /// A timed wait's timer.
    Timer {
        /// The child id it takes (spec K112).
        timer: Arc<str>,
        /// How long, in seconds.
        seconds: f64,
    },
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolRequest {
    /// The tool: PromptForge's tool path, Runvil's tool id.
    pub tool: Arc<str>,
    /// The model's call; `None` for a script's (spec T85).
    pub call_id: Option<Arc<str>>,
    /// The arguments, an object.
    pub arguments: Data,
}

/// The answer to an effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// What a store operation gave.
    Store(Result<StoreValue, StoreFailure>),
    /// What a round came to.
    Model(Result<Box<Reply>, ModelFailure>),
    /// What a tool gave: its text, before any envelope.
    Tool(Result<String, ToolFailure>),
    /// A timer's time has come.
    Fired,
    /// The deed could not be done for a fault of the Harness itself, which ends the run as an
    /// internal failure.
    Broken(String),
}

/// Why a run wants no answer to an effect any more (spec R14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withdrawal {
    /// Its chain has ended, or its wait was over before.
    Dropped,
    /// A stop or a cancel has resumed its call.
    Interrupted,
}

impl Withdrawal {
    /// The word for it, which is the answer that a record has.
    pub fn tag(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Interrupted => "interrupted",
        }
    }

    /// The one of a word.
    pub fn from_tag(tag: &str) -> Option<Self> {
        [Self::Dropped, Self::Interrupted]
            .into_iter()
            .find(|withdrawal| withdrawal.tag() == tag)
    }
}
