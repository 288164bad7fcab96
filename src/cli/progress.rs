//! The live line that shows where a run is (spec C3).

use std::time::{Duration, Instant};

use runvil::Event;

use super::console;
use super::escape::escape;

/// Goes back to the start of the line, and stops the terminal from wrapping a long one.
const OPEN: &str = "\r\u{1b}[?7l";

/// Wipes what an earlier, longer text left, and lets the terminal wrap again.
const CLOSE: &str = "\u{1b}[K\u{1b}[?7h";

/// How often the line may be drawn in one go, and how long it takes to be allowed once more: a run
/// that flies through its sections is not to be slowed down by naming them all.
const BURST: u32 = 20;
const REFILL: Duration = Duration::from_millis(20);

/// One line on standard error that names the section being run. It is drawn when an event comes,
/// in one write, so it needs no thread.
pub struct Progress {
    enabled: bool,
    drawn: bool,
    /// How often it may be drawn at once, as of a moment.
    allowed: (u32, Instant),
}

impl Progress {
    /// A line that is drawn only when it is wanted and standard error can show it.
    pub fn new(wanted: bool) -> Self {
        Self {
            enabled: wanted && console::stderr_is_capable(),
            drawn: false,
            allowed: (BURST, Instant::now()),
        }
    }

    /// Follows the run.
    pub fn observe(&mut self, event: &Event) {
        let moved = matches!(event.kind.name(), "run_started" | "section_started");
        if self.enabled && moved && self.may_draw() {
            let section = escape(&event.section).replace(['\t', '\n'], " ");
            console::log_raw(&format!("{OPEN}{section}{CLOSE}"));
            self.drawn = true;
        }
    }

    fn may_draw(&mut self) -> bool {
        let (mut left, since) = self.allowed;
        let refilled = since.elapsed().as_millis() / REFILL.as_millis();
        if refilled > 0 {
            left = left
                .saturating_add(u32::try_from(refilled).unwrap_or(BURST))
                .min(BURST);
            self.allowed.1 = Instant::now();
        }
        self.allowed.0 = left.saturating_sub(1);
        left > 0
    }

    /// Removes the line, so that what follows stands in its place.
    pub fn clear(self) {
        if self.drawn {
            console::log_raw(&format!("{OPEN}{CLOSE}"));
        }
    }
}
