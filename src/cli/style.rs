//! The colours of messages.

/// What a part of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Faint,
    Strong,
    Good,
    Bad,
    Model,
    Tool,
    Store,
    Frame,
}

/// Paints parts of a message, or leaves them plain.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    color: bool,
}

impl Style {
    /// With colours or without.
    pub fn new(color: bool) -> Self {
        Self { color }
    }

    /// The head of an error.
    pub fn error(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// The head of a warning.
    pub fn warning(self, text: &str) -> String {
        self.paint("1;33", text)
    }

    /// The arrow and the gutter of a quoted line.
    pub fn frame(self, text: &str) -> String {
        self.paint("1;34", text)
    }

    /// Paints in a colour of `show`.
    pub fn tone(self, tone: Tone, text: &str) -> String {
        match tone {
            Tone::Plain => text.to_owned(),
            Tone::Faint => self.paint("2", text),
            Tone::Strong => self.paint("1", text),
            Tone::Good => self.paint("32", text),
            Tone::Bad => self.paint("31", text),
            Tone::Model => self.paint("36", text),
            Tone::Tool => self.paint("33", text),
            Tone::Store => self.paint("35", text),
            Tone::Frame => self.paint("34", text),
        }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}
