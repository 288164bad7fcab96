//! A run, from its request to its end (spec P33).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::context::{Asked, Context};
use super::error::RunError;
use super::notice::{Notice, Observer};
use super::report::{PromptReport, RunOutcome, RunReport};
use super::request::RunRequest;
use super::turn_over::take_over;
use crate::packet::contract::unknown_clauses;
use crate::packet::dependencies;
use crate::packet::fingerprint::fingerprint;
use crate::packet::interrupt::Interrupt;
use crate::packet::life::{End, Life, Sent, verify_first};
use crate::packet::packet::Packet;
use crate::packet::prompt::Prompt;
use crate::packet::provider::Providers;
use crate::packet::readiness::{self, ReadinessError};
use crate::packet::selection::Selectors;
use crate::packet::standing::Standing;
use crate::packet::state::{
    Fields, Generation, Opening, PromptStatus, RunEnd, StateFolder, StateStore,
};
use crate::packet::words::FailurePolicy;

/// Runs the selected prompts of a packet.
///
/// # Errors
/// What keeps the run from taking place, and state that cannot be written while it does. A prompt
/// that fails is no error: the report says so.
pub fn run(
    request: RunRequest<'_>,
    providers: &Providers,
    observer: &mut dyn Observer,
    interrupt: &Interrupt,
) -> Result<RunReport, RunError> {
    let packet = request.packet;
    packet.refuse_agent_control()?;
    let options = packet.options(None, request.flags)?;
    dependencies::check(packet)?;
    if !request.skip_readiness {
        let probe = |packet: &_, prompt: Option<&_>, options: &_| {
            providers.problems(packet, prompt, options)
        };
        let stop = &interrupt.stop;
        let report = readiness::survey_until(packet, request.flags, &probe, stop)?;
        if interrupt.is_raised() {
            observer.notice(Notice::Interrupted { prompt: None });
            return Ok(RunReport {
                run_id: None,
                selected: 0,
                prompts: Vec::new(),
                outcome: RunOutcome::Interrupted,
            });
        }
        let errors = report.readiness_errors.into_iter();
        let stops = |error: &ReadinessError| error.stops_a_run(request.committer);
        let (errors, odd): (Vec<_>, Vec<_>) = errors.partition(stops);
        if !errors.is_empty() {
            return Err(RunError::NotReady(errors));
        }
        for error in odd {
            observer.notice(Notice::Warning(&error.message));
        }
    }
    let recorded = Standing::read(&packet.root);
    let recorded = match request.selectors.needs_progress() {
        true => Ok(recorded?),
        false => recorded,
    };
    let none = Standing::default();
    let selected = request
        .selectors
        .select(packet, recorded.as_ref().unwrap_or(&none))?;
    if let (true, Ok(recorded)) = (request.selectors.needs_progress(), &recorded) {
        tell_of_other_contracts(packet, recorded, observer);
    }
    if selected.is_empty() {
        return Ok(RunReport {
            run_id: None,
            selected: 0,
            prompts: Vec::new(),
            outcome: RunOutcome::Nothing,
        });
    }
    for prompt in &selected {
        packet.options(Some(prompt), request.flags)?.provider()?;
        if readiness::has_placeholder(prompt) {
            let text = format!("prompt {} still has a placeholder in its body", prompt.id);
            observer.notice(Notice::Warning(&text));
        }
        for problem in unknown_clauses(prompt.verify.as_ref()) {
            let text = format!("prompt {}: {problem}", prompt.id);
            observer.notice(Notice::Warning(&text));
        }
    }
    let has_dependencies = selected.iter().any(|prompt| !prompt.depends_on.is_empty());
    let recorded = match has_dependencies {
        true => recorded?,
        // Nobody asks, so that a damaged file is no hindrance.
        false => recorded.unwrap_or_default(),
    };
    let folder = StateFolder::of(&packet.root);
    folder.make()?;
    let _lock = take_over(packet, &folder)?;
    let store = StateStore::open(&folder)?;
    let order = dependencies::run_order(&selected);
    let ids: Vec<String> = order.iter().map(|prompt| prompt.id.to_string()).collect();
    let generation = Generation::open(
        &folder,
        Opening {
            fingerprint: &fingerprint(packet),
            targets: &ids,
            selectors: &selectors(request.selectors),
            new_run: request.new_run,
        },
    )?;
    let targets = generation.targets().iter();
    let prompts: Vec<&Prompt> = targets.filter_map(|id| packet.prompt(id)).collect();
    let run_id = generation.run_id().to_owned();
    let asked = Asked {
        packet,
        flags: request.flags,
        committer: request.committer,
    };
    let context = Context::new(asked, providers, observer, interrupt, (folder, store));
    let mut turns = Turns {
        context: context.of_run(&run_id),
        recorded,
        keep_going: options.failure_policy == FailurePolicy::ContinueIndependent,
        verify_first: request
            .verify_first
            .unwrap_or(request.selectors.needs_progress()),
        ends: Vec::new(),
    };
    let taken = turns.take(&prompts);
    let outcome = taken
        .as_ref()
        .map_or(RunOutcome::Failed, |outcome| *outcome);
    let ended = generation.end(match outcome {
        RunOutcome::Completed | RunOutcome::Nothing => RunEnd::Completed,
        RunOutcome::Failed | RunOutcome::Fault => RunEnd::Failed,
        RunOutcome::Interrupted => RunEnd::Interrupted,
    });
    taken.map_err(RunError::under_way)?;
    ended.map_err(RunError::Broken)?;
    Ok(RunReport {
        run_id: Some(run_id),
        selected: prompts.len(),
        prompts: turns.ends,
        outcome,
    })
}

