//! A run: the state machine that steps a prompt's chains (spec R6, K204).

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::calls::store::failure as store_failure;
use super::chain::Chain;
use super::classify;
use super::effect::{Answer, Effect, EffectId};
use super::entry::{Input, Shared};
use super::event::{EventKind, store_event};
use super::outbox::{Item, Outbox, Task};
use super::outcome::{Outcome, RunError, RunErrorKind};
use super::program::{ParseEvent, Program};
use super::seeded::Seeded;
use super::store::{Policy, StoreValue};
use super::strand::{Slice, Strand};
use crate::lua::{Data, Reply};

/// All that a run takes from outside when it starts (spec L6).
#[derive(Clone, Debug)]
pub struct Setup {
    /// The run's name (spec C2).
    pub execution: Arc<str>,
    /// The seed (spec R20).
    pub seed: [u8; 32],
    /// The start instant, as `sys.when` shows it (spec L60).
    pub when: Arc<str>,
    /// The argument string.
    pub args: Arc<str>,
    /// The ceiling of each section VM's Lua heap, in bytes.
    pub memory: usize,
    /// How often each section VM may log.
    pub log_events: u32,
    /// A Host-state snapshot, an object (spec L71).
    pub ui: Option<Data>,
    /// The store's policy; `None` where the handle declares no store (spec S50).
    pub store: Option<Policy>,
    /// Set, by anyone, to cancel the run.
    pub cancel: Arc<AtomicBool>,
}

/// What one step did.
#[derive(Debug)]
pub struct Step {
    /// Its events and effects, in the order it put them out.
    pub items: Vec<Item>,
    /// How the run ended, once it has.
    pub outcome: Option<Outcome>,
}

/// Names a strand of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StrandId(usize);

const ROOT: StrandId = StrandId(0);

/// A strand's place in the schedule.
struct Slot {
    strand: Strand,
    /// What it goes on with when its turn comes.
    wake: Option<Wake>,
}

enum Wake {
    Start,
    Answer { asked: Asked, answer: Answer },
}

struct InFlight {
    strand: StrandId,
    asked: Asked,
}

/// What an answered store operation reports, if it succeeds and if it fails.
#[derive(Clone, Copy)]
struct Asked {
    succeeded: Option<&'static str>,
    failed: Option<&'static str>,
}

/// One run of one prompt: sans-IO, single-threaded and deterministic. [`Run::step`] runs every
/// chain that can run and says what happened and what is asked of the outside; [`Run::answer`] tells
/// it what came back. The same prompt, setup and answers in the same order give the same steps.
pub struct Run {
    shared: Rc<Shared>,
    cancel: Arc<AtomicBool>,
    strands: Vec<Slot>,
    ready: VecDeque<StrandId>,
    in_flight: BTreeMap<EffectId, InFlight>,
    /// A strand whose direct effect is answered before anything else runs.
    held: Option<StrandId>,
    /// Whether the Host's handle declares a store (spec S50).
    has_store: bool,
    outcome: Option<Outcome>,
}

impl Run {
    /// Builds a run of a program. The parse events are numbered first, as the record holds them
    /// (spec K183).
    pub fn new(program: Program, setup: Setup) -> Self {
        let Setup {
            execution,
            seed,
            when,
            args,
            memory,
            log_events,
            ui,
            store,
            cancel,
        } = setup;
        let seeded = Seeded::new(seed);
        let input = Input::new(&program, args);
        let has_store = store.is_some();
        let refused = gate(&program);
        let shared = Rc::new(Shared {
            outbox: Outbox::new(execution.clone()),
            nonce: seeded.nonce(),
            program,
            seeded,
            execution,
            when,
            log_events,
            policy: store.unwrap_or_default(),
            ui,
        });
        let task = Rc::new(Task::new("0".into()));
        let root = Chain {
            id: "0".into(),
            depth: 0,
            input,
            var: Data::empty(),
            entries: 0,
            children: 0,
            levels: Vec::new(),
            running: None,
            waited: false,
        };
        let strand = Strand::new(shared.clone(), task, cancel.clone(), memory, root);
        Self {
            shared,
            cancel,
            strands: vec![Slot {
                strand,
                wake: Some(Wake::Start),
            }],
            ready: VecDeque::from([ROOT]),
            in_flight: BTreeMap::new(),
            held: None,
            has_store,
            outcome: refused.map(Outcome::Failed),
        }
    }

    /// Reports the parse events of the file under the root task. Called once, before the first
    /// step.
    pub fn parsed(&mut self, events: &[ParseEvent]) -> Vec<Item> {
        for (kind, section) in events {
            self.shared
                .outbox
                .plain(&self.strands[ROOT.0].strand.task, section, kind);
        }
        self.shared.outbox.take()
    }

