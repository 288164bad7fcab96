//! What ends a run from outside (spec P121).

use std::thread;
use std::time::{Duration, Instant};

use crate::harness::CancelToken;

/// How long a wait goes on before it looks again.
const LOOK: Duration = Duration::from_millis(10);

/// The two calls to end a run. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    /// The first call: nothing new starts, what runs is asked to end.
    pub stop: CancelToken,
    /// The second: what is left is killed.
    pub kill: CancelToken,
}

impl Interrupt {
    /// Whether the run is to end.
    pub fn is_raised(&self) -> bool {
        self.stop.is_cancelled() || self.kill.is_cancelled()
    }

    /// Waits, but no longer than the run goes on. Whether it does.
    pub fn wait(&self, span: Duration) -> bool {
        let begun = Instant::now();
        while !self.is_raised() {
            let left = span.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return true;
            }
            thread::sleep(left.min(LOOK));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_with_the_run() {
        let interrupt = Interrupt::default();
        assert!(interrupt.wait(Duration::from_millis(1)));
        let other = interrupt.clone();
        let begun = Instant::now();
        thread::scope(|scope| {
            scope.spawn(|| other.stop.cancel());
            assert!(!interrupt.wait(Duration::from_secs(60)));
        });
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}
