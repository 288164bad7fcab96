//! The moments of a record's lines.

use clocks::{Moment, now, tick};

/// Whole milliseconds since the first line of a record, which never go back.
#[derive(Debug)]
pub(super) struct Clock {
    start: Moment,
    /// How many of them there were before `start`.
    before: u64,
    last: u64,
    tick: Moment,
}

impl Clock {
    /// Begins, after so many milliseconds.
    pub(super) fn new(before: u64) -> Self {
        let start = now();
        Self {
            start,
            before,
            last: before,
            tick: start,
        }
    }

    /// The moment.
    pub(super) fn now(&mut self) -> u64 {
        self.at(now())
    }

    /// The moment of the system's last tick, a few milliseconds ago at most. To ask for it takes a
    /// fraction of the time.
    #[inline]
    pub(super) fn tick(&mut self) -> u64 {
        let tick = tick();
        // It comes every few milliseconds, and is asked for every few microseconds.
        if tick != self.tick {
            self.tick = tick;
            self.at(tick);
        }
        self.last
    }

    /// The moment that was given last.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    #[inline]
    fn at(&mut self, moment: Moment) -> u64 {
        let here = self.before.saturating_add(moment.millis_since(self.start));
        self.last = self.last.max(here);
        self.last
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod clocks {
    use rustix::time::{ClockId, Timespec, clock_gettime};

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Moment(Timespec);

    pub(super) fn now() -> Moment {
        Moment(clock_gettime(ClockId::Monotonic))
    }

    /// The same clock, as far as it went at the last tick.
    pub(super) fn tick() -> Moment {
        Moment(clock_gettime(ClockId::MonotonicCoarse))
    }

    impl Moment {
        /// None where it is earlier.
        pub(super) fn millis_since(self, start: Self) -> u64 {
            let span = self.0.checked_sub(start.0);
            let millis = span.and_then(|span| {
                let seconds = u64::try_from(span.tv_sec).ok()?;
                let millis = u64::try_from(span.tv_nsec / 1_000_000).ok()?;
                seconds.checked_mul(1000)?.checked_add(millis)
            });
            millis.unwrap_or(0)
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod clocks {
    use std::time::Instant;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Moment(Instant);

    pub(super) fn now() -> Moment {
        Moment(Instant::now())
    }

    pub(super) use now as tick;

    impl Moment {
        pub(super) fn millis_since(self, start: Self) -> u64 {
            let span = self.0.saturating_duration_since(start.0);
            u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;

    #[test]
    fn moments_pass_and_never_go_back() {
        // spec R14
        let mut clock = Clock::new(5);
        let mut last = 5;
        for round in 0..200 {
            let at = if round % 3 == 0 {
                clock.now()
            } else {
                clock.tick()
            };
            assert!(at >= last && clock.last() == at);
            last = at;
            if round % 50 == 0 {
                sleep(Duration::from_millis(30));
                assert!(
                    clock.tick() >= last + 10,
                    "ticks come at least a hundred times a second"
                );
                last = clock.last();
            }
        }
        assert!((125..10_000).contains(&clock.now()));
    }
}
