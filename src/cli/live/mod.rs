//! The live block that shows on a terminal what a run is doing (spec C3).

mod rounds;
mod scene;
pub mod screen;

use std::convert::Infallible;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use runvil::Event;
use runvil::harness::Log;
use runvil::harness::model::{Broker, Piece, Show};

use super::console;
use rounds::Watched;
use scene::Scene;

/// How often the block is drawn. A run that is over before shows nothing.
const TICK: Duration = Duration::from_millis(80);

/// The columns of a terminal that does not say.
const COLUMNS: usize = 80;

/// A block of lines on standard error. What happens is noted from any thread; one thread draws it,
/// which is there only while a run goes on and a terminal shows it. Clones share one block.
#[derive(Clone)]
pub struct Live {
    stage: Stage,
    /// Whether it is drawn.
    is_shown: bool,
}

/// The block, as all threads share it.
type Stage = Arc<Mutex<Block>>;

/// What the block is to show, and what it shows.
struct Block {
    scene: Scene,
    drawn: Vec<String>,
    /// The question that waits for a person's answer. The block stays away meanwhile.
    question: Option<Question>,
}

/// A question on the terminal.
struct Question {
    number: u64,
    /// What stands before what is typed.
    line: String,
}

/// The thread that draws. It ends, and the block goes away, when this is dropped.
pub struct Painter {
    live: Live,
    thread: Option<(Sender<Infallible>, JoinHandle<()>)>,
}

impl Live {
    /// A block that is drawn only where it is wanted and standard error can show it.
    pub fn new(wanted: bool) -> Self {
        let block = Block {
            scene: Scene::new(Instant::now()),
            drawn: Vec::new(),
            question: None,
        };
        Self {
            stage: Arc::new(Mutex::new(block)),
            is_shown: wanted && console::stderr_is_capable(),
        }
    }

    /// Draws from now on. Where no thread can be had nothing is drawn.
    pub fn start(&self) -> Painter {
        let stage = self.stage.clone();
        let begin = || {
            let (end, ticks) = channel();
            let painter = Builder::new().name("runvil-live".to_owned());
            let thread = painter.spawn(move || paint(&stage, &ticks)).ok()?;
            Some((end, thread))
        };
        Painter {
            live: self.clone(),
            thread: self.is_shown.then(begin).flatten(),
        }
    }

    /// Follows the run.
    pub fn observe(&self, event: &Event) {
        if self.is_shown {
            block(&self.stage).scene.observe(event);
        }
    }

    /// What shows the pieces of replies; `None` where nothing is shown.
    pub fn show(&self) -> Option<Show> {
        let stage = self.stage.clone();
        let show = move |piece: Piece<'_>| block(&stage).scene.piece(piece);
        self.is_shown.then(|| Show::new(show))
    }

    /// A broker whose rounds are counted.
    pub fn watch(&self, broker: Arc<dyn Broker>) -> Arc<dyn Broker> {
        match self.is_shown {
            true => Arc::new(Watched::new(broker, self.stage.clone())),
            false => broker,
        }
    }

    /// Prints a text above the block, or above the question that is open.
    pub fn log(&self, text: &str) {
        let mut block = block(&self.stage);
        block.draw(Vec::new());
        match &block.question {
            Some(Question { line, .. }) => {
                console::log_raw(&format!("\n{}{line}", console::lines(text)));
            }
            None => console::log(text),
        }
    }

    /// The host log, whose lines are printed so.
    pub fn host_log(&self) -> Log {
        let live = self.clone();
        Log::new(move |line| live.log(line))
    }

    /// Asks a question: prints what it is about, and then what stands before the answer.
    pub fn ask(&self, number: u64, about: &str, line: &str) {
        let mut block = block(&self.stage);
        block.draw(Vec::new());
        if !about.is_empty() {
            console::log(about);
        }
        console::log_raw(line);
        let line = line.to_owned();
        block.question = Some(Question { number, line });
    }

    /// The question is over, and a line was typed.
    pub fn answered(&self, number: u64) {
        self.end_question(number);
    }

    /// The question, where it is open still, is over, and its line is left as it is.
    pub fn withdraw(&self, number: u64) {
        if self.end_question(number) {
            console::log_raw("\n");
        }
    }

    fn end_question(&self, number: u64) -> bool {
        let mut block = block(&self.stage);
        let open = block.question.take_if(|open| open.number == number);
        open.is_some()
    }
}

impl Drop for Painter {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.thread.take() {
            drop(end);
            let _ = thread.join();
        }
        block(&self.live.stage).draw(Vec::new());
    }
}

/// Draws the block at every tick, until nobody is left to end it.
fn paint(stage: &Stage, ticks: &Receiver<Infallible>) {
    while let Err(RecvTimeoutError::Timeout) = ticks.recv_timeout(TICK) {
        let size = terminal_size::terminal_size_of(io::stderr());
        let columns = size.map_or(COLUMNS, |(columns, _)| usize::from(columns.0));
        let mut block = block(stage);
        if block.question.is_none() {
            let lines = block.scene.lines(Instant::now(), columns);
            block.draw(lines);
        }
    }
}

/// The block, for one thread at a time.
fn block(stage: &Stage) -> MutexGuard<'_, Block> {
    stage.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Block {
    /// Shows these lines and no others.
    fn draw(&mut self, lines: Vec<String>) {
        if lines != self.drawn {
            console::log_raw(&screen::redraw(self.drawn.len(), &lines));
            self.drawn = lines;
        }
    }
}
