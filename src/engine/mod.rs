//! The run: a pure state machine that steps a prompt's chains and asks for effects (spec R6).

mod admission;
mod ask;
mod calls;
mod chain;
mod claims;
mod classify;
pub mod effect;
mod entry;
pub mod event;
mod globals;
mod happens_before;
pub mod model;
mod open;
mod outbox;
pub mod outcome;
mod program;
mod roles;
mod rounds;
mod run;
mod seeded;
mod serve;
mod settle;
pub mod store;
mod strand;
mod substitution;
mod task;
mod toolbox;
mod untrusted;
mod waits;

pub use effect::{Answer, Effect, EffectId, Issued};
pub use event::{AssistantReply, Event, EventKind, TaskStarted, ToolResult};
pub use outbox::{Item, announce};
pub use outcome::{Outcome, RunError, RunErrorKind};
pub use program::{Loaded, ParseEvent, Program};
pub use run::{Run, Setup, Step};
pub use seeded::Seeded;
