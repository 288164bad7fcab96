//! The live block that shows on a terminal what a run is doing (spec C3).

mod rounds;
mod scene;
mod screen;

use std::convert::Infallible;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use runvil::Event;
use runvil::harness::model::{Broker, Show};

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
    /// `None` where nothing is to be shown.
    stage: Option<Stage>,
}

/// The block, as all threads share it.
type Stage = Arc<Mutex<Block>>;

/// What the block is to show, and what it shows.
struct Block {
    scene: Scene,
    drawn: Vec<String>,
}

/// The thread that draws. It ends, and the block goes away, when this is dropped.
pub struct Painter {
    live: Live,
    thread: Option<(Sender<Infallible>, JoinHandle<()>)>,
}

impl Live {
    /// A block that is drawn only where it is wanted and standard error can show it.
    pub fn new(wanted: bool) -> Self {
        let block = || Block {
            scene: Scene::new(Instant::now()),
            drawn: Vec::new(),
        };
        let shown = wanted && console::stderr_is_capable();
        Self {
            stage: shown.then(|| Arc::new(Mutex::new(block()))),
        }
    }

    /// Draws from now on. Where no thread can be had nothing is drawn.
    pub fn start(&self) -> Painter {
        let thread = self.stage.clone().and_then(|stage| {
            let (end, ticks) = channel();
            let painter = Builder::new().name("runvil-live".to_owned());
            let thread = painter.spawn(move || paint(&stage, &ticks)).ok()?;
            Some((end, thread))
        });
        Painter {
            live: self.clone(),
            thread,
        }
    }

    /// Follows the run.
    pub fn observe(&self, event: &Event) {
        if let Some(stage) = &self.stage {
            block(stage).scene.observe(event);
        }
    }

    /// What shows the pieces of replies; `None` where nothing is shown.
    pub fn show(&self) -> Option<Show> {
        let stage = self.stage.clone()?;
        Some(Show::new(move |piece| block(&stage).scene.piece(piece)))
    }

    /// A broker whose rounds are counted.
    pub fn watch(&self, broker: Arc<dyn Broker>) -> Arc<dyn Broker> {
        match &self.stage {
            Some(stage) => Arc::new(Watched::new(broker, stage.clone())),
            None => broker,
        }
    }

    /// Prints a text above the block.
    pub fn log(&self, text: &str) {
        let mut block = self.stage.as_ref().map(block);
        if let Some(block) = &mut block {
            block.draw(Vec::new());
        }
        console::log(text);
    }
}

impl Drop for Painter {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.thread.take() {
            drop(end);
            let _ = thread.join();
        }
        if let Some(stage) = &self.live.stage {
            block(stage).draw(Vec::new());
        }
    }
}

/// Draws the block at every tick, until nobody is left to end it.
fn paint(stage: &Stage, ticks: &Receiver<Infallible>) {
    while let Err(RecvTimeoutError::Timeout) = ticks.recv_timeout(TICK) {
        let size = terminal_size::terminal_size_of(io::stderr());
        let columns = size.map_or(COLUMNS, |(columns, _)| usize::from(columns.0));
        let mut block = block(stage);
        let lines = block.scene.lines(Instant::now(), columns);
        block.draw(lines);
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
