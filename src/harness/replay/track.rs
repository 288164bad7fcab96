//! A record that is read along with a run.

use std::io::BufRead;

use crate::harness::record::{Reader, RecordError, Torn};

/// Reads a record, the next line of which can be looked at before it is taken.
#[derive(Debug)]
pub(super) struct Track<R> {
    reader: Reader<R>,
    text: String,
    /// The number of the line in `text`, where it was not taken yet.
    next: Option<u64>,
    /// How many lines were taken.
    taken: u64,
}

impl<R: BufRead> Track<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            reader: Reader::new(source),
            text: String::new(),
            next: None,
            taken: 0,
        }
    }

    /// The next line, with its number; `None` where there is none.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn peek(&mut self) -> Result<Option<(u64, &str)>, RecordError> {
        if self.next.is_none() {
            self.next = self.reader.read(&mut self.text)?;
        }
        Ok(self.next.map(|number| (number, self.text.as_str())))
    }

    /// Takes the line that was looked at.
    pub(super) fn take(&mut self) {
        self.taken += u64::from(self.next.take().is_some());
    }

    /// How many lines were taken.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// What is left of a last line that was not written whole; known once all others were read.
    pub(super) fn torn(&self) -> Option<&Torn> {
        self.reader.torn()
    }

    /// How many bytes the whole lines take; known once all were read.
    pub(super) fn offset(&self) -> u64 {
        self.reader.offset()
    }
}
