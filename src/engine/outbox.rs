//! What a step puts out: events and effects, in one sequence, numbered per task (spec R13, K183).

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::effect::{Effect, EffectId, Issued};
use super::event::{Event, EventKind};
use crate::lua::Cancel;

/// One thing that a step put out.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// Something happened.
    Event(Event),
    /// Something is asked of the outside.
    Effect(Issued),
}

/// The coordinates of a task: its id, and the counter that numbers its events and effects.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) id: Arc<str>,
    next: Cell<u32>,
    /// How many model rounds have been answered (spec M47).
    turns: Cell<u32>,
}

impl Task {
    pub(super) fn new(id: Arc<str>) -> Self {
        Self {
            id,
            next: Cell::new(0),
            turns: Cell::new(0),
        }
    }

    /// How many model rounds have been answered.
    pub(super) fn turns(&self) -> u32 {
        self.turns.get()
    }

    /// Counts one more, and gives its number.
    pub(super) fn next_turn(&self) -> u32 {
        self.turns.set(self.turns.get().saturating_add(1));
        self.turns.get()
    }

    fn number(&self) -> u32 {
        let number = self.next.get();
        self.next.set(number.saturating_add(1));
        number
    }
}

/// How much one step puts out before it hands it over, so that a long run of chains that never wait
/// needs no memory for all its events at once.
pub(crate) const FULL: usize = 1024;

/// Collects what the current step puts out.
#[derive(Debug)]
pub(super) struct Outbox {
    execution: Arc<str>,
    items: RefCell<Vec<Item>>,
    effects: Cell<u64>,
    /// How many effects the current step dropped.
    dropped: Cell<usize>,
    cancel: Cancel,
    /// How far the current step is to come before the run is cancelled.
    cancel_after: Cell<Option<usize>>,
    /// Whether there is something among them that takes its time: a model round or a tool call.
    asks: Cell<bool>,
}

impl Outbox {
    pub(super) fn new(execution: Arc<str>, cancel: Cancel) -> Self {
        Self {
            execution,
            items: RefCell::default(),
            effects: Cell::new(0),
            dropped: Cell::new(0),
            cancel,
            cancel_after: Cell::new(None),
            asks: Cell::new(false),
        }
    }

    pub(super) fn report(&self, task: &Task, section: &Arc<str>, kind: EventKind) {
        let event = Event {
            kind,
            execution: self.execution.clone(),
            section: section.clone(),
            task: task.id.clone(),
            seq: task.number(),
        };
        self.put(Item::Event(event));
    }

    pub(super) fn plain(&self, task: &Task, section: &Arc<str>, kind: &'static str) {
        self.report(task, section, EventKind::Plain(kind));
    }

    pub(super) fn issue(&self, task: &Task, effect: Effect) -> EffectId {
        let id = EffectId(self.effects.get());
        self.effects.set(id.0 + 1);
        let asks = matches!(effect, Effect::Model(_) | Effect::Tool(_));
        self.asks.set(self.asks.get() || asks);
        let issued = Issued {
            id,
            task: task.id.clone(),
            seq: task.number(),
            effect,
        };
        self.put(Item::Effect(issued));
        id
    }

    fn put(&self, item: Item) {
        self.items.borrow_mut().push(item);
        self.went_on();
    }

    /// An effect was dropped. No item tells so, but a line of the record does.
    pub(super) fn drop_one(&self) {
        self.dropped.set(self.dropped.get() + 1);
        self.went_on();
    }

    fn went_on(&self) {
        self.cancel.went_on(self.progress());
        self.cancel_if_due();
    }

    /// How far the current step has come: what it has put out, and what it dropped.
    fn progress(&self) -> usize {
        self.count() + self.dropped.get()
    }

    /// Has the next step cancel the run once it has come so far.
    pub(super) fn cancel_after(&self, progress: usize) {
        self.cancel_after.set(Some(progress));
    }

    /// Cancels the run where the step has come as far as it was to.
    pub(super) fn cancel_if_due(&self) {
        if self
            .cancel_after
            .get()
            .is_some_and(|due| due <= self.progress())
        {
            self.cancel_after.set(None);
            self.cancel.raise();
        }
    }

    /// How much the current step has put out.
    pub(super) fn count(&self) -> usize {
        self.items.borrow().len()
    }

    /// Whether a step should hand out what there is before it goes on: it is much, or it holds what
    /// can be done while other chains run.
    pub(super) fn is_due(&self) -> bool {
        self.asks.get() || self.count() >= FULL
    }

    pub(super) fn take(&self) -> Vec<Item> {
        self.cancel_after.set(None);
        self.dropped.set(0);
        self.cancel.went_on(0);
        self.asks.set(false);
        self.items.take()
    }
}

/// The parse events of a file that gets no run, as a run would have reported them (spec R17).
pub fn announce(execution: &Arc<str>, events: &[super::ParseEvent]) -> Vec<Event> {
    let outbox = Outbox::new(execution.clone(), Cancel::default());
    let task = Task::new("0".into());
    for (kind, section) in events {
        outbox.plain(&task, section, kind);
    }
    let items = outbox.take().into_iter();
    items
        .filter_map(|item| match item {
            Item::Event(event) => Some(event),
            Item::Effect(_) => None,
        })
        .collect()
}
