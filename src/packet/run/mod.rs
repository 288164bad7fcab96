//! Runs the prompts of a packet (spec P27 to P33, P100, P117 to P123).
//!
//! [`run`] takes a packet's selected prompts through their lives, one after another, with the
//! packet's lock held; [`repair`] is one attempt at what a prompt left undone. Both tell an
//! [`Observer`] what happens, and end early when an [`Interrupt`](super::Interrupt) is raised.

mod context;
mod error;
mod notice;
mod perform;
mod repair;
mod report;
mod request;
mod turn_over;

pub use super::life::End;
pub use context::Committer;
pub(super) use context::Context;
pub use error::RunError;
pub use notice::{Notice, Observer};
pub use perform::run;
pub use repair::repair;
pub use report::{PromptReport, RunOutcome, RunReport};
pub use request::{RepairRequest, RunRequest};
