//! The loop around a run: what it asks for is performed, and the answers are handed in, one a step
//! (spec R7, K205).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet, VecDeque};
use std::time::{Duration, Instant};

use super::{Pool, Store};
use crate::engine::{Answer, Effect, EffectId, Event, Item, Outcome, Run};

/// How often a wait looks whether the run was cancelled.
const LOOK: Duration = Duration::from_millis(10);
/// A timer further away than this is as good as none.
const FAR: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// What is on its way back to a run.
struct Waiting {
    answers: VecDeque<Queued>,
    timers: BinaryHeap<Reverse<(Instant, EffectId)>>,
    withdrawn: HashSet<EffectId>,
    pool: Pool,
}

/// An answer in line.
struct Queued {
    id: EffectId,
    answer: Answer,
    /// Whether it is a timer's that has let others go first already.
    ripe: bool,
}

impl Queued {
    fn new(id: EffectId, answer: Answer) -> Self {
        Self {
            id,
            answer,
            ripe: false,
        }
    }

    fn is_timer(&self) -> bool {
        self.answer == Answer::Fired
    }
}

/// Steps a run to its outcome. Store operations are performed at once, on this thread; a timer is a
/// deadline and holds none.
pub(super) fn perform(
    mut run: Run,
    store: &Store,
    concurrency: u32,
    cancelled: &dyn Fn() -> bool,
    observe: &mut dyn FnMut(&Event),
) -> Outcome {
    let mut waiting = Waiting {
        answers: VecDeque::new(),
        timers: BinaryHeap::new(),
        withdrawn: HashSet::new(),
        // The root chain needs no slot.
        pool: Pool::new(concurrency as usize + 1),
    };
    loop {
        let step = run.step();
        let mut direct = None;
        for item in &step.items {
            if let Item::Event(event) = item {
                observe(event);
            }
        }
        // An effect starts once every event of its step was seen (spec R13), and is performed even
        // where the run has ended meanwhile (spec S44).
        for item in step.items {
            let Item::Effect(issued) = item else { continue };
            match issued.effect {
                Effect::Store { op, direct: first } => {
                    let answer = Answer::Store(store.perform(&op));
                    match first {
                        true => direct = Some((issued.id, answer)),
                        false => waiting.answers.push_back(Queued::new(issued.id, answer)),
                    }
                }
                Effect::Timer { seconds, .. } => waiting.set_timer(issued.id, seconds),
            }
        }
        waiting.withdrawn.extend(step.withdrawn);
        if let Some(outcome) = step.outcome {
            return outcome;
        }
        // A direct effect's answer is the next one taken (spec K205).
        if let Some((id, answer)) = direct {
            run.answer(id, answer);
        } else if !step.more
            && let Some((id, answer)) = waiting.next(cancelled)
        {
            run.answer(id, answer);
        }
    }
}

impl Waiting {
    fn set_timer(&mut self, id: EffectId, seconds: f64) {
        let span = Duration::try_from_secs_f64(seconds).unwrap_or(FAR).min(FAR);
        self.timers.push(Reverse((Instant::now() + span, id)));
    }

    /// The next answer; `None` when the run was cancelled meanwhile.
    fn next(&mut self, cancelled: &dyn Fn() -> bool) -> Option<(EffectId, Answer)> {
        loop {
            let limit = self.collect();
            if let Some(head) = self.take() {
                return Some((head.id, head.answer));
            }
            if cancelled() {
                return None;
            }
            if let Some((id, answer)) = self.pool.next(limit) {
                self.answers.push_back(Queued::new(id, answer));
            }
        }
    }

    /// Puts in line what has come in, and says how long there is to wait for more.
    fn collect(&mut self) -> Duration {
        while let Some((id, answer)) = self.pool.ready() {
            self.answers.push_back(Queued::new(id, answer));
        }
        while let Some(Reverse((deadline, id))) = self.timers.peek().copied() {
            if !self.withdrawn.remove(&id) {
                let left = deadline.saturating_duration_since(Instant::now());
                if !left.is_zero() {
                    return left.min(LOOK);
                }
                self.answers.push_back(Queued::new(id, Answer::Fired));
            }
            self.timers.pop();
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
