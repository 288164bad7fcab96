//! Answers that are there before anybody asks.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Operator, Question};

/// An operator whose answers are given out in the order in which the questions are asked (spec C2).
#[derive(Debug, Default)]
pub struct Answers(Mutex<VecDeque<String>>);

impl Answers {
    /// These answers, in this order.
    pub fn new(answers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(Mutex::new(answers.into_iter().map(Into::into).collect()))
    }

    fn next(&self) -> Result<String, String> {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        left.pop_front()
            .ok_or_else(|| "no operator answer is left".to_owned())
    }
}

impl Operator for Answers {
    fn ask(&self, _: &Question) -> Result<String, String> {
        self.next()
    }

    fn take(self: Arc<Self>, _: Question) -> Box<dyn FnOnce() -> Result<String, String> + Send> {
        let answer = self.next();
        Box::new(move || answer)
    }
}
