//! A prompt's life: its attempts, one after another, until it is done or given up (spec P84 to
//! P104).

mod committing;
mod ending;
mod preflight;
mod sent;
mod session;
mod workspace;

pub(super) use preflight::verify_first;
pub(super) use sent::Sent;

use serde_json::{Value, json};

use self::session::Played;
use self::workspace::Baseline;
use super::contract::{self, Report, watched_paths};
use super::options::Options;
use super::packet::Packet;
use super::prompt::Prompt;
use super::provider::{Ended, Provider};
use super::recovery::{
    Action, Decision, RecoverySettings, RepairBlock, Row, Situation, Trigger, Verdict, decide,
    retry_delay,
};
use super::run::{Context, Notice, RunError};
use super::state::{AttemptStatus, Fields, Mode, PromptStatus, Started};

/// How a prompt's turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It is done.
    Completed {
        /// What the commit came to, as in `progress.log`.
        commit: String,
    },
    /// It has failed.
    Failed {
        /// Why.
        reason: String,
    },
    /// Prompts that it depends on are not completed.
    Blocked {
        /// Those prompts.
        by: Vec<String>,
    },
    /// Its contract could not be checked.
    Fault,
    /// The run was interrupted.
    Interrupted,
}

/// One prompt and what its attempts share.
pub(super) struct Life<'a> {
    packet: &'a Packet,
    prompt: &'a Prompt,
    options: Options,
    settings: RecoverySettings,
    /// `None` for a provider that this host does not have.
    provider: Option<&'a dyn Provider>,
    provider_name: String,
    scope: contract::Scope,
}

/// What is known once an attempt's session has ended and its contract was checked.
struct Judged {
    played: Played,
    report: Report,
    decision: Decision,
}

impl<'a> Life<'a> {
    /// A prompt and the provider that runs it.
    ///
    /// # Errors
    /// Options that cannot be had, or name no provider.
    pub(super) fn new(context: &Context<'a>, prompt: &'a Prompt) -> Result<Self, RunError> {
        let packet = context.packet;
        let options = packet.options(Some(prompt), context.flags)?;
        let named = options.provider()?;
        let kind = named.kind;
        let recovery = serde_json::to_value(&options.recovery).unwrap_or_default();
        Ok(Self {
            packet,
            prompt,
            provider: kind.and_then(|kind| context.providers.get(kind)),
            provider_name: named.name.clone(),
            settings: RecoverySettings::read(&recovery),
            scope: contract::Scope::of(packet, prompt),
            options,
        })
    }

    /// Lives through attempts, the first of which sends this.
    ///
    /// # Errors
    /// State that cannot be written. The prompt stays as the files have it.
    pub(super) fn attempts(
        &self,
        context: &mut Context<'_>,
        mut sent: Sent,
    ) -> Result<End, RunError> {
        let stop = &context.interrupt.stop.clone();
        let watched = watched_paths(&self.scope, self.prompt.verify.as_ref());
        let baseline = Baseline::take(self.target_folders(), watched, stop);
        let mut attempt = 1;
        loop {
            if context.interrupt.is_raised() {
                return match attempt {
                    // Nothing of the prompt has begun.
                    1 => Ok(End::Interrupted),
                    _ => self.interrupted_between(context),
                };
            }
            self.start(context, attempt, &sent)?;
            let played = self.play(context, attempt, &sent);
            context.worktrees.forget();
            let failure = match &played.ended {
                Ended::Interrupted => return self.interrupted(context, attempt, played.resumes),
                Ended::NotStarted(_) => return self.not_started(context, attempt, &played),
                Ended::Succeeded => None,
                Ended::Failed(failure) => Some(failure),
            };
            context.tell(Notice::Verifying {
                prompt: self.prompt,
                failure,
            });
            let verify = self.prompt.verify.as_ref();
            let id = self.prompt.id.as_str();
            let Ok(report) = contract::evaluate(&self.scope, id, verify, stop) else {
                return self.interrupted(context, attempt, played.resumes);
            };
            context.tell(Notice::Verified {
                prompt: self.prompt,
                report: &report,
            });
            let used = context.store.used(id);
            let situation = Situation {
                failure,
                verdict: verdict(&report),
                mode: sent.mode,
                retries_used: used.retries,
                repairs_used: used.repairs,
                settings: &self.settings,
            };
            let decision = decide(situation, || baseline.has_progress(&report, stop));
            let nth = used.retries + 1;
            let judged = Judged {
                played,
                report,
                decision,
            };
            match decision.action {
                Action::Halt => return self.fault(context, attempt, &judged),
                Action::Complete => return self.complete(context, attempt, &judged),
                Action::Fail => return self.fail(context, attempt, &judged),
                Action::Retry => {
                    if let Some(end) = self.retry(context, attempt, nth, &judged)? {
                        return Ok(end);
                    }
                    sent.mode = Mode::Retry;
                }
                Action::Repair(trigger) => {
                    sent = self.repair(context, attempt, trigger, &judged)?;
                }
            }
            attempt += 1;
        }
    }