    /// Runs every ready chain until all wait or the run ends (spec K204).
    pub fn step(&mut self) -> Step {
        while self.outcome.is_none() {
            if self.cancel.load(Ordering::Relaxed) {
                self.cancelled();
                break;
            }
            let Some(id) = self.held.take().or_else(|| self.ready.pop_front()) else {
                break;
            };
            if let Some(wake) = self.strands[id.0].wake.take()
                && self.slice(id, wake)
            {
                break;
            }
        }
        if self.outcome.is_none() && self.in_flight.is_empty() {
            let text = "every chain waits and nothing is in flight";
            self.end(Outcome::Failed(RunError::new(RunErrorKind::Internal, text)));
        }
        Step {
            items: self.shared.outbox.take(),
            outcome: self.outcome.clone(),
        }
    }

    /// Hands in the answer to an effect; [`Run::step`] must follow. An answer to an effect that is
    /// not in flight is ignored.
    pub fn answer(&mut self, id: EffectId, answer: Answer) {
        let Some(InFlight { strand, asked }) = self.in_flight.remove(&id) else {
            return;
        };
        self.strands[strand.0].wake = Some(Wake::Answer { asked, answer });
        if self.held != Some(strand) {
            self.ready.push_back(strand);
        }
    }

    /// Asks the run to end as cancelled; [`Run::step`] must follow.
    pub fn cancel(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    /// Runs one slice of a strand. Whether the step ends here, for a direct effect.
    fn slice(&mut self, id: StrandId, wake: Wake) -> bool {
        let slot = &mut self.strands[id.0];
        let slice = match wake {
            Wake::Start => {
                let title = &self.shared.program.title;
                self.shared
                    .outbox
                    .plain(&slot.strand.task, title, "run_started");
                if !self.has_store {
                    let error = RunError::new(RunErrorKind::Vfs, "store operation failed");
                    self.end(Outcome::Failed(error));
                    return true;
                }
                slot.strand.start_root()
            }
            Wake::Answer { asked, answer } => {
                let Answer::Store(answer) = answer;
                let kind = if answer.is_ok() {
                    asked.succeeded
                } else {
                    asked.failed
                };
                if let Some(kind) = kind {
                    let section = slot.strand.section();
                    let kind = EventKind::Plain(kind);
                    self.shared.outbox.report(&slot.strand.task, &section, kind);
                }
                slot.strand.resume(answer.map(reply).map_err(store_failure))
            }
        };
        match slice {
            Slice::Asked { op, direct } => {
                let asked = Asked {
                    succeeded: store_event(&op, true),
                    failed: store_event(&op, false),
                };
                let effect = Effect::Store { op, direct };
                let effect = self.shared.outbox.issue(&slot.strand.task, effect);
                self.in_flight
                    .insert(effect, InFlight { strand: id, asked });
                if direct {
                    self.held = Some(id);
                }
                direct
            }
            Slice::Cancelled => {
                self.cancelled();
                true
            }
            Slice::Ended(Ok(text)) => {
                let text = text.unwrap_or_else(|| "done".into());
                self.end(Outcome::Completed(text));
                true
            }
            Slice::Ended(Err(stopped)) => {
                let dialect = self.shared.program.dialect();
                self.end(classify::outcome(stopped.failure, stopped.gate, dialect));
                true
            }
        }
    }

    /// Ends the run as cancelled: every waiting call is interrupted once, then every chain is torn
    /// down (spec K211).
    fn cancelled(&mut self) {
        let waiting = std::mem::take(&mut self.in_flight);
        let answered = self.ready.drain(..).chain(self.held.take());
        let mut strands: Vec<StrandId> = waiting.into_values().map(|w| w.strand).collect();
        strands.extend(
            answered.filter(|id| matches!(self.strands[id.0].wake, Some(Wake::Answer { .. }))),
        );
        for id in strands {
            let slot = &mut self.strands[id.0];
            slot.wake = None;
            slot.strand.interrupt();
        }
        self.end(Outcome::Cancelled);
    }

    fn end(&mut self, outcome: Outcome) {
        for slot in &mut self.strands {
            slot.strand.abandon();
        }
        let kind = match outcome {
            Outcome::Completed(_) => "run_succeeded",
            _ => "run_failed",
        };
        let title = &self.shared.program.title;
        self.shared
            .outbox
            .plain(&self.strands[ROOT.0].strand.task, title, kind);
        self.outcome = Some(outcome);
    }
}

/// The version gate (spec F51 to F53).
fn gate(program: &Program) -> Option<RunError> {
    let prompt = program.prompt();
    let key = prompt.dialect.key();
    match prompt.version.as_deref() {
        Some("0") => None,
        Some(other) => {
            let text = format!("unsupported {key} version: {other} (this build supports major 0)");
            Some(RunError::new(RunErrorKind::Version, text))
        }
        None => Some(RunError::from(crate::prompt::ParseError {
            kind: crate::prompt::ParseErrorKind::Structure,
            message: format!("not a {key} prompt: no {key} version"),
            location: crate::prompt::Location {
                path: Some(prompt.name.clone()),
                ..Default::default()
            },
        })),
    }
}

fn reply(value: StoreValue) -> Reply {
    match value {
        StoreValue::Null => Reply::None,
        StoreValue::Text(text) => Reply::Text(text),
        StoreValue::Bool(value) => Reply::Bool(value),
        StoreValue::List(items) => Reply::List(items),
    }
}
