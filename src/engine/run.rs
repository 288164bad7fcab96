//! A run: the state machine that steps a prompt's chains (spec R6, K204).

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use super::admission::{Admission, ChainKey};
use super::ahead::Ahead;
use super::ask::Ask;
use super::calls::store::failure as store_failure;
use super::cancel::CancelPoint;
use super::catalog::Catalog;
use super::chain::Chain;
use super::claims::Claims;
use super::effect::{Answer, Effect, EffectId, Withdrawal};
use super::entry::{Input, Shared};
use super::event::EventKind;
use super::model::Model;
use super::open::Opening;
use super::outbox::{Item, Outbox, Task};
use super::outcome::{Outcome, RunError, RunErrorKind};
use super::packs::Packs;
use super::prelude::Preludes;
use super::program::{ParseEvent, Program};
use super::roles::Roles;
use super::seeded::Seeded;
use super::serve::Spawning;
use super::store::{Policy, StoreFailure, StoreValue};
use super::strand::{Slice, Strand};
use super::task::{Origin, Record, Rest, State, TaskKey};
use super::tool_calls::ToolAsk;
use super::unanswered::Unanswered;
use crate::lua::{Cancel, Data, Failure, Reply};
use crate::prompt::SectionId;

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
    /// How many tasks may hold a slot at once; 0 counts as 1 (spec K120).
    pub concurrency: u32,
    /// How often each section VM may log.
    pub log_events: u32,
    /// The Host's current model (spec M8).
    pub model: Option<Model>,
    /// What prepare has found of the run's units.
    pub packs: Packs,
    /// The rounds of one model loop, where the prompt sets no cap (spec M55).
    pub max_rounds: u32,
    /// A Host-state snapshot, an object (spec L71).
    pub ui: Option<Data>,
    /// The store's policy; `None` where the handle declares no store (spec S50).
    pub store: Option<Policy>,
    /// Whether the store's backend checks, and so is opened for the run and each task (spec S58).
    pub opens_store: bool,
    /// Cancels the run.
    pub cancel: Cancel,
}

/// What one step did.
#[derive(Debug)]
pub struct Step {
    /// Its events and effects, in the order it put them out.
    pub items: Vec<Item>,
    /// Effects whose answers are not wanted any more, with the reasons, in issue order.
    pub withdrawn: Vec<(EffectId, Withdrawal)>,
    /// Whether the next step can go on without an answer: this one only hands over what there is.
    pub more: bool,
    /// Where a cancel took effect, if one did: in this step the run then ends.
    pub cancelled: Option<CancelPoint>,
    /// How the run ended, once it has.
    pub outcome: Option<Outcome>,
}

/// What a strand goes on with when its turn comes.
pub(super) enum Wake {
    Start,
    /// Its effect was answered, or the call interrupted.
    Resume(Box<Result<Reply, Failure>>),
    /// The store was opened for it, or refused to be.
    Opened(Opening, Result<StoreValue, StoreFailure>),
    /// Its wait can be looked at.
    Wait,
    /// It was paused.
    GoOn,
    /// It is spawning the arms of a fanout.
    Spawn(Box<Spawning>),
}

impl Wake {
    pub(super) fn resume(answer: Result<Reply, Failure>) -> Self {
        Self::Resume(Box::new(answer))
    }
}

/// An effect that was put out and not answered.
pub(super) struct InFlight {
    pub(super) task: TaskKey,
    pub(super) deed: Deed,
}

/// What an effect in flight is for.
pub(super) enum Deed {
    /// A store operation, with the events of its success and its failure.
    Store(Option<(&'static str, &'static str)>),
    /// The opening of the store, and what goes on once it is open.
    Open(Opening),
    /// A wait's timer.
    Timer,
    /// A round with a model.
    Round(Box<Ask>),
    /// A call of a unit's tool.
    Tool(Box<ToolAsk>),
}