    /// Records that an attempt starts, and says so.
    fn start(&self, context: &mut Context<'_>, attempt: u64, sent: &Sent) -> Result<(), RunError> {
        let run_id = context.run_id.clone();
        let started = Started {
            attempt,
            mode: sent.mode,
            prompt_name: &self.prompt.name,
            run_id: run_id.as_deref(),
        };
        context
            .store
            .start_attempt(self.prompt.id.as_str(), started)?;
        context.tell(Notice::AttemptStarted {
            prompt: self.prompt,
            attempt,
            mode: sent.mode,
            provider: &self.provider_name,
            model: self.options.model.as_deref(),
        });
        Ok(())
    }

    /// Schedules a retry and waits for it. How the prompt's turn ends, if the run ends meanwhile.
    fn retry(
        &self,
        context: &mut Context<'_>,
        attempt: u64,
        nth: u64,
        judged: &Judged,
    ) -> Result<Option<End>, RunError> {
        let Ended::Failed(failure) = &judged.played.ended else {
            return Ok(None);
        };
        let suggested = failure.suggested_delay_ms;
        let delay_ms = retry_delay(&self.settings, suggested, nth, draw);
        let fields = fields([
            ("retry_delay_ms", json!(delay_ms)),
            ("last_verifier", json!(judged.report)),
        ]);
        self.record(context, attempt, judged, fields)?;
        context.tell(Notice::Retry {
            prompt: self.prompt,
            class: failure.class.name(),
            delay_ms,
        });
        let delay = std::time::Duration::from_millis(delay_ms);
        match context.interrupt.wait(delay) {
            true => Ok(None),
            false => self.interrupted_between(context).map(Some),
        }
    }

    /// Schedules a repair; gives what it sends.
    fn repair(
        &self,
        context: &mut Context<'_>,
        attempt: u64,
        trigger: Trigger,
        judged: &Judged,
    ) -> Result<Sent, RunError> {
        let last_error = match (trigger, &judged.played.ended) {
            (Trigger::ProviderFailure | Trigger::RetryExhaustion, Ended::Failed(failure)) => {
                failure.message.clone()
            }
            _ => unmet(&judged.report),
        };
        let fields = fields([
            ("last_verifier", json!(judged.report)),
            ("last_error", json!(last_error)),
        ]);
        self.record(context, attempt, judged, fields)?;
        let failures: Vec<Value> = judged.report.failures().map(|item| json!(item)).collect();
        context.tell(Notice::Repair {
            prompt: self.prompt,
            unmet: failures.len(),
        });
        let block = RepairBlock::new(Some(&last_error), &failures);
        Ok(Sent::repair(self.prompt, block, failures))
    }

