//! Who answers what a prompt asks its operator (spec C2, T121 to T128).

mod keyboard;
mod terminal;

use std::io::{self, IsTerminal};
use std::sync::Arc;

use runvil::Event;
use runvil::harness::unit::{Answers, Operator};

use super::live::Live;
use terminal::Terminal;

/// The operator of a run.
pub enum Answering {
    /// What was said on the command line.
    Answers(Arc<Answers>),
    /// The person at the terminal.
    Terminal(Arc<Terminal>),
    /// Nobody.
    Nobody,
}

impl Answering {
    /// The answers, where there are any; else the terminal, where standard input is one and holds
    /// nothing else.
    pub fn new(answers: &[String], reads_stdin: bool, live: &Live) -> Self {
        if !answers.is_empty() {
            Self::Answers(Arc::new(Answers::new(answers)))
        } else if !reads_stdin && io::stdin().is_terminal() {
            Self::Terminal(Arc::new(Terminal::new(live.clone())))
        } else {
            Self::Nobody
        }
    }

    /// The operator, as a launch takes it.
    pub fn operator(&self) -> Option<Arc<dyn Operator>> {
        match self {
            Self::Answers(answers) => Some(answers.clone()),
            Self::Terminal(terminal) => Some(terminal.clone()),
            Self::Nobody => None,
        }
    }

    /// Follows the run: what a task says before it asks is what it asks about.
    pub fn observe(&self, event: &Event) {
        if let Self::Terminal(terminal) = self {
            terminal.observe(event);
        }
    }
}
