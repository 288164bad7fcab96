//! The provider that plays a script: no process, no network, the same every time (spec P129 to
//! P132).

mod step;
mod write;

use std::time::Duration;

use self::step::{Script, Step, StepError};
use super::{Ended, Event, Job, Provider, Session, Setting, Sink};
use crate::packet::failure::{Failure, FailureClass};
use crate::packet::words::ProviderKind;

/// Plays the script of a prompt's `simulate` key.
#[derive(Clone, Copy, Debug, Default)]
pub struct Simulated;

impl Provider for Simulated {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Simulated
    }

    fn problems(&self, _setting: Setting<'_>) -> Vec<String> {
        Vec::new()
    }

    fn open<'a>(&'a self, job: &'a Job<'a>) -> Result<Box<dyn Session + 'a>, Box<Failure>> {
        let script = job.setting.prompt.simulate.as_ref();
        Ok(Box::new(Played {
            job,
            script: Script::read(script),
        }))
    }
}

/// A session that plays one attempt of a script.
struct Played<'a> {
    job: &'a Job<'a>,
    script: Script,
}

impl Session for Played<'_> {
    fn start(&mut self, sink: &mut dyn Sink) -> Ended {
        let id = self.job.setting.prompt.id.as_str();
        sink.session_id(&format!("simulated-{id}-{}", self.job.attempt));
        let step = self.script.attempt(self.job.attempt);
        play(&step, self.job, sink)
    }

    fn can_resume(&self) -> bool {
        true
    }

    fn resume(&mut self, number: u64, sink: &mut dyn Sink) -> Ended {
        let step = self.script.resume(number);
        play(&step, self.job, sink)
    }
}

/// Plays a step, in the order of P130.
fn play(step: &Step, job: &Job<'_>, sink: &mut dyn Sink) -> Ended {
    if let Err(error) = write::perform(step, job) {
        let message = match error {
            write::NotDone::Outside(path) => {
                format!("simulated write leaves the packet and its repositories: {path}")
            }
            write::NotDone::Failed(what) => what,
        };
        return Ended::NotStarted(Failure::new(FailureClass::PROGRAM_INVALID, message));
    }
    sink.event(Event::RunStarted {
        model: job.setting.options.model.clone(),
        label: step.label.clone(),
    });
    if let Some(ended) = wait(step.delay, job) {
        sink.event(match &ended {
            Ended::Failed(failure) => Event::RunFailed {
                message: failure.message.clone(),
            },
            _ => Event::RunCancelled,
        });
        return ended;
    }
    for text in &step.messages {
        sink.event(Event::MessageStreamed { text: text.clone() });
    }
    match &step.error {
        None => {
            sink.event(Event::RunCompleted {
                stop_reason: Some("end_turn".to_owned()),
            });
            Ended::Succeeded
        }
        Some(error) => {
            let failure = failure(error);
            sink.event(Event::RunFailed {
                message: failure.message.clone(),
            });
            Ended::Failed(failure)
        }
    }
}

/// Waits; how the session ends, if it does so meanwhile.
fn wait(delay: Duration, job: &Job<'_>) -> Option<Ended> {
    let left = job.deadline.left();
    if !job.interrupt.wait(delay.min(left)) {
        return Some(Ended::Interrupted);
    }
    (left < delay).then(|| Ended::Failed(job.deadline.failure()))
}

/// The failure of a step (spec P131).
fn failure(error: &StepError) -> Failure {
    let failure = match &error.recovery {
        Some(recovery) => Failure::claimed(recovery, &error.message),
        None => Failure::new(
            class(error.kind.as_deref().unwrap_or_default()),
            &error.message,
        ),
    };
    Failure {
        raw: Some(error.raw.clone()),
        ..failure
    }
}

/// The class of an error's kind. What only the runner itself can find is no kind of a provider's.
fn class(kind: &str) -> FailureClass {
    let simulated = [
        FailureClass::PROVIDER_CAPACITY,
        FailureClass::PROVIDER_RATE_LIMIT,
        FailureClass::PROVIDER_AUTH_CLAIM,
        FailureClass::PROVIDER_CONFIG_CLAIM,
        FailureClass::PROVIDER_RUNTIME_CLAIM,
        FailureClass::PROTOCOL_ERROR,
        FailureClass::TRANSPORT_DISCONNECT,
        FailureClass::TRANSPORT_TIMEOUT,
        FailureClass::APPROVAL_DENIED,
        FailureClass::GUARDRAIL_BLOCKED,
        FailureClass::USER_CANCELLED,
        FailureClass::UNKNOWN,
        FailureClass::PROGRAM_ERROR,
    ];
    FailureClass::of_kind(kind)
        .filter(|class| simulated.contains(class))
        .unwrap_or(FailureClass::PROVIDER_RUNTIME_CLAIM)
}

#[cfg(test)]
mod tests;
