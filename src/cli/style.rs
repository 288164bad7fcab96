//! The colours of messages.

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

    fn paint(self, code: &str, text: &str) -> String {
        if self.color {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}
