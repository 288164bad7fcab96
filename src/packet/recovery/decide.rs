//! The outcome matrix: what follows on an attempt (spec P91, P92).

use super::settings::RecoverySettings;
use crate::packet::failure::{Failure, FailureClass};
use crate::packet::state::{AttemptStatus, Mode, PromptStatus};

/// What a contract says of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There are items, and all pass.
    Pass,
    /// An item fails.
    Fail,
    /// There are no items.
    Empty,
    /// An item could not be checked.
    Fault,
}

/// Why a repair may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// The provider succeeded, the contract fails.
    NominalSuccess,
    /// The provider failed once and for all, with work left behind.
    ProviderFailure,
    /// No retry is left, with work left behind.
    RetryExhaustion,
}

/// What is known when an attempt has ended.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// How the provider failed; `None` if it succeeded.
    pub failure: Option<&'a Failure>,
    /// What the contract says.
    pub verdict: Verdict,
    /// What the attempt was.
    pub mode: Mode,
    /// The retries of this invocation (spec P81).
    pub retries_used: u64,
    /// The repairs of this invocation, this attempt included (spec P81).
    pub repairs_used: u64,
    /// What is allowed.
    pub settings: &'a RecoverySettings,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// End the run: the contract cannot be checked (spec P71).
    Halt,
    /// The prompt is done (spec P94).
    Complete,
    /// Another attempt, told what is unmet (spec P97).
    Repair(Trigger),
    /// Another attempt with the same text, after a delay (spec P95).
    Retry,
    /// The prompt has failed (spec P94).
    Fail,
}

/// A row of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Row {
    M1,
    M2,
    M3,
    M4,
    M5,
    M6,
    M7,
    M8,
    M9,
    M10,
    M11,
    M12,
}

/// The row that applies, and what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The row.
    pub row: Row,
    /// What is to be done.
    pub action: Action,
    /// Where the attempt stands.
    pub attempt: AttemptStatus,
    /// Where the prompt stands.
    pub prompt: PromptStatus,
}

/// Decides what follows on an attempt: the first row of the matrix that applies (spec P91).
///
/// Whether the attempts left work behind (spec P87) is asked only where a row turns on it, at most
/// once.
pub fn decide(situation: Situation<'_>, progress: impl FnOnce() -> bool) -> Decision {
    Decision::of(situation.row(progress))
}

impl Situation<'_> {
    fn row(&self, progress: impl FnOnce() -> bool) -> Row {
        if self.verdict == Verdict::Fault {
            return Row::M1;
        }
        match self.failure {
            None => self.row_of_success(),
            Some(failure) => self.row_of(failure, progress),
        }
    }

    fn row_of_success(&self) -> Row {
        match self.verdict {
            Verdict::Fault => Row::M1,
            Verdict::Pass => Row::M2,
            Verdict::Empty => Row::M3,
            Verdict::Fail if self.is_repair_ready(Trigger::NominalSuccess) => Row::M4,
            Verdict::Fail => Row::M5,
        }
    }

    fn row_of(&self, failure: &Failure, progress: impl FnOnce() -> bool) -> Row {
        if failure.local_deterministic {
            return Row::M6;
        }
        if self.verdict == Verdict::Pass {
            let is_denied = failure.class == FailureClass::APPROVAL_DENIED;
            return if is_denied { Row::M7 } else { Row::M8 };
        }
        if failure.retryable && self.retries_used < self.settings.retry_limit(failure) {
            return Row::M9;
        }
        let (trigger, row) = if failure.retryable {
            (Trigger::RetryExhaustion, Row::M10)
        } else {
            (Trigger::ProviderFailure, Row::M11)
        };
        let may_repair = failure.retryable || failure.repairable;
        let is_ready = self.verdict == Verdict::Fail && may_repair && self.is_repair_ready(trigger);
        if is_ready && progress() {
            row
        } else {
            Row::M12
        }
    }

    fn is_repair_ready(&self, trigger: Trigger) -> bool {
        let settings = self.settings;
        let is_on = match trigger {
            Trigger::NominalSuccess => settings.on_nominal_success,
            Trigger::ProviderFailure => settings.on_provider_failure,
            Trigger::RetryExhaustion => settings.on_retry_exhaustion,
        };
        settings.repair_enabled
            && is_on
            && self.repairs_used < settings.repair_max_attempts
            && (self.mode != Mode::Repair || settings.consecutive)
    }
}

impl Decision {
    fn of(row: Row) -> Self {
        use {AttemptStatus as Attempt, PromptStatus as Prompt};
        let (action, attempt, prompt) = match row {
            Row::M1 => (Action::Halt, Attempt::VerifierFault, Prompt::VerifierFault),
            Row::M2 | Row::M3 | Row::M8 => {
                (Action::Complete, Attempt::Completed, Prompt::Completed)
            }
            Row::M4 => (
                Action::Repair(Trigger::NominalSuccess),
                Attempt::VerificationFailed,
                Prompt::Repairing,
            ),
            Row::M5 => (
                Action::Fail,
                Attempt::VerificationFailed,
                Prompt::VerificationFailed,
            ),
            Row::M6 | Row::M7 | Row::M12 => (Action::Fail, Attempt::Failed, Prompt::Failed),
            Row::M9 => (Action::Retry, Attempt::Failed, Prompt::RetryScheduled),
            Row::M10 => (
                Action::Repair(Trigger::RetryExhaustion),
                Attempt::Failed,
                Prompt::Repairing,
            ),
            Row::M11 => (
                Action::Repair(Trigger::ProviderFailure),
                Attempt::Failed,
                Prompt::Repairing,
            ),
        };
        Self {
            row,
            action,
            attempt,
            prompt,
        }
    }
}
