//! What a run came to.

use std::time::Duration;

use crate::packet::life::End;

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunReport {
    /// The run's id; a `repair`, and a run of nothing, have none.
    pub run_id: Option<String>,
    /// How many prompts were to run.
    pub selected: usize,
    /// The prompts whose turn came, in order.
    pub prompts: Vec<PromptReport>,
    /// How it ended.
    pub outcome: RunOutcome,
}

impl RunReport {
    /// The prompts that failed or were blocked.
    pub fn failed(&self) -> impl Iterator<Item = &PromptReport> {
        let prompts = self.prompts.iter();
        prompts.filter(|prompt| matches!(prompt.end, End::Failed { .. } | End::Blocked { .. }))
    }
}

/// What became of one prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptReport {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// How its turn ended.
    pub end: End,
    /// How many attempts it took.
    pub attempts: u64,
    /// How long it took.
    pub elapsed: Duration,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// Nothing was selected.
    Nothing,
    /// All prompts are done.
    Completed,
    /// A prompt failed or was blocked.
    Failed,
    /// A contract could not be checked (spec P70).
    Fault,
    /// It was interrupted.
    Interrupted,
}
