//! A run of a program as a session (spec P141, P143 to P145).

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Builder};
use std::time::Duration;

use super::Ready;
use super::grounds::Grounds;
use super::outcome::failure;
use super::program::file;
use super::settings::{Input, StoreKind};
use super::watched::{Failures, Watched};
use crate::engine::{Event as RunEvent, EventKind, Outcome};
use crate::harness::record::Recorder;
use crate::harness::{CancelToken, Harness, Launch, Report, Store, regular};
use crate::packet::failure::{Failure, FailureClass};
use crate::packet::provider::{Ended, Event, Job, Session, Sink};
use crate::packet::words::PermissionMode;

/// How often the interrupt and the deadline are looked at.
const LOOK: Duration = Duration::from_millis(10);

/// A session that is one run.
pub(super) struct Running<'a> {
    job: &'a Job<'a>,
    ready: Ready,
    harness: &'a Harness,
    /// What the host gives; taken by the run.
    launch: Option<Launch>,
}

impl<'a> Running<'a> {
    pub(super) fn new(
        job: &'a Job<'a>,
        ready: Ready,
        harness: &'a Harness,
        launch: Launch,
    ) -> Self {
        Self {
            job,
            ready,
            harness,
            launch: Some(launch),
        }
    }

    /// Fills in what the host leaves open.
    fn prepare(&self, host: Launch, failures: &Failures) -> Result<Launch, String> {
        let Self { job, ready, .. } = self;
        let setting = job.setting;
        let mut limits = host.limits;
        ready.settings.over(&mut limits);
        let packet = &setting.packet.name;
        Ok(Launch {
            args: ready.settings.args.clone(),
            input: self.input()?,
            name: Some(format!("{packet}-{}-{}", setting.prompt.id, job.attempt)),
            limits,
            store: Some(self.store()?),
            broker: host.broker.map(|broker| {
                let failures = failures.clone();
                Arc::new(Watched { broker, failures }) as _
            }),
            record: Some(self.recorder()?),
            cancel: CancelToken::default(),
            ..Launch {
                broker: None,
                ..host
            }
        })
    }

    fn store(&self) -> Result<Store, String> {
        let store = match self.ready.settings.store {
            StoreKind::Memory => Store::memory(),
            StoreKind::Target => Store::custom(Box::new(Grounds::of(self.job)?)),
        };
        Ok(match self.job.setting.options.permission_mode {
            PermissionMode::Plan => store.read_only(),
            _ => store,
        })
    }

    /// The text of the program's input file: what the packet gives, and in a repair what is left to
    /// do.
    fn input(&self) -> Result<Option<String>, String> {
        let Self { job, ready, .. } = self;
        let given = match &ready.settings.input {
            None => return Ok(None),
            Some(Input::Text(text)) => text.clone(),
            Some(Input::File(named)) => file(job.setting, named)?,
        };
        let program = ready.text.prompt();
        let is_declared = program.is_some_and(|program| program.contract.input.is_some());
        Ok(Some(match job.repair.filter(|_| is_declared) {
            Some(block) => format!("{}\n\n{}\n", given.trim_end_matches('\n'), block.text()),
            None => given,
        }))
    }

    fn recorder(&self) -> Result<Recorder, String> {
        let mut file = self.job.files.clone().into_os_string();
        file.push(".record.jsonl");
        let file = PathBuf::from(file);
        let folder = file.parent().unwrap_or(&file);
        let opened = fs::create_dir_all(folder).and_then(|()| regular::create(&file));
        let cannot = |error| format!("cannot record to {}: {error}", file.display());
        opened.map(Recorder::file).map_err(cannot)
    }

