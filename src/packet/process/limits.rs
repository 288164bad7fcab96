//! What a program that runs is held to.

use std::time::{Duration, Instant};

use crate::harness::CancelToken;

/// A bound that nothing reaches.
pub(super) const NEVER: Duration = Duration::MAX;

/// How long a group has between the request to end and its end.
const GRACE: Duration = Duration::from_secs(2);
/// How long it has where a person asked (spec P121).
const LONG_GRACE: Duration = Duration::from_secs(10);

/// The bounds of a program.
#[derive(Clone, Copy, Debug)]
pub(in crate::packet) struct Limits<'a> {
    /// How long it may run.
    pub(in crate::packet) timeout: Duration,
    /// How long it may write nothing.
    pub(in crate::packet) idle: Duration,
    /// The most bytes that it may write.
    pub(in crate::packet) most: u64,
    /// Asks its group to end.
    pub(in crate::packet) stop: Option<&'a CancelToken>,
    /// Kills its group at once.
    pub(in crate::packet) kill: &'a CancelToken,
}

/// Why a program was not let run to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::packet) enum Cut {
    /// It was interrupted.
    Interrupted,
    /// Its time was up.
    Late,
    /// It wrote nothing for too long.
    Idle,
    /// It wrote too much.
    Flooded,
}

impl Cut {
    /// How long the group has to end by itself.
    pub(super) fn grace(self) -> Duration {
        match self {
            Self::Interrupted => LONG_GRACE,
            Self::Late | Self::Idle | Self::Flooded => GRACE,
        }
    }
}

/// How far a program has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached {
    /// When it was started.
    pub(super) begun: Instant,
    /// When it last wrote something.
    pub(super) heard: Instant,
    /// How many bytes it has written.
    pub(super) taken: u64,
}

impl Limits<'_> {
    /// The bound that is passed, if one is.
    pub(super) fn passed(&self, reached: &Reached) -> Option<Cut> {
        if self.stop.is_some_and(CancelToken::is_cancelled) {
            Some(Cut::Interrupted)
        } else if reached.begun.elapsed() >= self.timeout {
            Some(Cut::Late)
        } else if reached.taken > self.most {
            Some(Cut::Flooded)
        } else if reached.heard.elapsed() >= self.idle {
            Some(Cut::Idle)
        } else {
            None
        }
    }

    /// How long it is at least until a bound of time is passed.
    pub(super) fn left(&self, reached: &Reached) -> Duration {
        let left = self.timeout.saturating_sub(reached.begun.elapsed());
        left.min(self.idle.saturating_sub(reached.heard.elapsed()))
    }
}
