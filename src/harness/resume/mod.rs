//! Resume: a run that was cut off goes on where its record ends (spec R16).

mod contents;
mod error;
mod follow;
mod skipped;

pub use error::ResumeError;

use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom};
use std::sync::Arc;

use super::model::{Broker, DebugEvents, Show};
use super::perform::{self, Outside, Resumed};
use super::prepare::{again, stage};
use super::record::{Head, Journal, RecordError, Recorder, StoreHead, has_ended, lock};
use super::replay::{End, Halt, Reached, Rebuilt, Replayer, rebuild, refused, whole};
use super::tools::Tools;
use super::unit::Operator;
use super::{CancelToken, Harness, Report, Requirements, StopToken, Store};
use crate::engine::tool::UnitTool;
use crate::engine::{Event, Item, Outcome, Step};
use crate::prompt::Prompt;
use contents::Contents;
use follow::{Files, Following, Settled};

/// What a Host gives a run that goes on: what its record does not hold.
#[derive(Clone, Debug, Default)]
pub struct Resume {
    /// The run's store, where it had one of its Host's.
    pub store: Option<Store>,
    /// What answers the run's rounds; `None` where there is no gateway.
    pub broker: Option<Arc<dyn Broker>>,
    /// Who answers what the run asks its operator and the record has no answer to.
    pub operator: Option<Arc<dyn Operator>>,
    /// Where pieces of replies are shown as they arrive.
    pub show: Option<Show>,
    /// Where the debug events of the rounds go that are asked from here on (spec K188a).
    pub debug: Option<DebugEvents>,
    /// Whether every line is on the disk before the effects that it announces start.
    pub is_durable: bool,
    /// Ends what the run waits for, without ending the run.
    pub stop: StopToken,
    /// Cancels the run.
    pub cancel: CancelToken,
}

impl Harness {
    /// Goes on with the run of a record that has no outcome (spec R16): runs it again up to there,
    /// performs again what has no answer, and then goes on as if nothing had happened, writing to
    /// the same record. `record` is open for reading and writing. `observe` sees every event of the
    /// run, those in the record first.
    ///
    /// # Errors
    /// Why the run is not resumed.
    pub fn resume(
        &self,
        record: File,
        resume: Resume,
        observe: &mut dyn FnMut(&Event),
    ) -> Result<Report, ResumeError> {
        lock(&record).map_err(|_| ResumeError::InUse)?;
        let unreadable = |error| ResumeError::Record(RecordError::Io(error).into());
        if has_ended(&record).map_err(unreadable)? {
            return Err(ResumeError::Ended);
        }
        (&record).rewind().map_err(unreadable)?;
        let source = BufReader::with_capacity(1 << 16, &record);
        let mut replayer = Replayer::resuming(source);
        let recorded = replayer.head().map_err(why)?;
        let rebuilt = rebuild(recorded, &resume.cancel);
        let files = files(&rebuilt, resume.store.clone())?;
        let mut following = Following::new(files, resume.broker.clone(), observe);
        let Rebuilt {
            head,
            prompt,
            events,
            start,
        } = rebuilt;
        let followed = whole(&mut replayer, &head, &events, start, &mut following);
        let (run, end) = followed.map_err(why)?;
        let End::Cut(cut) = end else {
            return Err(ResumeError::Ended);
        };
        if cut.is_waiting() && replayer.may_hide_answer() {
            let line = replayer.followed() + 1;
            return Err(ResumeError::TornAnswer { line });
        }
        if run.is_none() && cut.outcome.is_none() {
            let line = replayer.followed() + 1;
            return Err(ResumeError::Prepare { line });
        }
        let broker = following.broker();
        let operator = following.operator(resume.operator.clone());
        // A run that has ended, be it by a cancel of its record, asks for no tool any more.
        let goes_on = run.is_some() && cut.outcome.is_none();
        let tools = match &prompt {
            Some(prompt) if goes_on => self.tools_again(&head, prompt, operator, &resume.cancel)?,
            _ => Tools::default(),
        };
        let Settled {
            store,
            done,
            observe,
        } = following.settle(cut.rest.is_empty())?;
        // What is left of a last line is cut off.
        let Reached {
            lines,
            open,
            at,
            offset,
        } = replayer.reached();
        record.set_len(offset)?;
        (&record).seek(SeekFrom::End(0))?;
        let sink = Recorder::appending(record, resume.is_durable);
        let step = Step {
            items: open.into_values().map(Item::Effect).collect(),
            withdrawn: Vec::new(),
            more: cut.more,
            cancelled: None,
            outcome: cut.outcome.clone(),
        };
        let journal = Journal::resume(sink, lines, at, &cut.rest);
        let mut report = Report {
            outcome: Outcome::Cancelled,
            run: head.run.clone(),
            seed: head.seed,
            started_at: head.started_at,
            prompt,
            requirements: Requirements::default(),
            store,
        };
        let mut journal = match journal {
            Ok(journal) => journal,
            Err(error) => {
                report.outcome = perform::unrecorded(&error);
                return Ok(report);
            }
        };
        report.outcome = match (run, cut.outcome) {
            (Some(run), _) => {
                let outside = Outside {
                    store: &report.store,
                    broker: broker.as_deref(),
                    tools: &tools,
                    show: resume.show,
                    debug: resume.debug,
                    limits: head.limits,
                    cancel: &resume.cancel,
                    stop: &resume.stop,
                    workers: &self.workers,
                };
                let resumed = Some(Resumed { step, done });
                perform::perform(*run, &outside, &mut journal, resumed, observe)
            }
            (None, outcome) => {
                let outcome = outcome.unwrap_or(Outcome::Cancelled);
                let ended = journal.outcome(&outcome);
                ended.map_or_else(|error| perform::unrecorded(&error), |()| outcome)
            }
        };
        Ok(report)
    }

