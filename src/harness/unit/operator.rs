//! The operator: who answers what a run asks (spec T121 to T128).

use std::fmt;
use std::sync::Arc;

use crate::harness::model::Abort;

/// A question to the operator. What it is about the operator has seen in the run's events.
#[derive(Clone, Debug)]
pub struct Question {
    /// The task that asks.
    pub task: Arc<str>,
    /// Set off when the answer is not wanted any more.
    pub abort: Abort,
}

/// Answers what runs ask their operator. One operator may serve several runs at once.
pub trait Operator: fmt::Debug + Send + Sync + 'static {
    /// Answers a question, on a worker thread. A stop leaves it open (spec T105); once the
    /// question's abort is set off the answer is not wanted any more, and this returns soon.
    ///
    /// # Errors
    /// Why there is no answer, as the prompt is told (spec T127).
    fn ask(&self, question: &Question) -> Result<String, String>;

    /// Takes a question in the order in which the run asks, on the run's own thread, so it must not
    /// block: what takes time is the deed it gives back, which a worker thread does. By default
    /// that is [`Operator::ask`].
    fn take(
        self: Arc<Self>,
        question: Question,
    ) -> Box<dyn FnOnce() -> Result<String, String> + Send> {
        Box::new(move || self.ask(&question))
    }
}
