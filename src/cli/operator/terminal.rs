//! The person at the terminal as a run's operator.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use runvil::Event;
use runvil::engine::EventKind;
use runvil::harness::unit::{Operator, Question};

use super::keyboard::Keyboard;
use crate::cli::cell::start_of;
use crate::cli::live::Live;

/// How often a question that waits for others looks whether it is its turn.
const TICK: Duration = Duration::from_millis(20);

/// The columns that the name of a section may take before what is typed.
const NAME: usize = 40;

/// Asks on standard error and reads the answer from standard input, one question at a time, in the
/// order in which they are asked.
pub struct Terminal {
    live: Live,
    /// What each task has told the person.
    told: Mutex<HashMap<Arc<str>, Told>>,
    queue: Arc<Mutex<Queue>>,
    keyboard: Mutex<Keyboard>,
}

/// Where a task is, and what it said last.
#[derive(Default)]
struct Told {
    section: Arc<str>,
    /// Empty where it has said nothing since it last asked.
    said: String,
}

/// The questions that are not answered, by number.
#[derive(Default)]
struct Queue {
    next: u64,
    open: VecDeque<u64>,
}

/// A question's place among them, which it leaves when this is dropped.
struct Place {
    queue: Arc<Mutex<Queue>>,
    number: u64,
}

impl Terminal {
    /// A terminal that shares standard error with the live block.
    pub fn new(live: Live) -> Self {
        Self {
            live,
            told: Mutex::default(),
            queue: Arc::default(),
            keyboard: Mutex::default(),
        }
    }

    /// Follows the run.
    pub fn observe(&self, event: &Event) {
        let mut told = lock(&self.told);
        let said = match &event.kind {
            EventKind::TaskEnded { task, .. } | EventKind::TaskAbandoned { task, .. } => {
                told.remove(task);
                return;
            }
            EventKind::Checkpoint { message } => Some(&**message),
            EventKind::AssistantReply(reply) => Some(&*reply.text),
            _ => None,
        };
        let told = told.entry(event.task.clone()).or_default();
        told.section = event.section.clone();
        if let Some(said) = said {
            said.clone_into(&mut told.said);
        }
    }

    /// The last place.
    fn place(&self) -> Place {
        let mut queue = lock(&self.queue);
        let number = queue.next;
        queue.next += 1;
        queue.open.push_back(number);
        Place {
            queue: self.queue.clone(),
            number,
        }
    }

    /// Asks when it is the question's turn.
    fn ask_at(&self, place: &Place, question: &Question) -> Result<String, String> {
        let is_wanted = || !question.abort.is_aborted();
        while !place.is_first() {
            if !is_wanted() {
                return Err(withdrawn());
            }
            thread::sleep(TICK);
        }
        self.show(place.number, &question.task);
        let (live, number) = (self.live.clone(), place.number);
        question.abort.on_abort(move || live.withdraw(number));
        let typed = lock(&self.keyboard).line(is_wanted);
        question.abort.clear();
        if let Some(Ok(Some(line))) = typed {
            self.live.answered(number);
            let text = String::from_utf8(line);
            return text.map_err(|_| "the operator's answer is not UTF-8 text".to_owned());
        }
        self.live.withdraw(number);
        Err(match typed {
            Some(Err(error)) => format!("the terminal cannot be read: {error}"),
            Some(Ok(_)) => "the operator gave no answer".to_owned(),
            None => withdrawn(),
        })
    }

    /// Shows what the task said before it asked, and then a line to answer in.
    fn show(&self, number: u64, task: &str) {
        let mut told = lock(&self.told);
        let (section, said) = match told.get_mut(task) {
            Some(told) => (told.section.clone(), std::mem::take(&mut told.said)),
            None => Default::default(),
        };
        drop(told);
        self.live
            .ask(number, &said, &format!("{}> ", start_of(&section, NAME)));
    }
}

impl Operator for Terminal {
    fn ask(&self, question: &Question) -> Result<String, String> {
        self.ask_at(&self.place(), question)
    }

    fn take(
        self: Arc<Self>,
        question: Question,
    ) -> Box<dyn FnOnce() -> Result<String, String> + Send> {
        let place = self.place();
        Box::new(move || self.ask_at(&place, &question))
    }
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Terminal")
    }
}

impl Place {
    fn is_first(&self) -> bool {
        lock(&self.queue).open.front() == Some(&self.number)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.queue).open.retain(|open| *open != self.number);
    }
}

/// What a question comes to that nobody wants answered any more.
fn withdrawn() -> String {
    "the question was withdrawn".to_owned()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
