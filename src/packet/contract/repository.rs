//! What clauses about repositories have in common (spec P56, P57).

use super::Interrupted;
use super::report::Fault;
use super::verdict::Verdict;
use crate::packet::git::GitError;

/// The verdict where git gave no answer: a failure with what it said, or a fault where there is no
/// git or it never ended.
pub(super) fn failed(
    error: GitError,
    words: impl FnOnce(String) -> String,
) -> Result<Verdict, Interrupted> {
    match error {
        GitError::Interrupted => Err(Interrupted),
        GitError::Missing => Ok(Verdict::fault("executable not found on PATH: git")),
        GitError::TimedOut(bound) => {
            let details = format!("git timed out after {} ms", bound.as_millis());
            Ok(Verdict::fail(details).because(Fault::VerifierTimeout))
        }
        GitError::Failed { code, said } if said.is_empty() => {
            Ok(Verdict::fail(words(format!("exit {code}"))))
        }
        GitError::Failed { said, .. } => Ok(Verdict::fail(words(said))),
    }
}
