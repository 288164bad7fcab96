//! The run: a pure state machine that steps a prompt's chains and asks for effects (spec R6).

mod calls;
mod chain;
mod classify;
pub mod effect;
mod entry;
pub mod event;
mod globals;
mod outbox;
pub mod outcome;
mod program;
mod run;
mod seeded;
pub mod store;
mod strand;
mod substitution;
mod untrusted;

pub use effect::{Answer, Effect, EffectId, Issued};
pub use event::{Event, EventKind};
pub use outbox::{Item, announce};
pub use outcome::{Outcome, RunError, RunErrorKind};
pub use program::{Loaded, ParseEvent, Program};
pub use run::{Run, Setup, Step};
pub use seeded::Seeded;
