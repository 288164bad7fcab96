//! The worker pool: blocking deeds off the run's own thread, answers back in one line (spec R7).

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::line::Line;
use super::workers::{MOMENT, Turn, Workers};
use crate::engine::{Answer, EffectId};

type Deed = Box<dyn FnOnce() -> Answer + Send>;

/// Performs blocking deeds for a run: on no more threads at once than the most that was allowed, and
/// on none before the first deed. A deed that panics is answered as broken.
#[derive(Debug)]
pub struct Pool {
    most: usize,
    workers: Workers,
    /// The most threads it has had at once.
    threads: usize,
    shared: Arc<Shared>,
}

/// What a pool has in common with the threads that work for it.
#[derive(Default)]
struct Shared {
    deeds: Mutex<Deeds>,
    answers: Line<(EffectId, Answer)>,
}

#[derive(Default)]
struct Deeds {
    /// Those that no thread has begun.
    queue: VecDeque<(EffectId, Deed)>,
    /// How many threads are at them, or on their way.
    busy: usize,
}

impl Pool {
    /// A pool of at most so many threads, all its own; at least one.
    pub fn new(most: usize) -> Self {
        Self::of(Workers::default(), most)
    }

    /// A pool that borrows at most so many threads; at least one.
    pub(super) fn of(workers: Workers, most: usize) -> Self {
        Self {
            most: most.max(1),
            workers,
            threads: 0,
            shared: Arc::default(),
        }
    }

    /// The most threads it has had at once.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Hands in a deed. A thread is taken for it where one more is allowed; else it waits for one.
    ///
    /// # Errors
    /// The system's own error, where no thread could be started and there is none.
    pub fn submit(
        &mut self,
        id: EffectId,
        deed: impl FnOnce() -> Answer + Send + 'static,
    ) -> std::io::Result<()> {
        let mut deeds = self.shared.deeds();
        deeds.queue.push_back((id, Box::new(deed)));
        if deeds.busy == self.most {
            return Ok(());
        }
        deeds.busy += 1;
        self.threads = self.threads.max(deeds.busy);
        drop(deeds);
        let shared = self.shared.clone();
        let lent = self.workers.lend(move |turn| shared.work(turn));
        lent.or_else(|error| {
            let mut deeds = self.shared.deeds();
            deeds.busy -= 1;
            // Where nobody else comes for it.
            match deeds.busy == 0 && deeds.queue.pop_back().is_some() {
                true => Err(error),
                false => Ok(()),
            }
        })
    }

    /// The next answer, waited for no longer than `limit`; `None` when the time is up.
    pub fn next(&self, limit: Duration) -> Option<(EffectId, Answer)> {
        let answers = &self.shared.answers;
        if self.shared.deeds().busy <= 1 {
            // One answer often leads straight to the next deed.
            let end = Instant::now() + MOMENT;
            while Instant::now() < end {
                if let Some(answer) = answers.pop() {
                    return Some(answer);
                }
                std::hint::spin_loop();
            }
        }
        answers.wait(Instant::now().checked_add(limit))
    }

    /// The next answer that is there already.
    pub fn ready(&self) -> Option<(EffectId, Answer)> {
        self.shared.answers.pop()
    }
}

impl Drop for Pool {
    /// Deeds that no thread has begun are dropped, and every thread is given back after the deed it
    /// is in. None is waited for.
    fn drop(&mut self) {
        let queue = std::mem::take(&mut self.shared.deeds().queue);
        drop(queue);
    }
}

impl Shared {
    fn deeds(&self) -> MutexGuard<'_, Deeds> {
        self.deeds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Performs deeds until none is left. Whether the next is likely to come at once: it often
    /// follows on an answer that all has waited for.
    fn work(&self, turn: &mut Turn<'_>) -> bool {
        let mut next = self.take(turn);
        while let (Some((id, deed)), _) = next {
            let answer = catch_unwind(AssertUnwindSafe(deed))
                .unwrap_or_else(|panic| Answer::Broken(panic_text(panic)));
            next = self.take(turn);
            self.answers.push((id, answer));
        }
        next.1
    }

    /// Takes the next deed. Where there is none, the thread's turn is over, and it is not busy any
    /// more: both at once, so that none is started in its place. Then also whether it was the only one.
    fn take(&self, turn: &mut Turn<'_>) -> (Option<(EffectId, Deed)>, bool) {
        let mut deeds = self.deeds();
        let deed = deeds.queue.pop_front();
        if deed.is_none() {
            turn.over();
            deeds.busy -= 1;
        }
        (deed, deeds.busy == 0)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

fn panic_text(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|panic| panic.downcast::<String>().map(|text| *text));
    let text = text.unwrap_or_else(|panic| {
        // To drop what a Host panics with may panic again.
        std::mem::forget(panic);
        "no message".to_owned()
    });
    format!("a worker panicked: {text}")
}
