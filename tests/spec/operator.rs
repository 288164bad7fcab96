//! The operator of a case.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use runvil::harness::unit::{Answers, Operator, Question};
use serde::Deserialize;

/// What the operator answers, in the order of the questions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperatorSetup {
    answers: Vec<String>,
    #[serde(default)]
    after_ms: u64,
}

impl OperatorSetup {
    /// The operator as a launch takes it.
    pub fn operator(&self) -> Arc<dyn Operator> {
        Arc::new(Slow {
            answers: Arc::new(Answers::new(&self.answers)),
            after: Duration::from_millis(self.after_ms),
        })
    }
}

/// An operator who takes a while to answer.
#[derive(Debug)]
struct Slow {
    answers: Arc<Answers>,
    after: Duration,
}

impl Operator for Slow {
    fn ask(&self, question: &Question) -> Result<String, String> {
        thread::sleep(self.after);
        self.answers.ask(question)
    }

    fn take(
        self: Arc<Self>,
        question: Question,
    ) -> Box<dyn FnOnce() -> Result<String, String> + Send> {
        let answer = self.answers.clone().take(question);
        Box::new(move || {
            thread::sleep(self.after);
            answer()
        })
    }
}
