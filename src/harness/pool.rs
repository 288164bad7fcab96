//! The worker pool: blocking deeds off the run's own thread, answers back in one line (spec R7).

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::line::Line;
use crate::engine::{Answer, EffectId};

/// How long a thread stays awake for what may come.
const MOMENT: Duration = Duration::from_micros(50);

type Job = Box<dyn FnOnce() -> Answer + Send>;
type Jobs = Line<(EffectId, Job)>;
type Answers = Line<(EffectId, Answer)>;

/// Threads that perform blocking deeds for a run. None is started before the first deed, and never
/// more than the most that was allowed. A deed that panics is answered as broken.
#[derive(Debug)]
pub struct Pool {
    most: usize,
    threads: Vec<JoinHandle<()>>,
    /// Deeds that were submitted and not answered.
    busy: Arc<AtomicUsize>,
    jobs: Arc<Jobs>,
    answers: Arc<Answers>,
}

impl Pool {
    /// A pool of at most so many threads; at least one.
    pub fn new(most: usize) -> Self {
        Self {
            most: most.max(1),
            threads: Vec::new(),
            busy: Arc::default(),
            jobs: Arc::default(),
            answers: Arc::default(),
        }
    }

    /// How many threads have been started.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Hands a deed to a worker. A thread is started where all are busy and one more is allowed.
    ///
    /// # Errors
    /// The system's own error, where no thread could be started and there is none.
    pub fn submit(
        &mut self,
        id: EffectId,
        deed: impl FnOnce() -> Answer + Send + 'static,
    ) -> std::io::Result<()> {
        let busy = self.busy.fetch_add(1, Ordering::AcqRel);
        if busy >= self.threads.len() && self.threads.len() < self.most {
            match self.start() {
                Ok(thread) => self.threads.push(thread),
                Err(error) if self.threads.is_empty() => {
                    self.busy.fetch_sub(1, Ordering::AcqRel);
                    return Err(error);
                }
                Err(_) => {}
            }
        }
        self.jobs.push((id, Box::new(deed)));
        Ok(())
    }

    /// The next answer, waited for no longer than `limit`; `None` when the time is up.
    pub fn next(&self, limit: Duration) -> Option<(EffectId, Answer)> {
        let alone = self.busy.load(Ordering::Acquire) <= 1;
        soon(&self.answers, alone).or_else(|| self.answers.wait(Instant::now().checked_add(limit)))
    }

    /// The next answer that is there already.
    pub fn ready(&self) -> Option<(EffectId, Answer)> {
        self.answers.pop()
    }

    fn start(&self) -> std::io::Result<JoinHandle<()>> {
        let (jobs, answers, busy) = (self.jobs.clone(), self.answers.clone(), self.busy.clone());
        Builder::new()
            .name("runvil-worker".to_owned())
            .spawn(move || {
                let next = || {
                    let alone = busy.load(Ordering::Acquire) <= 1;
                    soon(&jobs, alone).or_else(|| jobs.wait(None))
                };
                while let Some((id, deed)) = next() {
                    let answer = catch_unwind(AssertUnwindSafe(deed))
                        .unwrap_or_else(|panic| Answer::Broken(panic_text(&*panic)));
                    busy.fetch_sub(1, Ordering::AcqRel);
                    answers.push((id, answer));
                }
            })
    }
}

impl Drop for Pool {
    /// Deeds that no worker has begun are dropped, and every worker ends after the deed it is in.
    /// Where all are idle they are joined; where one is busy none is waited for.
    fn drop(&mut self) {
        while self.jobs.pop().is_some() {
            self.busy.fetch_sub(1, Ordering::AcqRel);
        }
        self.jobs.close();
        if self.busy.load(Ordering::Acquire) == 0 {
            for thread in self.threads.drain(..) {
                // A worker catches what its deeds panic with, so it ends well.
                let _ = thread.join();
            }
        }
    }
}

/// What gets in line within a moment, where nothing else is under way. To fall asleep and be woken
/// costs more than that, and one answer often leads straight to the next deed.
fn soon<T>(line: &Line<T>, alone: bool) -> Option<T> {
    let end = Instant::now() + MOMENT;
    loop {
        match line.pop() {
            None if alone && Instant::now() < end => std::hint::spin_loop(),
            taken => return taken,
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!(
        "a worker panicked: {}",
        text.as_deref().unwrap_or("no message")
    )
}
