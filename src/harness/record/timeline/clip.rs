//! The start of a text.

/// The start of a text, and how much there is after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clip {
    /// The start; all of it where nothing is left out.
    pub text: String,
    /// How many bytes are left out.
    pub left_out: usize,
}

impl Clip {
    /// At most so many bytes of a text, whole characters.
    pub fn new(text: &str, limit: usize) -> Self {
        let mut end = limit.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Self {
            text: text.get(..end).unwrap_or_default().to_owned(),
            left_out: text.len() - end,
        }
    }

    /// The length of the whole text, in bytes.
    pub fn len(&self) -> usize {
        self.text.len() + self.left_out
    }

    /// Whether the whole text is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
