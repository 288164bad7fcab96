//! Asks for one round, and stops waiting where the session is over.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{self, Builder};
use std::time::Duration;

use crate::engine::model::{Model, Reply, Round};
use crate::harness::Limits;
use crate::harness::model::{Abort, Answered, Broker, Taken, Terms};
use crate::packet::failure::Failure;
use crate::packet::provider::failed_round::failed_round;
use crate::packet::provider::{Ended, Job};

/// How often the interrupt and the deadline are looked at.
const LOOK: Duration = Duration::from_millis(10);

/// What answers.
pub(super) struct Asking {
    pub(super) model: Model,
    pub(super) broker: Arc<dyn Broker>,
    pub(super) limits: Limits,
}

impl Asking {
    /// The reply to a round; how the session ended where there is none.
    pub(super) fn ask(&self, round: Round, job: &Job<'_>) -> Result<Box<Reply>, Box<Ended>> {
        let abort = Abort::default();
        let terms = Terms {
            response_cap: self.limits.response_cap,
            receive_timeout: Duration::from_secs(self.limits.receive_timeout),
            abort: abort.clone(),
            show: None,
            tap: None,
        };
        let answered = match self.broker.take(Arc::new(round), terms) {
            Taken::Known(delay, answered) => {
                let left = job.deadline.left();
                if !job.interrupt.wait(delay.min(left)) {
                    return Err(Box::new(Ended::Interrupted));
                }
                if left < delay {
                    return Err(Box::new(Ended::Failed(job.deadline.failure())));
                }
                answered
            }
            Taken::Deed(deed) => wait(deed, &abort, job)?,
        };
        answered.map_err(|failure| {
            let message = format!("Completion: {failure}");
            let failed: Failure = failed_round(message, Some(&failure));
            Box::new(Ended::Failed(failed))
        })
    }
}

/// Does a deed on a thread of its own, and gives it up where the session is over.
fn wait(
    deed: Box<dyn FnOnce() -> Answered + Send>,
    abort: &Abort,
    job: &Job<'_>,
) -> Result<Answered, Box<Ended>> {
    let (tell, told) = channel();
    thread::scope(|scope| {
        let ask = move || {
            // Nobody listens any more where the session is over.
            let _ = tell.send(deed());
        };
        let asking = Builder::new().spawn_scoped(scope, ask);
        let asking = asking.map_err(|error| Box::new(Ended::Failed(Failure::of_system(&error))))?;
        let ended = loop {
            match told.recv_timeout(LOOK) {
                Ok(answered) => break Ok(answered),
                Err(RecvTimeoutError::Disconnected) => {
                    let message = "Completion: what answers the rounds panicked".to_owned();
                    break Err(Ended::Failed(failed_round(message, None)));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let ended = match () {
                () if job.interrupt.is_raised() => Ended::Interrupted,
                () if job.deadline.is_over() => Ended::Failed(job.deadline.failure()),
                () => continue,
            };
            abort.abort();
            break Err(ended);
        };
        // Its panic has been told.
        let _ = asking.join();
        ended.map_err(Box::new)
    })
}
