//! What is on its way back to a run, and in which order it is taken (spec K205, K212).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Outside;
use super::taps::Taps;
use crate::engine::effect::ToolRequest;
use crate::engine::model::{FailureClass, ModelFailure, Round};
use crate::engine::tool::{ToolClass, ToolFailure};
use crate::engine::{Answer, EffectId, Withdrawal};
use crate::harness::Pool;
use crate::harness::model::{Abort, Taken, Tap, Terms, is_shown};
use crate::harness::record::Journal;

/// How often a wait looks whether the run was cancelled.
const LOOK: Duration = Duration::from_millis(10);
/// A timer further away than this is as good as none.
const FAR: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// How many answers may go before one that is due already.
const MOST_AHEAD: u32 = 1000;

/// What is on its way back to a run.
pub(super) struct Waiting {
    pub(super) answers: VecDeque<Queued>,
    /// When answers that are known come due.
    due: BinaryHeap<Reverse<(Instant, EffectId)>>,
    /// Those answers.
    known: BTreeMap<EffectId, Answer>,
    /// The moment of the answer that was taken last. What a script answers after a while comes so
    /// long after it, and not after the present: so a run that waits for nothing but its script
    /// takes the same answers in the same order, however fast the machine is.
    clock: Instant,
    /// How many answers have gone before one that is due.
    held_up: u32,
    /// How to end what workers are doing.
    aborts: HashMap<EffectId, Abort>,
    /// The rounds that the Host listens in on.
    pub(super) taps: Taps,
    pool: Pool,
    /// How many stops have been seen.
    stops: u64,
    /// What was in flight when a stop landed that the run has not been told of yet.
    stopped: Option<Vec<EffectId>>,
}

/// What a run goes on with.
pub(super) enum Next {
    Answer(Queued),
    /// A stop has landed on these effects.
    Stop(Vec<EffectId>),
    Cancelled,
}

/// An answer in line.
pub(super) struct Queued {
    pub(super) id: EffectId,
    pub(super) answer: Answer,
    /// Whether a worker has brought it.
    pub(super) is_fetched: bool,
    /// Whether it is a timer's that has let others go first already.
    ripe: bool,
}

impl Queued {
    pub(super) fn new(id: EffectId, answer: Answer) -> Self {
        Self {
            id,
            answer,
            is_fetched: false,
            ripe: false,
        }
    }

    fn is_timer(&self) -> bool {
        matches!(self.answer, Answer::Fired)
    }
}

/// How long nothing must have come before something is done ahead: answers come in bunches, and what
/// is done between two holds up the second.
const QUIET: Duration = Duration::from_micros(300);

impl Waiting {
    pub(super) fn new(outside: &Outside<'_>) -> Self {
        Self {
            answers: VecDeque::new(),
            due: BinaryHeap::new(),
            known: BTreeMap::new(),
            clock: Instant::now(),
            held_up: 0,
            aborts: HashMap::new(),
            taps: Taps::new(outside.debug.clone()),
            // The root chain needs no slot.
            pool: Pool::of(
                outside.workers.clone(),
                outside.limits.concurrency as usize + 1,
            ),
            stops: outside.stop.count(),
            stopped: None,
        }
    }

    /// Has a timer fire after a while.
    pub(super) fn fire_after(&mut self, span: Duration, id: EffectId) {
        self.answer_at(Instant::now(), span, id, Answer::Fired);
    }

    /// Has an answer come due a while after a moment.
    fn answer_at(&mut self, moment: Instant, span: Duration, id: EffectId, answer: Answer) {
        self.known.insert(id, answer);
        self.due.push(Reverse((moment + span.min(FAR), id)));
    }

    /// Has the broker answer a round. What must be asked outside is asked once the record has it.
    ///
    /// # Errors
    /// The recorder's.
    pub(super) fn ask(
        &mut self,
        id: EffectId,
        round: Arc<Round>,
        tap: Option<Tap>,
        outside: &Outside<'_>,
        journal: &mut Journal,
    ) -> io::Result<()> {
        let Some(broker) = outside.broker else {
            let failure = ModelFailure::new(FailureClass::NoGateway, None);
            let answer = Answer::Model(Err(failure));
            self.answers.push_back(Queued::new(id, answer));
            return Ok(());
        };
        let abort = Abort::default();
        let terms = Terms {
            response_cap: outside.limits.response_cap,
            receive_timeout: Duration::from_secs(outside.limits.receive_timeout),
            abort: abort.clone(),
            show: outside.show.clone().filter(|_| is_shown(&round)),
            tap,
        };
        let taken = broker.take(round, terms);
        if let Taken::Deed(_) = taken {
            journal.flush()?;
        }
        self.taps.requests();
        match taken {
            Taken::Known(Duration::ZERO, answer) => {
                let answer = Queued::new(id, Answer::Model(answer));
                self.answers.push_back(answer);
            }
            Taken::Known(span, answer) => {
                self.answer_at(self.clock, span, id, Answer::Model(answer));
            }
            Taken::Deed(deed) => {
                self.submit(id, abort, move || Answer::Model(deed()));
            }
        }
        Ok(())
    }

