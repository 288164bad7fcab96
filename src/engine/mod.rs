//! The run: a pure state machine that steps a prompt's chains and asks for effects (spec R6).

pub mod effect;
pub mod event;
pub mod outcome;
pub mod store;

pub use effect::{Answer, Effect, EffectId, Issued};
pub use event::{Event, EventKind};
pub use outcome::{Outcome, RunError, RunErrorKind};

/// One run of one prompt.
pub struct Run;
