//! The words for where a prompt and an attempt stand (spec P111).

use std::fmt;

/// Where a prompt stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptStatus {
    /// An attempt is under way.
    Running,
    /// The next attempt waits for its delay.
    RetryScheduled,
    /// A repair is to follow.
    Repairing,
    /// Done.
    Completed,
    /// The provider failed for good.
    Failed,
    /// The contract stayed unmet.
    VerificationFailed,
    /// The contract could not be checked.
    VerifierFault,
    /// The contract is met, the commit failed.
    CommitFailed,
    /// A prompt that it depends on is not completed.
    BlockedByDependency,
    /// The run was interrupted.
    Interrupted,
}

impl PromptStatus {
    /// The word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::RetryScheduled => "retry_scheduled",
            Self::Repairing => "repairing",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::VerificationFailed => "verification_failed",
            Self::VerifierFault => "verifier_fault",
            Self::CommitFailed => "commit_failed",
            Self::BlockedByDependency => "blocked_by_dependency",
            Self::Interrupted => "interrupted",
        }
    }
}

impl fmt::Display for PromptStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where an attempt stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptStatus {
    /// Under way.
    Running,
    /// It met the contract, or there is none and the provider succeeded.
    Completed,
    /// The provider failed.
    Failed,
    /// The provider succeeded, the contract is unmet.
    VerificationFailed,
    /// The contract could not be checked.
    VerifierFault,
    /// The run was interrupted.
    Interrupted,
}

impl AttemptStatus {
    /// The word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::VerificationFailed => "verification_failed",
            Self::VerifierFault => "verifier_fault",
            Self::Interrupted => "interrupted",
        }
    }
}

impl fmt::Display for AttemptStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What an attempt is: the first one, another with the same words, or one that mends (spec P84).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The first attempt.
    Run,
    /// Once more, after a failure.
    Retry,
    /// With what is left to do.
    Repair,
}

impl Mode {
    /// The word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Retry => "retry",
            Self::Repair => "repair",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