/// Says of which prompts that are left out, as they are completed, the contract is another now.
fn tell_of_other_contracts(packet: &Packet, recorded: &Standing, observer: &mut dyn Observer) {
    let prompts = packet.prompts.iter();
    for prompt in prompts.filter(|prompt| recorded.has_other_contract(prompt)) {
        let id = &prompt.id;
        let text = format!(
            "the contract of prompt {id} changed since it was completed: `verify {id}` checks it, \
             `run {id} --verify-first` runs the prompt again where it does not hold"
        );
        observer.notice(Notice::Warning(&text));
    }
}

/// The turns of prompts, one after another.
struct Turns<'a> {
    context: Context<'a>,
    recorded: Standing,
    keep_going: bool,
    verify_first: bool,
    ends: Vec<PromptReport>,
}

impl<'a> Turns<'a> {
    fn take(&mut self, prompts: &[&'a Prompt]) -> Result<RunOutcome, RunError> {
        let run_id = self.context.run_id.clone();
        self.context.tell(Notice::RunStarted {
            run_id: run_id.as_deref(),
            prompts: prompts.len(),
        });
        let mut completed: BTreeMap<&str, bool> = BTreeMap::new();
        let mut outcome = RunOutcome::Completed;
        for (at, prompt) in prompts.iter().enumerate() {
            if self.context.interrupt.is_raised() {
                self.context.tell(Notice::Interrupted { prompt: None });
                return Ok(RunOutcome::Interrupted);
            }
            self.context.tell(Notice::PromptStarted {
                prompt,
                place: at + 1,
                of: prompts.len(),
            });
            let begun = Instant::now();
            let missing = self.missing(prompt, &completed);
            let end = match missing.is_empty() {
                true => self.turn(prompt)?,
                false => self.blocked(prompt, missing)?,
            };
            let is_completed = matches!(end, End::Completed { .. });
            completed.insert(prompt.id.as_str(), is_completed);
            self.keep(prompt, end.clone(), begun.elapsed());
            match end {
                End::Completed { .. } => {}
                End::Failed { .. } | End::Blocked { .. } => outcome = RunOutcome::Failed,
                End::Fault => return Ok(RunOutcome::Fault),
                End::Interrupted => {
                    let prompt = Some(*prompt);
                    self.context.tell(Notice::Interrupted { prompt });
                    return Ok(RunOutcome::Interrupted);
                }
            }
            if outcome == RunOutcome::Failed && !self.keep_going {
                break;
            }
        }
        Ok(outcome)
    }

    fn turn(&mut self, prompt: &'a Prompt) -> Result<End, RunError> {
        let life = Life::new(&self.context, prompt)?;
        if self.verify_first
            && let Some(end) = verify_first(&life, &mut self.context)?
        {
            return Ok(end);
        }
        life.attempts(&mut self.context, Sent::body(prompt))
    }

    /// The dependencies of a prompt that are not completed: in this run, else by record.
    fn missing(&self, prompt: &Prompt, completed: &BTreeMap<&str, bool>) -> Vec<String> {
        let is_missing = |id: &&_| {
            let id: &crate::packet::prompt_id::PromptId = id;
            let here = completed.get(id.as_str()).copied();
            !here.unwrap_or_else(|| self.recorded.is_completed(id))
        };
        let ids = prompt.depends_on.iter().filter(is_missing);
        ids.map(ToString::to_string).collect()
    }

    fn blocked(&mut self, prompt: &Prompt, by: Vec<String>) -> Result<End, RunError> {
        let mut fields = Fields::new();
        fields.insert("blocked_by".to_owned(), json!(by));
        let status = PromptStatus::BlockedByDependency;
        self.context
            .store
            .restate(prompt.id.as_str(), status, fields)?;
        self.context.tell(Notice::Blocked { prompt, by: &by });
        Ok(End::Blocked { by })
    }

    /// Keeps how a turn ended.
    fn keep(&mut self, prompt: &Prompt, end: End, elapsed: Duration) {
        let attempts = match &end {
            End::Blocked { .. } => 0,
            _ => self.context.attempts_of(prompt),
        };
        self.ends.push(PromptReport {
            id: prompt.id.to_string(),
            name: prompt.name.clone(),
            end,
            attempts,
            elapsed,
        });
    }
}

/// What selected the prompts, as the run's snapshot keeps it.
fn selectors(selectors: &Selectors) -> Value {
    json!({
        "ids": selectors.ids,
        "phase": selectors.phase,
        "remaining": selectors.remaining,
        "from": selectors.from,
        "through": selectors.through,
    })
}
