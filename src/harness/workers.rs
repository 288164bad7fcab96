//! The threads that runs borrow for what blocks (spec R7).

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// How long a Host keeps a thread that it does not need.
const KEPT: Duration = Duration::from_secs(10);

/// How long one stays awake that may be needed again at once: to fall asleep and be woken costs
/// more than that.
pub(super) const MOMENT: Duration = Duration::from_micros(50);

/// Something to do. Whether more may follow on it at once.
type Work = Box<dyn FnOnce(&mut Turn<'_>) -> bool + Send>;

/// A thread's turn at something to do.
pub(super) struct Turn<'a> {
    crew: &'a Crew,
    over: bool,
}

impl Turn<'_> {
    /// Says that all that takes time is done: whoever learns from what is left that it is done finds
    /// the thread idle, and does not start another.
    pub(super) fn over(&mut self) {
        if !std::mem::replace(&mut self.over, true) {
            self.crew.state().awake += 1;
        }
    }
}

/// Threads that outlive what they do: the next run of a Host takes those that the one before has
/// given back. None is there before it is needed. They end some time after they were last needed,
/// or once the last clone of this is gone.
#[derive(Clone, Debug, Default)]
pub(super) struct Workers(Arc<Owned>);

#[derive(Debug, Default)]
struct Owned(Arc<Crew>);

struct Crew {
    /// How long a thread that nobody needs is kept.
    kept: Duration,
    state: Mutex<State>,
    filled: Condvar,
}

#[derive(Default)]
struct State {
    /// What no thread has taken yet, each with its number.
    works: VecDeque<(u64, Work)>,
    /// The number of the next.
    next: u64,
    /// The threads that have nothing to do: those awake, which look for more before they fall
    /// asleep, and those asleep.
    awake: usize,
    asleep: usize,
    /// How many threads are on their way.
    starting: usize,
    closed: bool,
}

impl Default for Crew {
    fn default() -> Self {
        Self {
            kept: KEPT,
            state: Mutex::default(),
            filled: Condvar::new(),
        }
    }
}

impl State {
    /// Whether there is more to do than there are threads for, those on their way included.
    fn wants_thread(&self) -> bool {
        self.works.len() > self.awake + self.asleep + self.starting
    }
}

impl Workers {
    /// Has a thread do something: one that is idle, or else a new one. `work` says whether more is
    /// likely to follow at once.
    ///
    /// # Errors
    /// The system's own error, where a thread was needed and could not be started.
    pub(super) fn lend(
        &self,
        work: impl FnOnce(&mut Turn<'_>) -> bool + Send + 'static,
    ) -> io::Result<()> {
        let crew = &self.0.0;
        let mut state = crew.state();
        let number = state.next;
        state.next += 1;
        state.works.push_back((number, Box::new(work)));
        let (wants_thread, wakes) = (state.wants_thread(), state.works.len() > state.awake);
        state.starting += usize::from(wants_thread);
        drop(state);
        if !wants_thread {
            if wakes {
                crew.filled.notify_one();
            }
            return Ok(());
        }
        let Err(error) = crew.start() else {
            return Ok(());
        };
        let works = &mut crew.state().works;
        match works.iter().position(|(other, _)| *other == number) {
            Some(at) => {
                works.remove(at);
                Err(error)
            }
            // Another thread has it.
            None => Ok(()),
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.state().closed = true;
        self.0.filled.notify_all();
    }
}

impl Crew {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the thread that was said to be on its way.
    fn start(self: &Arc<Self>) -> io::Result<()> {
        let crew = self.clone();
        let thread = Builder::new().name("runvil-worker".to_owned());
        let started = thread.spawn(move || crew.serve());
        if started.is_err() {
            self.state().starting -= 1;
        }
        started.map(drop)
    }

    /// What a thread does from its start to its end.
    fn serve(&self) {
        let (mut arrives, mut stays_awake) = (true, false);
        while let Some(work) = self.next(std::mem::take(&mut arrives), stays_awake) {
            let mut turn = Turn {
                crew: self,
                over: false,
            };
            stays_awake = work(&mut turn);
            turn.over();
        }
    }

    /// The next work of a thread, which `arrives` if it has just started, and counts as awake
    /// otherwise; none where there is none for long, or the crew is dismissed.
    fn next(&self, arrives: bool, stays_awake: bool) -> Option<Work> {
        let mut state = match stays_awake {
            true => self.look_out(),
            false => self.state(),
        };
        match arrives {
            true => state.starting -= 1,
            false => state.awake -= 1,
        }
        let until = Instant::now() + self.kept;
        loop {
            if let Some((_, work)) = state.works.pop_front() {
                return Some(work);
            }
            let left = until.saturating_duration_since(Instant::now());
            if state.closed || left.is_zero() {
                return None;
            }
            state.asleep += 1;
            let woken = self.filled.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
            state.asleep -= 1;
        }
    }

    /// Looks again and again for a moment whether there is something to do.
    fn look_out(&self) -> MutexGuard<'_, State> {
        let end = Instant::now() + MOMENT;
        loop {
            let state = self.state();
            if !state.works.is_empty() || state.closed || Instant::now() >= end {
                return state;
            }
            drop(state);
            for _ in 0..64 {
                std::hint::spin_loop();
            }
        }
    }
}

impl fmt::Debug for Crew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crew").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Weak;
    use std::sync::mpsc::channel;
    use std::thread::{ThreadId, current, sleep};

    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    fn keeping(kept: Duration) -> Workers {
        Workers(Arc::new(Owned(Arc::new(Crew {
            kept,
            ..Crew::default()
        }))))
    }

