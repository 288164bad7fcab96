//! The live line that shows where a run is (spec C3).

use runvil::Event;

use super::console;
use super::escape::escape;

/// Goes back to the start of the line, and stops the terminal from wrapping a long one.
const OPEN: &str = "\r\u{1b}[?7l";

/// Wipes what an earlier, longer text left, and lets the terminal wrap again.
const CLOSE: &str = "\u{1b}[K\u{1b}[?7h";

/// One line on standard error that names the section being run. It is drawn when an event comes,
/// in one write, so it needs neither a thread nor a clock.
pub struct Progress {
    enabled: bool,
    drawn: bool,
}

impl Progress {
    /// A line that is drawn only when it is wanted and standard error can show it.
    pub fn new(wanted: bool) -> Self {
        Self {
            enabled: wanted && console::stderr_is_capable(),
            drawn: false,
        }
    }

    /// Follows the run.
    pub fn observe(&mut self, event: &Event) {
        if self.enabled && matches!(event.kind.name(), "run_started" | "section_started") {
            let section = escape(&event.section).replace(['\t', '\n'], " ");
            console::log_raw(&format!("{OPEN}{section}{CLOSE}"));
            self.drawn = true;
        }
    }

    /// Removes the line, so that what follows stands in its place.
    pub fn clear(self) {
        if self.drawn {
            console::log_raw(&format!("{OPEN}{CLOSE}"));
        }
    }
}
