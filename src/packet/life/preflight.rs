//! Verification before a session (spec P72, P73).

use serde_json::json;

use super::{End, Life, fields};
use crate::packet::contract::Preflight;
use crate::packet::fingerprint;
use crate::packet::run::{Context, Notice, RunError};
use crate::packet::state::PromptStatus;

/// Why a prompt that needs no session has no commit.
const NO_SESSION: &str = "no_session";

/// Checks the contract of a prompt before its session. How its turn ends, if it needs none.
///
/// # Errors
/// State that cannot be written.
pub(in crate::packet) fn verify_first(
    life: &Life<'_>,
    context: &mut Context<'_>,
) -> Result<Option<End>, RunError> {
    let prompt = life.prompt;
    let id = prompt.id.as_str();
    let checked = Preflight::check(
        &life.scope,
        id,
        prompt.verify.as_ref(),
        &mut context.worktrees,
        &context.interrupt.stop,
    );
    let report = match checked {
        // Nothing of the prompt has begun.
        Err(_) => return Ok(Some(End::Interrupted)),
        Ok(Preflight::Fault(report)) => return life.fault_before(context, &report).map(Some),
        Ok(Preflight::Satisfied(report)) => report,
        Ok(_) => return Ok(None),
    };
    let done = fields([
        ("source", json!("preflight_verify")),
        ("session_ran", json!(false)),
        ("verifier", json!(report)),
        ("last_verifier", json!(report)),
        (
            "commit_info",
            json!({"status": "skip", "reason": NO_SESSION}),
        ),
        ("contract_fingerprint", json!(fingerprint::contract(prompt))),
    ]);
    context.store.restate(id, PromptStatus::Completed, done)?;
    context.tell(Notice::Satisfied { prompt });
    life.completed(context, NO_SESSION.to_owned()).map(Some)
}