    /// Has a thread say who it is.
    fn ask(workers: &Workers, stays_awake: bool) -> ThreadId {
        let (tell, told) = channel();
        let lent = workers.lend(move |turn| {
            turn.over();
            tell.send(current().id()).expect("is awaited");
            stays_awake
        });
        lent.expect("a thread");
        told.recv_timeout(LONG).expect("an answer")
    }

    /// Waits until this many threads are idle.
    fn idle(workers: &Workers, count: usize) {
        let begun = Instant::now();
        loop {
            let state = workers.0.0.state();
            if state.awake + state.asleep == count && state.works.is_empty() {
                return;
            }
            drop(state);
            assert!(begun.elapsed() < LONG, "no {count} threads are idle");
            sleep(Duration::from_micros(100));
        }
    }

    /// Waits until so many hold on to a crew; each thread of it does.
    fn left(crew: &Weak<Crew>, count: usize) {
        let begun = Instant::now();
        while crew.strong_count() > count {
            assert!(begun.elapsed() < LONG, "a thread is left");
            sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn an_idle_thread_takes_what_comes_next() {
        // spec R7
        for stays_awake in [false, true] {
            let workers = Workers::default();
            let first = ask(&workers, stays_awake);
            for _ in 0..1000 {
                assert_eq!(ask(&workers, stays_awake), first);
            }
        }
    }

    #[test]
    fn whatever_is_lent_at_once_runs_at_once_each_on_a_thread() {
        let workers = Workers::default();
        for _ in 0..3 {
            let (tell, told) = channel();
            let gates: Vec<_> = (0..40)
                .map(|_| {
                    let (open, gate) = channel::<()>();
                    let tell = tell.clone();
                    let lent = workers.lend(move |_| {
                        tell.send(current().id()).expect("is awaited");
                        // Until it is dropped.
                        let _ = gate.recv();
                        false
                    });
                    lent.expect("a thread");
                    open
                })
                .collect();
            let threads: HashSet<ThreadId> = (0..40)
                .map(|_| told.recv_timeout(LONG).expect("all run"))
                .collect();
            assert_eq!(threads.len(), 40);
            drop(gates);
            // The next go takes the same ones.
            idle(&workers, 40);
        }
    }

    #[test]
    fn a_thread_that_nobody_needs_ends() {
        let workers = keeping(Duration::from_millis(20));
        let first = ask(&workers, false);
        left(&Arc::downgrade(&workers.0.0), 1);
        assert_ne!(ask(&workers, false), first, "a new one is started");
    }

    #[test]
    fn threads_end_with_their_host_after_what_they_do() {
        let workers = Workers::default();
        let crew = Arc::downgrade(&workers.0.0);
        let (open, gate) = channel::<()>();
        let (hold, held) = channel::<()>();
        let lent = workers.lend(move |_| {
            let _ = gate.recv();
            drop(hold);
            true
        });
        lent.expect("a thread");
        drop(workers);
        drop(open);
        assert!(held.recv_timeout(LONG).is_err(), "it is done");
        left(&crew, 0);
    }
}