    /// Runs the program, and cancels it where its time is over or the run is interrupted.
    ///
    /// # Errors
    /// The system gives no thread that looks for these.
    fn run(&self, launch: Launch, sink: &mut dyn Sink) -> io::Result<Report> {
        let job = self.job;
        let cancel = launch.cancel.clone();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let watch = || {
                while !is_over.load(Ordering::Acquire) {
                    if job.interrupt.is_raised() || job.deadline.is_over() {
                        cancel.cancel();
                        return;
                    }
                    thread::sleep(LOOK);
                }
            };
            Builder::new().spawn_scoped(scope, watch)?;
            let mut observe = |event: &RunEvent| tell(event, sink);
            let report = self
                .harness
                .run(&self.ready.text.text, launch, &mut observe);
            is_over.store(true, Ordering::Release);
            Ok(report)
        })
    }

    /// How the session ended.
    fn ended(&self, outcome: Outcome, failures: &Failures, sink: &mut dyn Sink) -> Ended {
        let job = self.job;
        match outcome {
            Outcome::Completed(text) => {
                sink.event(Event::MessageReceived { text });
                Ended::Succeeded
            }
            Outcome::Cancelled if job.interrupt.is_raised() => Ended::Interrupted,
            Outcome::Cancelled if job.deadline.is_over() => Ended::Failed(job.deadline.failure()),
            Outcome::Cancelled => {
                let message = "the run was cancelled";
                Ended::Failed(Failure::new(FailureClass::USER_CANCELLED, message))
            }
            Outcome::Failed(error) => {
                let message = self.ready.text.shown(&error);
                let round = failures.of(&error.message);
                Ended::Failed(failure(&error, message, round.as_ref()))
            }
        }
    }
}

impl Session for Running<'_> {
    fn start(&mut self, sink: &mut dyn Sink) -> Ended {
        let invalid = |message| Failure::new(FailureClass::PROGRAM_INVALID, message);
        let failures = Failures::default();
        let host = self.launch.take().unwrap_or_default();
        let launch = match self.prepare(host, &failures) {
            Ok(launch) => launch,
            Err(message) => return Ended::NotStarted(invalid(message)),
        };
        let model = launch.model.as_ref().map(|model| model.id.to_string());
        sink.event(Event::RunStarted { model, label: None });
        let ended = match self.run(launch, sink) {
            Ok(report) => {
                sink.log(&format!("Run {} seed={}", report.run, report.seed));
                self.ended(report.outcome, &failures, sink)
            }
            Err(error) => Ended::Failed(Failure::of_system(&error)),
        };
        sink.event(match &ended {
            Ended::Succeeded => Event::RunCompleted { stop_reason: None },
            Ended::Failed(failure) | Ended::NotStarted(failure) => Event::RunFailed {
                message: failure.message.clone(),
            },
            Ended::Interrupted => Event::RunCancelled,
        });
        ended
    }

    fn can_resume(&self) -> bool {
        false
    }

    fn resume(&mut self, _number: u64, _sink: &mut dyn Sink) -> Ended {
        let message = "a run is not resumed";
        Ended::NotStarted(Failure::new(FailureClass::PROVIDER_UNAVAILABLE, message))
    }
}

/// Tells of what happens in a run (spec P145): of models and tools in events of their own, of the
/// rest as it is.
fn tell(event: &RunEvent, sink: &mut dyn Sink) {
    match &event.kind {
        EventKind::AssistantReply(reply) => {
            sink.event(Event::MessageReceived {
                text: reply.text.to_string(),
            });
            if let Some(usage) = &reply.metrics.usage {
                sink.event(Event::TokenUsageUpdated {
                    input: Some(usage.prompt_tokens.into()),
                    output: Some(usage.completion_tokens.into()),
                    cost_usd: None,
                });
            }
        }
        EventKind::AssistantToolCalls { calls, .. } => {
            for call in calls.iter() {
                sink.event(Event::ToolCallStarted {
                    name: call.name.to_string(),
                    input: serde_json::to_value(&call.arguments).ok(),
                });
            }
        }
        EventKind::ToolResult(result) => sink.event(Event::ToolCallCompleted {
            name: result.alias.to_string(),
            output: result.content.to_string(),
        }),
        other => sink.event(Event::Other {
            name: other.name().to_owned(),
            data: serde_json::to_value(event).unwrap_or_default(),
        }),
    }
}
