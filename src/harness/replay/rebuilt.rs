//! What prepare comes to, told by the first line of a record (spec R2, R17).

use super::difference::Instead;
use crate::engine::model::unmet_roles;
use crate::engine::{Event, Outcome, Program, Run, RunError, RunErrorKind, announce};
use crate::harness::prepare::{missing_input, parse_events, undeclared_input};
use crate::harness::record::{ENGINE, Head, prompt_hash};
use crate::harness::{CancelToken, Requirements};
use crate::prompt::{Contract, Prompt};

/// A run that begins, or that prepare ended.
pub(in crate::harness) struct Rebuilt {
    /// The first line, as this engine writes it.
    pub(in crate::harness) head: Head,
    /// The parsed prompt, where it parses.
    pub(in crate::harness) prompt: Option<std::sync::Arc<Prompt>>,
    /// The events of parsing it.
    pub(in crate::harness) events: Vec<Event>,
    pub(in crate::harness) start: Start,
}

/// How the run goes on from prepare.
pub(in crate::harness) enum Start {
    /// It begins.
    Run(Box<Run>),
    /// It has ended, so.
    Ended(Outcome),
    /// It has ended, in a way that what was outside decided.
    Unknown(std::sync::Arc<Prompt>),
}

/// Prepares a run again, from nothing but what it was started with.
pub(in crate::harness) fn rebuild(recorded: Head, cancel: &CancelToken) -> Rebuilt {
    let loaded = Program::load(&recorded.source, recorded.dialect);
    let mut head = Head {
        prompt_hash: prompt_hash(&recorded.source),
        engine: ENGINE.to_owned(),
        name: loaded.name.clone(),
        ..recorded
    };
    let announced = |head: &Head| announce(&head.run.as_str().into(), &loaded.events);
    let program = match loaded.program {
        Ok(program) => program,
        Err(error) => {
            head.packs = None;
            return Rebuilt {
                events: announced(&head),
                prompt: None,
                head,
                start: Start::Ended(Outcome::Failed(error.into())),
            };
        }
    };
    let prompt = program.prompt().clone();
    head.dialect = prompt.dialect;
    let (events, start) = match refusal(&head, &prompt) {
        Some(error) => (announced(&head), Start::Ended(Outcome::Failed(error))),
        None if head.packs.is_none() => (announced(&head), Start::Unknown(prompt.clone())),
        None => {
            let mut run = Run::new(program, head.setup(cancel));
            let events = parse_events(&mut run, &loaded.events);
            (events, Start::Run(Box::new(run)))
        }
    };
    Rebuilt {
        head,
        prompt: Some(prompt),
        events,
        start,
    }
}

/// Why prepare refused the run, where the first line tells.
fn refusal(head: &Head, prompt: &Prompt) -> Option<RunError> {
    let Contract { input, .. } = &prompt.contract;
    if head.input.is_some() && input.is_none() {
        return Some(undeclared_input());
    }
    let packs = head.packs.as_ref()?;
    let requirements = Requirements {
        unmet_roles: match &head.model {
            Some(model) => unmet_roles(prompt, model),
            None => Vec::new(),
        },
        ..Requirements::default()
    };
    if requirements.is_satisfied() && packs.gaps.is_empty() {
        return None;
    }
    let notice = requirements.notice_of(&packs.gaps);
    Some(RunError::new(RunErrorKind::RequirementsUnmet, notice))
}

/// Whether prepare may have ended a run so where its packs were not there yet.
///
/// # Errors
/// It cannot have.
pub(super) fn may_end(head: &Head, prompt: &Prompt, outcome: &Outcome) -> Result<(), Instead> {
    let may = match outcome {
        Outcome::Failed(error) => match (error.kind, &prompt.contract.input) {
            // What the store said while the input was put there, or the system when it was asked
            // for random bytes.
            (RunErrorKind::Vfs | RunErrorKind::Internal, _) => true,
            (RunErrorKind::Input, Some(declared)) => {
                head.input.is_none() && *error == missing_input(&declared.path)
            }
            _ => false,
        },
        Outcome::Completed(_) | Outcome::Cancelled => false,
    };
    match may {
        true => Ok(()),
        false => Err(Instead::Refused),
    }
}
