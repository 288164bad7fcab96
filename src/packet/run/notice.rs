//! What a run tells whoever watches it.

use crate::packet::contract::Report;
use crate::packet::failure::Failure;
use crate::packet::prompt::Prompt;
use crate::packet::provider::Event;
use crate::packet::state::Mode;

/// Something that a person may want to know.
#[derive(Clone, Copy, Debug)]
pub enum Notice<'a> {
    /// A run begins, of these prompts in this order.
    RunStarted {
        /// Its id; a `repair` has none.
        run_id: Option<&'a str>,
        /// How many prompts.
        prompts: usize,
    },
    /// A prompt's turn has come.
    PromptStarted {
        /// The prompt.
        prompt: &'a Prompt,
        /// Its place in the run, from 1.
        place: usize,
        /// How many there are.
        of: usize,
    },
    /// An attempt starts.
    AttemptStarted {
        /// The prompt.
        prompt: &'a Prompt,
        /// The attempt's number.
        attempt: u64,
        /// What it is.
        mode: Mode,
        /// Who runs it.
        provider: &'a str,
        /// The model, if one is configured.
        model: Option<&'a str>,
    },
    /// Something happened in its session.
    Event(&'a Event),
    /// The provider has a warning.
    Warning(&'a str),
    /// The session is taken up again.
    Resuming {
        /// The prompt.
        prompt: &'a Prompt,
        /// How often it was before.
        number: u64,
    },
    /// The provider has ended, and the contract is checked.
    Verifying {
        /// The prompt.
        prompt: &'a Prompt,
        /// How the provider failed, if it did.
        failure: Option<&'a Failure>,
    },
    /// The contract has been checked.
    Verified {
        /// The prompt.
        prompt: &'a Prompt,
        /// What was found.
        report: &'a Report,
    },
    /// The provider failed, and the contract is met all the same (spec P91, M8).
    Overruled {
        /// The prompt.
        prompt: &'a Prompt,
    },
    /// Another attempt follows after a delay (spec P95).
    Retry {
        /// The prompt.
        prompt: &'a Prompt,
        /// The class of the failure.
        class: &'a str,
        /// The delay.
        delay_ms: u64,
    },
    /// A repair follows.
    Repair {
        /// The prompt.
        prompt: &'a Prompt,
        /// How many items are unmet.
        unmet: usize,
    },
    /// The contract was met before any session (spec P73).
    Satisfied {
        /// The prompt.
        prompt: &'a Prompt,
    },
    /// The prompt is done.
    Completed {
        /// The prompt.
        prompt: &'a Prompt,
        /// What the commit came to, as in `progress.log`.
        commit: &'a str,
    },
    /// The prompt has failed.
    Failed {
        /// The prompt.
        prompt: &'a Prompt,
        /// Why.
        message: &'a str,
        /// What the provider wrote to standard error, where that is to be shown.
        stderr: Option<&'a str>,
    },
    /// The contract could not be checked (spec P71).
    Fault {
        /// The prompt.
        prompt: &'a Prompt,
        /// One line for each fault.
        lines: &'a [String],
    },
    /// Prompts that it depends on are not completed (spec P29).
    Blocked {
        /// The prompt.
        prompt: &'a Prompt,
        /// Those prompts.
        by: &'a [String],
    },
    /// The run was interrupted (spec P122).
    Interrupted {
        /// The prompt that was running, if one was.
        prompt: Option<&'a Prompt>,
    },
}

/// Whoever watches a run.
pub trait Observer {
    /// Is told something.
    fn notice(&mut self, notice: Notice<'_>);
}

/// Nobody.
impl Observer for () {
    fn notice(&mut self, _notice: Notice<'_>) {}
}
