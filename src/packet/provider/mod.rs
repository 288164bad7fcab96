//! Who runs a prompt (spec P124 to P127).
//!
//! A [`Provider`] opens a [`Session`] for a [`Job`] and runs it to its end on the calling thread. It
//! reports to a [`Sink`] while it does, gives up when the job's [`Interrupt`](super::Interrupt) is raised, and keeps
//! the job's [`Deadline`]. Whether the work is done is not its to say.

mod command;
mod deadline;
mod event;
mod failed_round;
mod ground;
mod host;
mod job;
mod model;
mod programs;
mod providers;
mod simulated;

pub use command::CommandLine;
pub use deadline::Deadline;
pub use event::Event;
pub use host::{Host, Wanted};
pub use job::{Job, Setting};
pub use model::Conversations;
pub use programs::Programs;
pub use providers::Providers;
pub use simulated::Simulated;

use super::failure::Failure;
use super::words::ProviderKind;

/// The message that resumes a session (spec P88).
pub const CONTINUE: &str = "Continue";

/// Runs prompts.
pub trait Provider {
    /// Which one it is.
    fn kind(&self) -> ProviderKind;

    /// What keeps it from running a prompt, a message each: a program that is not found, a setting
    /// that it cannot honour (spec P35, P127). Nothing is started for it.
    fn problems(&self, setting: Setting<'_>) -> Vec<String>;

    /// Opens a session for one attempt. Nothing is sent yet.
    ///
    /// # Errors
    /// A failure of a class that says that nothing can start: `provider_unavailable`,
    /// `program_invalid` (spec P85).
    fn open<'a>(&'a self, job: &'a Job<'a>) -> Result<Box<dyn Session + 'a>, Box<Failure>>;
}

/// One session of a provider: a conversation that may be taken up again.
pub trait Session {
    /// Sends the job's text and runs the session to its end.
    fn start(&mut self, sink: &mut dyn Sink) -> Ended;

    /// Whether the conversation can be taken up again after what has happened (spec P88).
    fn can_resume(&self) -> bool;

    /// Goes on in the same conversation with [`CONTINUE`], and runs it to its end. `number` counts
    /// the resumes of this attempt from 0. Only called where
    /// [`can_resume`](Self::can_resume) holds.
    fn resume(&mut self, number: u64, sink: &mut dyn Sink) -> Ended;
}

/// How a session, or a resumed part of it, ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// The provider says that it succeeded.
    Succeeded,
    /// It failed. What it wrote to standard error, if that is known, is `stderr` in the failure's
    /// `raw`.
    Failed(Failure),
    /// It could not be started, so there is nothing to verify (spec P85). For a resume: the original
    /// failure stays (spec P89).
    NotStarted(Failure),
    /// The run was interrupted (spec P121).
    Interrupted,
}

/// Where a session reports to.
pub trait Sink {
    /// Something happened (spec P126). A session opens with [`Event::RunStarted`] and ends with one
    /// of [`Event::RunCompleted`], [`Event::RunFailed`], [`Event::ErrorOccurred`] and
    /// [`Event::RunCancelled`].
    fn event(&mut self, event: Event);

    /// The provider's own id of the session, once it is known (spec P90).
    fn session_id(&mut self, id: &str);

    /// A line for the transcript.
    fn log(&mut self, line: &str);

    /// A line for the transcript and for whoever watches; both show it behind `WARNING: `.
    fn warn(&mut self, line: &str);
}
