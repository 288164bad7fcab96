//! How a prompt's turn ends (spec P71, P94, P103).

use serde_json::{Value, json};

use super::committing::Commits;
use super::session::Played;
use super::{End, Judged, Life, fields, session_result, unmet};
use crate::packet::contract::Report;
use crate::packet::failure::Failure;
use crate::packet::fingerprint;
use crate::packet::provider::Ended;
use crate::packet::recovery::Row;
use crate::packet::run::{Context, Notice, RunError};
use crate::packet::state::{AttemptStatus, Fields, PromptStatus};
use crate::packet::words::LogMeta;

impl Life<'_> {
    /// The contract is met, or there is none and the provider succeeded: commits, and records that
    /// the prompt is done.
    pub(super) fn complete(
        &self,
        context: &mut Context<'_>,
        attempt: u64,
        judged: &Judged,
    ) -> Result<End, RunError> {
        let prompt = self.prompt;
        let id = prompt.id.as_str();
        if judged.decision.row == Row::M8 {
            context.tell(Notice::Overruled { prompt });
        }
        let verified = fields([("last_verifier", json!(judged.report))]);
        let contract = fingerprint::contract(prompt);
        let under = fields([("contract_fingerprint", json!(contract))]);
        let result = self.result(judged);
        let completed = PromptStatus::Completed;
        if let Some(skipped) = Commits::skipped(context.committer) {
            let done = [verified, skipped.fields(), under];
            let done = done.into_iter().flatten().collect();
            context
                .store
                .end_attempt(id, attempt, result, completed, done)?;
            return self.completed(context, skipped.suffix());
        }
        // A commit may take long: that the contract is met is on record before it.
        let running = PromptStatus::Running;
        context
            .store
            .end_attempt(id, attempt, result, running, verified)?;
        let commits = self.commit(context);
        context.worktrees.forget();
        match commits {
            Ok(commits) => {
                let done = [commits.fields(), under].into_iter().flatten().collect();
                context.store.change(id, completed, done)?;
                self.completed(context, commits.suffix())
            }
            // A second signal killed it, which says nothing of the work.
            Err(_) if context.interrupt.kill.is_cancelled() => {
                let interrupted = PromptStatus::Interrupted;
                context.store.change(id, interrupted, Fields::new())?;
                Ok(End::Interrupted)
            }
            Err(reason) => {
                let failed = fields([("reason", json!(reason))]);
                context
                    .store
                    .change(id, PromptStatus::CommitFailed, failed)?;
                self.failed(context, reason, None)
            }
        }
    }

    /// Notes in `progress.log` that the prompt is done, which `state.json` says by now.
    pub(super) fn completed(
        &self,
        context: &mut Context<'_>,
        commit: String,
    ) -> Result<End, RunError> {
        context
            .progress
            .completed(self.prompt.id.as_str(), &commit)?;
        context.tell(Notice::Completed {
            prompt: self.prompt,
            commit: &commit,
        });
        Ok(End::Completed { commit })
    }

    /// Nothing is left to try.
    pub(super) fn fail(
        &self,
        context: &mut Context<'_>,
        attempt: u64,
        judged: &Judged,
    ) -> Result<End, RunError> {
        let verified = fields([("last_verifier", json!(judged.report))]);
        self.record(context, attempt, judged, verified)?;
        match &judged.played.ended {
            Ended::Failed(failure) => self.failed(context, failure.message.clone(), Some(failure)),
            _ => self.failed(context, unmet(&judged.report), None),
        }
    }

    /// The session could not start: there is nothing to verify (spec P85).
    pub(super) fn not_started(
        &self,
        context: &mut Context<'_>,
        attempt: u64,
        played: &Played,
    ) -> Result<End, RunError> {
        let result = session_result(AttemptStatus::Failed, played);
        let id = self.prompt.id.as_str();
        let failed = PromptStatus::Failed;
        context
            .store
            .end_attempt(id, attempt, result, failed, Fields::new())?;
        match &played.ended {
            Ended::Failed(failure) | Ended::NotStarted(failure) => {
                self.failed(context, failure.message.clone(), Some(failure))
            }
            Ended::Succeeded | Ended::Interrupted => self.failed(context, String::new(), None),
        }
    }

    /// Notes in `progress.log` that the prompt has failed, which `state.json` says by now.
    fn failed(
        &self,
        context: &mut Context<'_>,
        reason: String,
        failure: Option<&Failure>,
    ) -> Result<End, RunError> {
        context.progress.failed(self.prompt.id.as_str())?;
        let is_shown = self.options.log_meta == LogMeta::Full;
        let raw = failure.and_then(|failure| failure.raw.as_ref());
        let stderr = raw.and_then(|raw| raw["stderr"].as_str());
        context.tell(Notice::Failed {
            prompt: self.prompt,
            message: &reason,
            stderr: stderr.filter(|_| is_shown),
        });
        Ok(End::Failed { reason })
    }

    /// The contract could not be checked after a session.
    pub(super) fn fault(
        &self,
        context: &mut Context<'_>,
        attempt: u64,
        judged: &Judged,
    ) -> Result<End, RunError> {
        let (lines, fault) = self.fault_fields("post_session", &judged.report);
        self.record(context, attempt, judged, fault)?;
        Ok(self.tell_fault(context, &lines))
    }

    /// The contract could not be checked before a session.
    pub(super) fn fault_before(
        &self,
        context: &mut Context<'_>,
        report: &Report,
    ) -> Result<End, RunError> {
        let (lines, mut fault) = self.fault_fields("preflight", report);
        fault.insert("verifier".to_owned(), json!(report));
        let id = self.prompt.id.as_str();
        context
            .store
            .restate(id, PromptStatus::VerifierFault, fault)?;
        Ok(self.tell_fault(context, &lines))
    }

    fn fault_fields(&self, stage: &str, report: &Report) -> (Vec<String>, Fields) {
        let lines = report.faults().filter_map(|item| item.fault_line());
        let lines: Vec<String> = lines.collect();
        let fault: [(&str, Value); 3] = [
            ("stage", json!(stage)),
            ("last_verifier", json!(report)),
            ("reason", json!(lines.join("; "))),
        ];
        (lines, fields(fault))
    }

    fn tell_fault(&self, context: &mut Context<'_>, lines: &[String]) -> End {
        context.tell(Notice::Fault {
            prompt: self.prompt,
            lines,
        });
        End::Fault
    }
}