/// One run of one prompt: sans-IO, single-threaded and deterministic. [`Run::step`] runs every
/// chain that can run and says what happened and what is asked of the outside; [`Run::answer`] tells
/// it what came back. The same prompt, setup and answers in the same order give the same steps.
pub struct Run {
    pub(super) shared: Rc<Shared>,
    pub(super) cancel: Cancel,
    pub(super) memory: usize,
    /// Every task of the run in spawn order, the root first.
    pub(super) tasks: Vec<Record>,
    pub(super) admission: Admission,
    pub(super) claims: Claims,
    pub(super) ready: VecDeque<(TaskKey, Wake)>,
    pub(super) in_flight: Unanswered<InFlight>,
    pub(super) withdrawn: Vec<(EffectId, Withdrawal)>,
    /// A strand that goes on before anything else runs, once it can.
    pub(super) held: Option<(TaskKey, Option<Wake>)>,
    /// A conflict of claims that ends the run as soon as the strand that met it is at rest.
    pub(super) conflict: Option<RunError>,
    /// Whether the Host's handle declares a store (spec S50).
    has_store: bool,
    pub(super) outcome: Option<Outcome>,
    /// Where a cancel took effect in the current step.
    pub(super) cancelled_at: Option<CancelPoint>,
    /// Whether the current step has run anything.
    pub(super) stepping: bool,
}

impl Run {
    /// Builds a run of a program. Nothing of it runs before the first step.
    pub fn new(program: Program, setup: Setup) -> Self {
        let seeded = Seeded::new(setup.seed);
        let input = Input::new(&program, setup.args);
        let has_store = setup.store.is_some();
        let cancel = setup.cancel.of_run();
        let refused = gate(&program);
        let prompt = &program.prompt().clone();
        let shared = Rc::new(Shared {
            outbox: Outbox::new(setup.execution.clone(), cancel.clone()),
            nonce: seeded.nonce(),
            program,
            seeded,
            execution: setup.execution,
            when: setup.when,
            log_events: setup.log_events,
            roles: Roles::new(prompt, setup.model.as_ref()),
            preludes: Preludes::new(prompt, &setup.packs),
            catalog: Catalog::new(prompt, setup.packs),
            always: RefCell::default(),
            rounds: Cell::new(0),
            max_rounds: prompt
                .contract
                .max_tool_iterations
                .unwrap_or(setup.max_rounds),
            ahead: Ahead::default(),
            policy: setup.store.unwrap_or_default(),
            opens_store: setup.opens_store,
            ui: setup.ui,
        });
        let task = Rc::new(Task::new("0".into()));
        let root = Chain::new("0".into(), ChainKey::ROOT, 0, input, Data::empty());
        let strand = Strand::new(
            shared.clone(),
            task.clone(),
            cancel.clone(),
            setup.memory,
            root,
        );
        let root = Record {
            task,
            owner: (TaskKey::ROOT, ChainKey::ROOT),
            origin: Origin::Author,
            target: SectionId(0),
            depth: 0,
            state: State::Resting(Box::new(strand)),
            rest: Rest::Ready,
            awaited: None,
            slot: false,
            note: None,
            item: None,
            told: None,
        };
        Self {
            shared,
            cancel,
            memory: setup.memory,
            tasks: vec![root],
            admission: Admission::new(setup.concurrency),
            claims: Claims::new(),
            ready: VecDeque::from([(TaskKey::ROOT, Wake::Start)]),
            in_flight: Unanswered::default(),
            withdrawn: Vec::new(),
            held: None,
            conflict: None,
            has_store,
            outcome: refused.map(Outcome::Failed),
            cancelled_at: None,
            stepping: false,
        }
    }

    /// Runvil: the ids of tools that no model can be offered, though a script may call them (spec
    /// T67).
    pub fn unofferable(&self) -> Vec<Arc<str>> {
        self.shared.catalog.unofferable()
    }

    /// Reports the parse events of the file under the root task, which numbers them first (spec
    /// K183). Called once, before the first step.
    pub fn parsed(&mut self, events: &[ParseEvent]) -> Vec<Item> {
        for (kind, section) in events {
            self.shared
                .outbox
                .plain(&self.record(TaskKey::ROOT).task, section, kind);
        }
        self.shared.outbox.take()
    }

