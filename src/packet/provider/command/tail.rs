//! The end of what a program wrote, which is mostly why it failed (spec P137).

use std::collections::VecDeque;

/// How many lines a message has of it.
const LINES: usize = 20;

/// How many bytes of a line are kept.
const LINE: usize = 4096;

/// The last lines that are not empty.
#[derive(Debug, Default)]
pub(super) struct Tail(VecDeque<String>);

impl Tail {
    pub(super) fn take(&mut self, line: &str) {
        let line = line.trim_end();
        if line.trim().is_empty() {
            return;
        }
        if self.0.len() == LINES {
            self.0.pop_front();
        }
        let mut ends = (0..=line.len().min(LINE)).rev();
        let end = ends.find(|end| line.is_char_boundary(*end)).unwrap_or(0);
        self.0
            .push_back(line.get(..end).unwrap_or_default().to_owned());
    }

    /// The lines; `None` where there are none.
    pub(super) fn text(&self) -> Option<String> {
        let lines: Vec<&str> = self.0.iter().map(String::as_str).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}
