//! The line on a terminal that says where a run of a packet is.

use std::convert::Infallible;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::super::cell;
use super::super::console;
use super::super::live::screen::redraw;

/// How often the line is drawn.
const TICK: Duration = Duration::from_millis(200);

/// The columns of a terminal that does not say.
const COLUMNS: usize = 80;

/// The line, on standard error. It is drawn by a thread, which is there only where a terminal shows
/// it.
pub struct Board {
    shared: Arc<Mutex<Line>>,
    thread: Option<(Sender<Infallible>, JoinHandle<()>)>,
}

/// What the line is to show, and what it shows.
#[derive(Default)]
struct Line {
    text: Option<String>,
    since: Option<Instant>,
    drawn: Vec<String>,
}

impl Board {
    /// A board that is drawn only where it is wanted and standard error can show it.
    pub fn new(wanted: bool) -> Self {
        let shared: Arc<Mutex<Line>> = Arc::default();
        let begin = || {
            let (end, ticks) = channel();
            let line = shared.clone();
            let painter = Builder::new().name("runvil-live".to_owned());
            let thread = painter.spawn(move || paint(&line, &ticks)).ok()?;
            Some((end, thread))
        };
        let is_shown = wanted && console::stderr_is_capable();
        Self {
            thread: is_shown.then(begin).flatten(),
            shared,
        }
    }

    /// Says what goes on from now on.
    pub fn say(&self, text: String) {
        let mut line = lock(&self.shared);
        line.text = Some(text);
        line.since = Some(Instant::now());
    }

    /// Does something with the line out of the way.
    pub fn above<T>(&self, print: impl FnOnce() -> T) -> T {
        let mut line = lock(&self.shared);
        line.draw(Vec::new());
        print()
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.thread.take() {
            drop(end);
            let _ = thread.join();
        }
        lock(&self.shared).draw(Vec::new());
    }
}

/// Draws the line at every tick, until nobody is left to end it.
fn paint(shared: &Mutex<Line>, ticks: &Receiver<Infallible>) {
    while let Err(RecvTimeoutError::Timeout) = ticks.recv_timeout(TICK) {
        let size = terminal_size::terminal_size_of(io::stderr());
        let columns = size.map_or(COLUMNS, |(columns, _)| usize::from(columns.0));
        let mut line = lock(shared);
        let shown = line.shown(columns);
        line.draw(shown);
    }
}

fn lock(shared: &Mutex<Line>) -> MutexGuard<'_, Line> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Line {
    fn shown(&self, columns: usize) -> Vec<String> {
        let (Some(text), Some(since)) = (&self.text, self.since) else {
            return Vec::new();
        };
        let text = format!("{text} {}", span(since.elapsed()));
        vec![cell::start_of(&text, columns.saturating_sub(1))]
    }

    fn draw(&mut self, lines: Vec<String>) {
        if lines != self.drawn {
            console::log_raw(&redraw(self.drawn.len(), &lines));
            self.drawn = lines;
        }
    }
}

/// A span as a person reads it.
pub fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0..=9 => format!("{}.{} s", seconds, span.subsec_millis() / 100),
        10..=59 => format!("{seconds} s"),
        60..=3599 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_at_a_glance() {
        let of = |ms| span(Duration::from_millis(ms));
        assert_eq!(of(0), "0.0 s");
        assert_eq!(of(9_950), "9.9 s");
        assert_eq!(of(59_999), "59 s");
        assert_eq!(of(61_000), "1 min 01 s");
        assert_eq!(of(7_260_000), "2 h 01 min");
    }
}