    /// Runs every ready chain until all wait or the run ends (spec K204). Where there is much to
    /// hand over, or something that others can do meanwhile, it stops sooner, and says so.
    pub fn step(&mut self) -> Step {
        let mut more = false;
        self.stepping = false;
        while self.outcome.is_none() {
            if self.cancel.is_raised() {
                self.cancelled();
                break;
            }
            // Whether there is a chain to go on with: the one that is held, which may still wait,
            // before all others.
            let is_waiting = match &self.held {
                Some((_, wake)) => wake.is_none(),
                None => self.ready.is_empty(),
            };
            more = !is_waiting && self.shared.outbox.is_due();
            if is_waiting || more {
                break;
            }
            let next = match self.held.take() {
                Some((task, wake)) => wake.map(|wake| (task, wake)),
                None => self.ready.pop_front(),
            };
            let Some((task, wake)) = next else { break };
            if self.record(task).is_live() {
                self.stepping = true;
                self.shared.outbox.cancel_if_due();
                self.turn(task, wake);
            }
        }
        let idle = self.outcome.is_none() && !more && self.held.is_none();
        if idle && self.in_flight.is_empty() {
            let text = "every chain waits and nothing is in flight";
            self.end(Outcome::Failed(RunError::internal(text)));
        }
        let mut withdrawn = std::mem::take(&mut self.withdrawn);
        withdrawn.sort_by_key(|(id, _)| *id);
        Step {
            items: self.shared.outbox.take(),
            withdrawn,
            more,
            cancelled: self.cancelled_at.take(),
            outcome: self.outcome.clone(),
        }
    }

    /// Hands in the answer to an effect; [`Run::step`] must follow. An answer to an effect that is
    /// not in flight is ignored.
    pub fn answer(&mut self, id: EffectId, answer: Answer) {
        let Some(InFlight { task, deed }) = self.in_flight.remove(id) else {
            return;
        };
        let answered = match (deed, answer) {
            (_, Answer::Broken(text)) => {
                let error = RunError::internal(text);
                return self.end(Outcome::Failed(error));
            }
            (Deed::Timer, _) => return self.fired(task),
            (Deed::Open(opening), Answer::Store(answer)) => Wake::Opened(opening, answer),
            (Deed::Store(events), Answer::Store(answer)) => {
                if let Some((succeeded, failed)) = events {
                    let kind = if answer.is_ok() { succeeded } else { failed };
                    self.report(task, EventKind::Plain(kind));
                }
                Wake::resume(answer.map(reply).map_err(store_failure))
            }
            (Deed::Tool(ask), Answer::Tool(answer)) => {
                Wake::resume(self.tool_answered(task, *ask, answer))
            }
            (Deed::Round(ask), Answer::Model(answer)) => {
                Wake::resume(self.round_answered(task, *ask, answer))
            }
            _ => {
                let text = "an effect got the answer of another kind of effect";
                Wake::resume(Err(Failure::internal(text)))
            }
        };
        match &mut self.held {
            Some((held, wake)) if *held == task => *wake = Some(answered),
            _ => self.ready.push_back((task, answered)),
        }
    }

    /// Ends the run with an outcome that the Harness has for it, such as that its record cannot be
    /// written (spec R17); [`Run::step`] must follow. The first outcome stands (spec R3).
    pub fn break_off(&mut self, outcome: &Outcome) {
        if self.outcome.is_none() {
            self.end(outcome.clone());
        }
    }

    /// Ends the waits that a stop reaches, of the effects named: each call is resumed with the
    /// interrupted error (spec K212). Gives the effects that it reached; [`Run::step`] must follow.
    pub fn stop(&mut self, ids: &[EffectId]) -> Vec<EffectId> {
        let mut reached = Vec::new();
        for id in ids {
            let is_timer = match self.in_flight.get(*id).map(|effect| &effect.deed) {
                Some(Deed::Timer) => true,
                Some(Deed::Round(_)) => false,
                Some(Deed::Tool(ask)) if !ask.bound.asks => false,
                Some(_) | None => continue,
            };
            let Some(InFlight { task, .. }) = self.in_flight.remove(*id) else {
                continue;
            };
            self.withdrawn.push((*id, Withdrawal::Interrupted));
            reached.push(*id);
            match is_timer {
                true => self.wake(task, |wait| {
                    wait.interrupted = true;
                    wait.timer = None;
                }),
                false => {
                    let interrupted = Wake::resume(Err(Failure::interrupted()));
                    self.ready.push_back((task, interrupted));
                }
            }
        }
        reached
    }

    pub(super) fn record(&self, task: TaskKey) -> &Record {
        &self.tasks[task.index()]
    }

    pub(super) fn record_mut(&mut self, task: TaskKey) -> &mut Record {
        &mut self.tasks[task.index()]
    }

    /// Reports under the section that a task's strand is in.
    pub(super) fn report(&self, task: TaskKey, kind: EventKind) {
        let record = self.record(task);
        if let State::Resting(strand) = &record.state {
            self.shared
                .outbox
                .report(&record.task, &strand.section(), kind);
        }
    }

