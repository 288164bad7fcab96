//! A broker whose failures are kept: a run's own error no longer says of which class one was.

use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::model::{ModelFailure, Round};
use crate::harness::model::{Answered, Broker, Taken, Terms};

/// The failures of a run's rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Failures(Arc<Mutex<Vec<ModelFailure>>>);

impl Failures {
    fn note(&self, answered: Answered) -> Answered {
        if let Err(failure) = &answered {
            let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            failures.push(failure.clone());
        }
        answered
    }

    /// The failure that a message is about: the last one with this phrase, else the last one.
    pub(super) fn of(&self, message: &str) -> Option<ModelFailure> {
        let failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut newest = failures.iter().rev();
        let named = newest.find(|failure| message.contains(&failure.message));
        named.or_else(|| failures.last()).cloned()
    }
}

/// A broker that keeps what fails.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) broker: Arc<dyn Broker>,
    pub(super) failures: Failures,
}

impl Broker for Watched {
    fn take(&self, round: Arc<Round>, terms: Terms) -> Taken {
        let failures = self.failures.clone();
        match self.broker.take(round, terms) {
            Taken::Known(delay, answered) => Taken::Known(delay, failures.note(answered)),
            Taken::Deed(deed) => Taken::Deed(Box::new(move || failures.note(deed()))),
        }
    }

    fn skip(&self, round: &Round) {
        self.broker.skip(round);
    }
}
