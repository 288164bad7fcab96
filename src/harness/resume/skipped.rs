//! What a run's broker is told of rounds that the record of a resumed run has answers to (spec C8):
//! those go by in their order among the ones that are asked again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::EffectId;
use crate::engine::model::Round;
use crate::harness::model::{Broker, Taken, Terms};

/// The rounds of the record, in issue order, each with whether the record has an answer.
#[derive(Debug, Default)]
pub(super) struct Asked(VecDeque<(EffectId, Arc<Round>, bool)>);

impl Asked {
    /// One more was asked.
    pub(super) fn ask(&mut self, id: EffectId, round: Arc<Round>) {
        self.0.push_back((id, round, false));
    }

    /// It was answered, or its answer was not wanted any more. What goes by is handed to `skip`:
    /// all before the first that has no answer.
    pub(super) fn close(&mut self, id: EffectId, mut skip: impl FnMut(&Round)) {
        if let Ok(at) = self.0.binary_search_by_key(&id, |(id, ..)| *id)
            && let Some((.., is_closed)) = self.0.get_mut(at)
        {
            *is_closed = true;
        }
        self.skip_closed(&mut skip);
    }

    /// The next that is asked again: all before it goes by.
    fn take(&mut self, mut skip: impl FnMut(&Round)) {
        self.skip_closed(&mut skip);
        self.0.pop_front();
        self.skip_closed(&mut skip);
    }

    fn skip_closed(&mut self, skip: &mut impl FnMut(&Round)) {
        while self.0.front().is_some_and(|(.., is_closed)| *is_closed) {
            if let Some((_, round, _)) = self.0.pop_front() {
                skip(&round);
            }
        }
    }
}

/// A broker to whom rounds of the record go by.
#[derive(Debug)]
pub(super) struct Resumed {
    pub(super) inner: Arc<dyn Broker>,
    pub(super) asked: Mutex<Asked>,
}

impl Broker for Resumed {
    fn take(&self, round: Arc<Round>, terms: Terms) -> Taken {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        // What follows goes by after it is taken.
        asked.skip_closed(&mut |round| self.inner.skip(round));
        let taken = self.inner.take(round, terms);
        asked.take(|round| self.inner.skip(round));
        taken
    }
}