    /// Runs one slice of a strand.
    fn turn(&mut self, task: TaskKey, wake: Wake) {
        let Some(mut strand) = self.take_strand(task) else {
            return;
        };
        let slice = match wake {
            Wake::Start if task == TaskKey::ROOT => {
                let title = self.shared.program.title.clone();
                self.shared
                    .outbox
                    .plain(&strand.task, &title, "run_started");
                if !self.has_store {
                    self.put_back(task, strand);
                    let error = RunError::new(RunErrorKind::Vfs, "store operation failed");
                    return self.end(Outcome::Failed(error));
                }
                if self.shared.opens_store {
                    self.open_store(task, task_id(&strand), Opening::Run);
                    return self.put_back(task, strand);
                }
                strand.start_root()
            }
            Wake::Opened(opening, answer) => {
                match self.opened(task, &mut strand, opening, answer) {
                    Ok(Some(slice)) => slice,
                    Ok(None) => return self.put_back(task, strand),
                    Err(failure) => {
                        self.put_back(task, strand);
                        let error = RunError::new(RunErrorKind::Vfs, failure.message);
                        return self.end(Outcome::Failed(error));
                    }
                }
            }
            Wake::Start => strand.start(),
            Wake::GoOn => strand.go_on(),
            Wake::Resume(answer) => strand.resume(*answer),
            Wake::Wait => match self.resolve_wait(task, &strand) {
                Some(answer) => strand.resume(answer),
                None => return self.park(task, strand),
            },
            Wake::Spawn(spawning) => match self.spawn_arms(task, &mut strand, spawning, false) {
                Some(slice) => slice,
                None => return self.put_back(task, strand),
            },
        };
        self.slice_ended(task, strand, slice);
    }

    /// Serves what a slice stopped at, until the strand waits or ends.
    fn slice_ended(&mut self, task: TaskKey, mut strand: Box<Strand>, mut slice: Slice) {
        loop {
            let next = match slice {
                Slice::Asked(request) => self.serve(task, &mut strand, request),
                Slice::Paused => {
                    self.put_back(task, strand);
                    self.ready.push_front((task, Wake::GoOn));
                    return;
                }
                Slice::Cancelled => {
                    self.put_back(task, strand);
                    return self.cancelled();
                }
                Slice::Walk => {
                    self.open_store(task, task_id(&strand), Opening::Walk);
                    None
                }
                Slice::Ended(result) => {
                    let result = self.settle(&mut strand, result);
                    match strand.return_to_caller(result) {
                        Ok(slice) => Some(slice),
                        Err(result) => return self.task_ended(task, result),
                    }
                }
            };
            match next {
                Some(next) => slice = next,
                None => {
                    self.put_back(task, strand);
                    if let Some(error) = self.conflict.take() {
                        self.end(Outcome::Failed(error));
                    }
                    return;
                }
            }
        }
    }

    /// The strand of a task, made where it was not started yet.
    fn take_strand(&mut self, task: TaskKey) -> Option<Box<Strand>> {
        let record = &mut self.tasks[task.index()];
        record.rest = match std::mem::replace(&mut record.rest, Rest::Ready) {
            Rest::Queued(wait) => Rest::Tasks(wait),
            Rest::Effect(_) => Rest::Ready,
            other => other,
        };
        match std::mem::replace(&mut record.state, State::Running) {
            State::Resting(strand) => Some(strand),
            State::Seeded(seeds) => {
                let Record {
                    task: coordinates,
                    owner,
                    target,
                    depth,
                    item,
                    ..
                } = record;
                let key = self.admission.open(owner.1);
                let id = coordinates.id.clone();
                let mut chain = Chain::new(id, key, *depth, seeds.input, seeds.var);
                chain.item = item.clone();
                chain.sys_index = seeds.index;
                chain.go_to(&self.shared.program, *target);
                let (shared, cancel) = (self.shared.clone(), self.cancel.clone());
                let strand = Strand::new(shared, coordinates.clone(), cancel, self.memory, chain);
                Some(Box::new(strand))
            }
            other => {
                record.state = other;
                None
            }
        }
    }

    pub(super) fn put_back(&mut self, task: TaskKey, strand: Box<Strand>) {
        self.record_mut(task).state = State::Resting(strand);
    }

    /// Puts an effect out.
    pub(super) fn issue(&mut self, task: TaskKey, effect: Effect, deed: Deed) -> EffectId {
        let id = self.shared.outbox.issue(&self.record(task).task, effect);
        self.in_flight.insert(id, InFlight { task, deed });
        id
    }
}

fn task_id(strand: &Strand) -> String {
    strand.task.id.to_string()
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
