//! A record that is read along with a run.

use std::collections::VecDeque;
use std::io::BufRead;

use crate::harness::record::{Reader, RecordError, Torn};

/// Reads a record, of which lines can be looked at before they are taken.
#[derive(Debug)]
pub(super) struct Track<R> {
    reader: Reader<R>,
    /// The lines that were read and not taken yet, each with its number.
    ahead: VecDeque<(u64, String)>,
    /// How many bytes they take.
    held: u64,
    /// The room of the last one that was taken.
    spare: String,
    /// Why no line can be read beyond those.
    fault: Option<RecordError>,
    /// How many lines were taken.
    taken: u64,
}

impl<R: BufRead> Track<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            reader: Reader::new(source),
            ahead: VecDeque::new(),
            held: 0,
            spare: String::new(),
            fault: None,
            taken: 0,
        }
    }

    /// The next line, with its number; `None` where there is none.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn peek(&mut self) -> Result<Option<(u64, &str)>, RecordError> {
        self.read_to(0);
        if self.ahead.is_empty()
            && let Some(fault) = self.fault.take()
        {
            return Err(fault);
        }
        Ok(self.look(0))
    }

    /// A line beyond the next one, which is at 0; `None` where none can be read.
    pub(super) fn look(&mut self, at: usize) -> Option<(u64, &str)> {
        self.read_to(at);
        let line = self.ahead.get(at);
        line.map(|(number, text)| (*number, text.as_str()))
    }

    /// Reads so far ahead.
    fn read_to(&mut self, at: usize) {
        while self.ahead.len() <= at && self.fault.is_none() {
            let mut text = std::mem::take(&mut self.spare);
            match self.reader.read(&mut text) {
                Ok(Some(number)) => {
                    self.held += text.len() as u64 + 1;
                    self.ahead.push_back((number, text));
                }
                Ok(None) => return,
                Err(error) => self.fault = Some(error),
            }
        }
    }

    /// The next line, as far as nobody looked at it yet and the source has the whole of it at hand.
    ///
    /// # Errors
    /// The source's own.
    pub(super) fn at_hand(&mut self) -> Result<Option<&[u8]>, RecordError> {
        match self.ahead.is_empty() {
            true => Ok(self.reader.at_hand()?),
            false => Ok(None),
        }
    }

    /// Takes lines where they come next, byte for byte, and the source has them at hand.
    ///
    /// # Errors
    /// The source's own.
    pub(super) fn pass(&mut self, lines: &[u8], count: u64) -> Result<bool, RecordError> {
        if !self.ahead.is_empty() {
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

    /// What comes next, as far as nobody looked at it yet and the source has it at hand; a line of it
    /// may be torn.
    ///
    /// # Errors
    /// The source's own.
    pub(super) fn begins(&mut self) -> Result<&[u8], RecordError> {
        match self.ahead.is_empty() {
            true => Ok(self.reader.begins()?),
            false => Ok(&[]),
        }
    }

    /// Takes the line that was looked at.
    pub(super) fn take(&mut self) {
        if let Some((_, text)) = self.ahead.pop_front() {
            self.held -= text.len() as u64 + 1;
            self.spare = text;
            self.taken += 1;
        }
    }

    /// How many lines were taken.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// How many bytes the lines take that were taken.
    pub(super) fn place(&self) -> u64 {
        self.reader.offset() - self.held
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