    /// What serves the run's tools now: its units as they are today (spec R16).
    fn tools_again(
        &self,
        head: &Head,
        prompt: &Prompt,
        operator: Option<Arc<dyn Operator>>,
        cancel: &CancelToken,
    ) -> Result<Tools, ResumeError> {
        let (units, tools) = again(&self.host, prompt, operator, cancel);
        if cancel.is_cancelled() {
            return Err(ResumeError::Cancelled);
        }
        let recorded = head.packs.iter().flat_map(|packs| &packs.units);
        for unit in recorded.filter(|unit| unit.declared && unit.reason.is_none()) {
            let lacks = |reason: String| ResumeError::Unit {
                id: unit.id(),
                reason,
            };
            let Some(now) = units.iter().find(|now| now.id() == unit.id()) else {
                return Err(lacks("it is not installed, or not ready".to_owned()));
            };
            if let Some(reason) = &now.reason {
                return Err(lacks(reason.clone()));
            }
            let is_there = |tool: &&UnitTool| now.tools.iter().any(|now| now.name == tool.name);
            if let Some(tool) = unit.tools.iter().find(|tool| !is_there(tool)) {
                return Err(lacks(format!("it has no tool {} any more", tool.name)));
            }
        }
        Ok(tools)
    }
}

/// The run's store, to be built again or looked at.
fn files(rebuilt: &Rebuilt, given: Option<Store>) -> Result<Files, ResumeError> {
    let Rebuilt { head, prompt, .. } = rebuilt;
    match (&head.store, given) {
        (None, None) => {
            let store = Store::memory();
            if let Some(prompt) = prompt {
                // What it refuses it refused then, and so there is no run.
                let _ = stage(prompt, &store, head.input.as_deref());
            }
            Ok(Files::Rebuilt(store))
        }
        (Some(known), Some(store)) if StoreHead::from(&store) == *known => {
            let mut contents = Contents::default();
            let declared = prompt
                .as_ref()
                .and_then(|prompt| prompt.contract.input.as_ref());
            if let (Some(declared), Some(text)) = (declared, &head.input) {
                contents.staged(&declared.path, text);
            }
            Ok(Files::Host(store, contents))
        }
        (Some(_), Some(_)) => Err(ResumeError::OtherStore),
        (Some(_), None) => Err(ResumeError::NoStore),
        (None, Some(_)) => Err(ResumeError::UnwantedStore),
    }
}

/// Why a record was not followed to its end.
fn why(halt: Halt) -> ResumeError {
    match halt {
        Halt::Error(error) => ResumeError::Record(error),
        Halt::Refused { line, why } => ResumeError::Record(refused(line, why)),
        Halt::Cancelled => ResumeError::Cancelled,
    }
}
