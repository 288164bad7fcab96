//! What a run's broker and operator are told of rounds and questions that the record of a resumed
//! run has answers to (spec C2, C8): those go by in their order among the ones that are asked again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::EffectId;
use crate::engine::model::Round;
use crate::harness::model::{Broker, Taken, Terms};
use crate::harness::unit::{Operator, Question};

/// Asked for in the record, in issue order, each with whether the record has an answer.
#[derive(Debug)]
pub(super) struct Asked<T>(VecDeque<(EffectId, T, bool)>);

impl<T> Default for Asked<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> Asked<T> {
    /// One more was asked.
    pub(super) fn ask(&mut self, id: EffectId, what: T) {
        self.0.push_back((id, what, false));
    }

    /// It was answered, or its answer was not wanted any more. What goes by is handed to `skip`:
    /// all before the first that has no answer.
    pub(super) fn close(&mut self, id: EffectId, mut skip: impl FnMut(&T)) {
        if let Ok(at) = self.0.binary_search_by_key(&id, |(id, ..)| *id)
            && let Some((.., is_closed)) = self.0.get_mut(at)
        {
            *is_closed = true;
        }
        self.skip_closed(&mut skip);
    }

    /// The next that is asked again: all before it goes by.
    fn take(&mut self, mut skip: impl FnMut(&T)) {
        self.skip_closed(&mut skip);
        self.0.pop_front();
        self.skip_closed(&mut skip);
    }

    fn skip_closed(&mut self, skip: &mut impl FnMut(&T)) {
        while self.0.front().is_some_and(|(.., is_closed)| *is_closed) {
            if let Some((_, what, _)) = self.0.pop_front() {
                skip(&what);
            }
        }
    }
}

/// A broker to whom rounds of the record go by.
#[derive(Debug)]
pub(super) struct Resumed<B: ?Sized, T> {
    pub(super) inner: Arc<B>,
    pub(super) asked: Mutex<Asked<T>>,
}

impl Broker for Resumed<dyn Broker, Arc<Round>> {
    fn take(&self, round: Arc<Round>, terms: Terms) -> Taken {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        // What follows goes by after it is taken.
        asked.skip_closed(&mut |round| self.inner.skip(round));
        let taken = self.inner.take(round, terms);
        asked.take(|round| self.inner.skip(round));
        taken
    }
}

impl Operator for Resumed<dyn Operator, ()> {
    fn ask(&self, question: &Question) -> Result<String, String> {
        self.inner.ask(question)
    }

    fn take(
        self: Arc<Self>,
        question: Question,
    ) -> Box<dyn FnOnce() -> Result<String, String> + Send> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.skip_closed(&mut |()| self.inner.skip());
        let taken = self.inner.clone().take(question);
        asked.take(|()| self.inner.skip());
        taken
    }
}
