//! How long a session may take (spec P125).

use std::time::{Duration, Instant};

use crate::packet::failure::{Failure, FailureClass};

/// The end of a session's time, resumes included.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    begun: Instant,
    bound: Duration,
}

impl Deadline {
    /// So long from now on.
    pub fn after(bound: Duration) -> Self {
        Self {
            begun: Instant::now(),
            bound,
        }
    }

    /// How much time is left; zero when it is over.
    pub fn left(&self) -> Duration {
        self.bound.saturating_sub(self.begun.elapsed())
    }

    /// Whether the time is over.
    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    /// The failure of a session whose time is over.
    pub fn failure(&self) -> Failure {
        let ms = self.bound.as_millis();
        let message = format!("run deadline of {ms} ms exceeded");
        Failure::new(FailureClass::PROVIDER_RUNTIME_CLAIM, message)
    }
}
