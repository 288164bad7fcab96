//! A line of things that threads wait for.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// First in, first out, without a bound. Who waits sleeps at once: a channel looks again and again
/// first, and two hundred threads that do so take the processor from those that have work.
pub(super) struct Line<T> {
    state: Mutex<State<T>>,
    /// How many are in line, to look without the lock.
    length: AtomicUsize,
    filled: Condvar,
}

struct State<T> {
    items: VecDeque<T>,
    /// How many threads wait.
    waiting: usize,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                items: VecDeque::new(),
                waiting: 0,
            }),
            length: AtomicUsize::new(0),
            filled: Condvar::new(),
        }
    }
}

impl<T> Line<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts something at the end. One of those that wait is woken.
    pub(super) fn push(&self, item: T) {
        let mut state = self.state();
        state.items.push_back(item);
        self.length.store(state.items.len(), Ordering::Release);
        let is_awaited = state.waiting > 0;
        drop(state);
        if is_awaited {
            self.filled.notify_one();
        }
    }

    /// Takes what is first, if there is anything.
    pub(super) fn pop(&self) -> Option<T> {
        match self.length.load(Ordering::Acquire) {
            0 => None,
            _ => self.take(&mut self.state()),
        }
    }

    /// Takes what is first, and waits for it until a moment, or for as long as it takes. `None` when
    /// the time is up.
    pub(super) fn wait(&self, until: Option<Instant>) -> Option<T> {
        let mut state = self.state();
        loop {
            if let Some(item) = self.take(&mut state) {
                return Some(item);
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return None;
            }
            state.waiting += 1;
            state = match left {
                None => {
                    let woken = self.filled.wait(state);
                    woken.unwrap_or_else(PoisonError::into_inner)
                }
                Some(left) => {
                    let woken = self.filled.wait_timeout(state, left);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            state.waiting -= 1;
        }
    }

    fn take(&self, state: &mut State<T>) -> Option<T> {
        let item = state.items.pop_front()?;
        self.length.store(state.items.len(), Ordering::Release);
        Some(item)
    }
}

impl<T> fmt::Debug for Line<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line")
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}
