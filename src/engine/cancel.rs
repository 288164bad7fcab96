//! How a run is cancelled, and where that takes effect (spec K171 to K174, K211).

use super::effect::Withdrawal;
use super::outcome::Outcome;
use super::run::{Run, Wake};
use super::task::{State, TaskKey};

/// Where a cancel took effect (spec R14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelPoint {
    /// Before the step ran anything.
    Between,
    /// Within the step, when so many events and effects had been put out and effects dropped in it.
    /// Given that number, [`Run::cancel_after`] has the same step of another run end in the same way.
    After(usize),
}

impl Run {
    /// Asks the run to end as cancelled; [`Run::step`] must follow.
    pub fn cancel(&mut self) {
        self.cancel.raise();
    }

    /// Has the next step cancel the run by itself (spec R15): once so many events and effects have
    /// been put out and effects dropped in it, at the next place where a cancel is looked for. If Lua
    /// is running then, that is its next instruction; with 0 it is the first one that the step runs.
    /// A step that does not come so far goes on as if this had not been asked for.
    pub fn cancel_after(&mut self, progress: usize) {
        self.shared.outbox.cancel_after(progress);
    }

    /// Ends the run as cancelled: every waiting call is interrupted once, then every chain is torn
    /// down (spec K211).
    pub(super) fn cancelled(&mut self) {
        self.cancelled_at = Some(match self.stepping {
            false => CancelPoint::Between,
            true => CancelPoint::After(self.cancel.met_at().unwrap_or_default()),
        });
        let in_flight = std::mem::take(&mut self.in_flight).into_map();
        let interrupted = in_flight.keys().map(|id| (*id, Withdrawal::Interrupted));
        self.withdrawn.extend(interrupted);
        let waiting = in_flight.into_values().map(|effect| effect.task);
        let answered = self.ready.drain(..).chain(
            self.held
                .take()
                .and_then(|(task, wake)| Some((task, wake?))),
        );
        let answered = answered.filter(|(_, wake)| matches!(wake, Wake::Resume(_)));
        let tasks: Vec<TaskKey> = waiting.chain(answered.map(|(task, _)| task)).collect();
        for task in tasks {
            if let State::Resting(strand) = &mut self.record_mut(task).state {
                strand.interrupt();
            }
        }
        self.end(Outcome::Cancelled);
    }
}
