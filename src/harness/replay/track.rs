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

    /// The next line, as far as nobody looked at it yet and the source has the whole of it at hand.
    ///
    /// # Errors
    /// The source's own.
    pub(super) fn at_hand(&mut self) -> Result<Option<&[u8]>, RecordError> {
        match self.next {
            Some(_) => Ok(None),
            None => Ok(self.reader.at_hand()?),
        }
    }

    /// Takes lines where they come next, byte for byte, and the source has them at hand.
    ///
    /// # Errors
    /// The source's own.
    pub(super) fn pass(&mut self, lines: &[u8], count: u64) -> Result<bool, RecordError> {
        if self.next.is_some() {
            return Ok(false);
        }
        let has_passed = self.reader.pass(lines, count)?;
        self.taken += if has_passed { count } else { 0 };
        Ok(has_passed)
    }

    /// Takes the line that is at hand, by its length.
    pub(super) fn pass_one(&mut self, length: usize) {
        self.reader.pass_one(length);
        self.taken += 1;
    }

    /// How the next line begins, as far as nobody looked at it yet and the source has it at hand;
    /// the line may be torn.
    ///
    /// # Errors
    /// The source's own.
    pub(super) fn begins(&mut self) -> Result<&[u8], RecordError> {
        match self.next {
            Some(_) => Ok(&[]),
            None => Ok(self.reader.begins()?),
        }
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
