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
    answers: VecDeque<(EffectId, Answer)>,
    timers: BinaryHeap<Reverse<(Instant, EffectId)>>,
    withdrawn: HashSet<EffectId>,
    pool: Pool,
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
                        false => waiting.answers.push_back((issued.id, answer)),
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

    /// The next answer; `None` when the run was cancelled meanwhile. Answers that are there come
    /// before a timer that has fired (spec K205).
    fn next(&mut self, cancelled: &dyn Fn() -> bool) -> Option<(EffectId, Answer)> {
        loop {
            if let Some(answer) = self.answers.pop_front().or_else(|| self.pool.ready()) {
                return Some(answer);
            }
            while let Some(Reverse((_, id))) = self.timers.peek()
                && self.withdrawn.remove(id)
            {
                self.timers.pop();
            }
            let mut limit = LOOK;
            if let Some(Reverse((deadline, id))) = self.timers.peek().copied() {
                let now = Instant::now();
                if deadline <= now {
                    self.timers.pop();
                    return Some((id, Answer::Fired));
                }
                limit = limit.min(deadline - now);
            }
            if cancelled() {
                return None;
            }
            if let Some(answer) = self.pool.next(limit) {
                return Some(answer);
            }
        }
    }
}