    /// Has a unit answer a tool call.
    pub(super) fn call(
        &mut self,
        id: EffectId,
        request: Arc<ToolRequest>,
        task: Arc<str>,
        outside: &Outside<'_>,
    ) {
        let abort = Abort::default();
        match outside.tools.take(request, task, abort.clone()) {
            Some(deed) => self.submit(id, abort, move || Answer::Tool(deed())),
            None => {
                let failure = ToolFailure::new(ToolClass::Backend, "no unit serves this tool");
                let answer = Answer::Tool(Err(failure));
                self.answers.push_back(Queued::new(id, answer));
            }
        }
    }

    /// Has a worker do what gives an answer.
    fn submit(
        &mut self,
        id: EffectId,
        abort: Abort,
        deed: impl FnOnce() -> Answer + Send + 'static,
    ) {
        self.aborts.insert(id, abort);
        if let Err(error) = self.pool.submit(id, deed) {
            let answer = Answer::Broken(format!("no worker could be started: {error}"));
            self.answers.push_back(Queued::new(id, answer));
        }
    }

    pub(super) fn look_for_stop(&mut self, outside: &Outside<'_>) {
        let stops = outside.stop.count();
        if std::mem::replace(&mut self.stops, stops) != stops {
            self.stopped = Some(self.in_flight());
        }
    }

    /// The effects that a stop reaches: all that are in flight, but the store's.
    fn in_flight(&self) -> Vec<EffectId> {
        let queued = self.answers.iter();
        let queued = queued.filter(|queued| !matches!(queued.answer, Answer::Store(_)));
        let mut ids: Vec<EffectId> = queued
            .map(|queued| queued.id)
            .chain(self.known.keys().copied())
            .chain(self.aborts.keys().copied())
            .collect();
        ids.sort();
        ids
    }

    /// Answers are not wanted any more.
    pub(super) fn withdraw(&mut self, withdrawn: &[(EffectId, Withdrawal)]) {
        let mut in_line = Vec::new();
        for (id, _) in withdrawn {
            self.taps.withdrawn(*id);
            match (self.known.remove(id), self.aborts.remove(id)) {
                (_, Some(abort)) => abort.abort(),
                (None, None) => in_line.push(*id),
                (Some(_), None) => {}
            }
        }
        if !in_line.is_empty() {
            self.answers
                .retain(|queued| in_line.binary_search(&queued.id).is_err());
        }
    }

    /// What comes next. `get_ahead` does a little while nothing comes for a moment, and says whether
    /// it did.
    pub(super) fn next(
        &mut self,
        outside: &Outside<'_>,
        mut get_ahead: impl FnMut() -> bool,
    ) -> Next {
        let mut is_quiet = false;
        loop {
            let limit = self.collect();
            self.taps.requests();
            self.look_for_stop(outside);
            if let Some(ids) = self.stopped.take() {
                return Next::Stop(ids);
            }
            if let Some(head) = self.take() {
                return Next::Answer(head);
            }
            if outside.cancel.is_cancelled() {
                return Next::Cancelled;
            }
            if is_quiet && get_ahead() {
                continue;
            }
            let limit = if is_quiet { limit } else { limit.min(QUIET) };
            match self.pool.next(limit) {
                Some((id, answer)) => self.performed(id, answer),
                None => is_quiet = true,
            }
        }
    }

    /// A worker is done; what was withdrawn meanwhile is dropped.
    fn performed(&mut self, id: EffectId, answer: Answer) {
        self.clock = self.clock.max(Instant::now());
        if self.aborts.remove(&id).is_some() {
            let is_fetched = true;
            let answer = Queued::new(id, answer);
            self.answers.push_back(Queued {
                is_fetched,
                ..answer
            });
        }
    }

    /// Puts in line what has come in, and says how long there is to wait for more.
    fn collect(&mut self) -> Duration {
        while let Some((id, answer)) = self.pool.ready() {
            self.performed(id, answer);
        }
        while let Some(Reverse((deadline, id))) = self.due.peek().copied() {
            if self.known.contains_key(&id) {
                let left = deadline.saturating_duration_since(Instant::now());
                if !left.is_zero() {
                    return left.min(LOOK);
                }
                // One at a time, since what it brings about may come before the next; but a timer
                // lets all others go first that are due (spec K205). A line that never ends, such as
                // that of a block which asks the store again and again, holds nothing up for good.
                let holds_up =
                    !self.answers.is_empty() && !self.answers.iter().any(Queued::is_timer);
                let is_timer = matches!(self.known.get(&id), Some(Answer::Fired));
                if holds_up && !is_timer && self.held_up < MOST_AHEAD {
                    self.held_up += 1;
                    break;
                }
                self.held_up = 0;
            }
            self.due.pop();
            if let Some(answer) = self.known.remove(&id) {
                self.clock = self.clock.max(deadline);
                self.answers.push_back(Queued::new(id, answer));
            }
        }
        LOOK
    }

    /// Takes the head of the line. A timer that gets there lets the other answers that are in line
    /// then go first, once (spec K205).
    fn take(&mut self) -> Option<Queued> {
        if self
            .answers
            .front()
            .is_some_and(|head| head.is_timer() && !head.ripe)
        {
            let (timers, others): (Vec<_>, Vec<_>) =
                self.answers.drain(..).partition(Queued::is_timer);
            let timers = timers.into_iter().map(|timer| Queued {
                ripe: true,
                ..timer
            });
            self.answers = others.into_iter().chain(timers).collect();
        }
        self.answers.pop_front()
    }
}

impl Drop for Waiting {
    /// Whatever is still in flight when a run ends is ended with it.
    fn drop(&mut self) {
        for abort in self.aborts.values() {
            abort.abort();
        }
    }
}