    /// Records the result of an attempt, and where that leaves the prompt.
    fn record(
        &self,
        context: &mut Context<'_>,
        attempt: u64,
        judged: &Judged,
        fields: Fields,
    ) -> Result<(), RunError> {
        let result = self.result(judged);
        let status = judged.decision.prompt;
        let id = self.prompt.id.as_str();
        context
            .store
            .end_attempt(id, attempt, result, status, fields)?;
        Ok(())
    }

    /// What an attempt has come to (spec P112).
    fn result(&self, judged: &Judged) -> Fields {
        let mut result = session_result(judged.decision.attempt, &judged.played);
        result.insert("verifier".to_owned(), json!(judged.report));
        match judged.decision.row {
            Row::M4 | Row::M5 => {
                result.insert("reason".to_owned(), json!(unmet(&judged.report)));
            }
            // What the provider said of it is in `failure`; there is nothing to give reasons for.
            Row::M8 => {
                result.remove("reason");
            }
            _ => {}
        }
        result
    }

    /// The folders of the repos that the prompt works on; the packet's where there is none.
    fn target_folders(&self) -> Vec<std::path::PathBuf> {
        let targets = self.packet.targets(self.prompt).into_iter();
        let mut folders: Vec<_> = targets.filter_map(|repo| repo.path.clone()).collect();
        if folders.is_empty() {
            folders.push(self.packet.root.clone());
        }
        folders
    }

    fn interrupted(
        &self,
        context: &mut Context<'_>,
        attempt: u64,
        resumes: u64,
    ) -> Result<End, RunError> {
        let result = fields([
            ("status", json!(AttemptStatus::Interrupted.name())),
            ("resumes", json!(resumes)),
        ]);
        let status = PromptStatus::Interrupted;
        let id = self.prompt.id.as_str();
        context
            .store
            .end_attempt(id, attempt, result, status, Fields::new())?;
        Ok(End::Interrupted)
    }

    /// The run is interrupted while no attempt is under way.
    fn interrupted_between(&self, context: &mut Context<'_>) -> Result<End, RunError> {
        let id = self.prompt.id.as_str();
        context
            .store
            .change(id, PromptStatus::Interrupted, Fields::new())?;
        Ok(End::Interrupted)
    }
}

/// What the session of an attempt has come to.
fn session_result(status: AttemptStatus, played: &Played) -> Fields {
    let mut result = fields([
        ("status", json!(status.name())),
        ("resumes", json!(played.resumes)),
    ]);
    if let Ended::Failed(failure) | Ended::NotStarted(failure) = &played.ended {
        result.extend(fields([
            ("failure_class", json!(failure.class.name())),
            ("failure", failure.to_json()),
            ("reason", json!(failure.message)),
        ]));
    }
    if let Some(cause) = &played.recovery_error {
        result.insert("recovery_error".to_owned(), json!(cause));
    }
    result
}

fn fields<const N: usize>(pairs: [(&str, Value); N]) -> Fields {
    let pairs = pairs.into_iter();
    pairs.map(|(key, value)| (key.to_owned(), value)).collect()
}

fn verdict(report: &Report) -> Verdict {
    if report.has_fault() {
        Verdict::Fault
    } else if report.items.is_empty() {
        Verdict::Empty
    } else if report.pass() {
        Verdict::Pass
    } else {
        Verdict::Fail
    }
}

/// What is unmet, in one line (spec P94).
fn unmet(report: &Report) -> String {
    let items = report.failures();
    let items: Vec<String> = items
        .map(|item| format!("{} {}: {}", item.kind, item.subject(), item.summary()))
        .collect();
    format!("verification failed: {}", items.join("; "))
}

/// A number of a closed range, all of them equally likely.
fn draw(least: u64, most: u64) -> u64 {
    let count = u128::from(most - least) + 1;
    let mut bytes = [0; 16];
    // Without random bytes the shortest delay does.
    if getrandom::fill(&mut bytes).is_err() {
        return least;
    }
    // Of 2^128 numbers the few that are too many weigh nothing.
    let past = u128::from_le_bytes(bytes) % count;
    least + u64::try_from(past).unwrap_or_default()
}
