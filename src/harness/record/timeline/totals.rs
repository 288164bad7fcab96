//! What happened, counted.

use std::ops::AddAssign;

use crate::engine::model::Metrics;

/// How often things happened in a run, or on one track.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Model rounds.
    pub rounds: u64,
    /// Those that failed.
    pub failed_rounds: u64,
    /// Tokens of requests, as far as replies say.
    pub prompt_tokens: u64,
    /// Those of them that the provider had cached.
    pub cached_tokens: u64,
    /// Tokens of replies, reasoning included, as far as replies say.
    pub completion_tokens: u64,
    /// Tool calls of scripts and models; a question to the operator is none here.
    pub calls: u64,
    /// Those that failed.
    pub failed_calls: u64,
    /// Questions to the operator.
    pub questions: u64,
    /// Store operations that change something.
    pub writes: u64,
    /// Store operations that look.
    pub reads: u64,
    /// Checkpoints.
    pub checkpoints: u64,
    /// Tasks that were started; on a track, by it.
    pub tasks: u64,
}

impl Totals {
    /// Counts the tokens of a reply.
    pub(super) fn add_tokens(&mut self, metrics: &Metrics) {
        if let Some(usage) = metrics.usage {
            self.prompt_tokens += u64::from(usage.prompt_tokens);
            self.cached_tokens += u64::from(usage.cached_tokens.unwrap_or(0));
            self.completion_tokens += u64::from(usage.completion_tokens);
        }
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.failed_rounds += other.failed_rounds;
        self.prompt_tokens += other.prompt_tokens;
        self.cached_tokens += other.cached_tokens;
        self.completion_tokens += other.completion_tokens;
        self.calls += other.calls;
        self.failed_calls += other.failed_calls;
        self.questions += other.questions;
        self.writes += other.writes;
        self.reads += other.reads;
        self.checkpoints += other.checkpoints;
        self.tasks += other.tasks;
    }
}
