//! Reads a record line by line (spec R14).

use std::fmt;
use std::io::{self, BufRead, Read};

use super::line::Line;

/// The longest line that is read, in bytes. A line may hold a whole prompt file, an input text or a
/// file of the store.
pub const LINE_CAP: u64 = 8 << 30;

/// Why a record cannot be read.
#[derive(Debug)]
pub enum RecordError {
    /// The source failed.
    Io(io::Error),
    /// A line is not one of a record.
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no whole line.
    Empty,
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Line { line, reason } => write!(f, "line {line}: {reason}"),
            Self::Empty => f.write_str("it holds no whole line of a record"),
        }
    }
}

impl std::error::Error for RecordError {}

impl From<io::Error> for RecordError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What a crash left of a last line that was not written whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// The line's number, from 1.
    pub line: u64,
    /// Where in the record it begins, in bytes.
    pub offset: u64,
    /// What is there of it.
    pub bytes: Vec<u8>,
}

/// What a system writes whole of a file at the least, in bytes. Pages of another size hold so many.
const PAGE: u64 = 4096;

impl Torn {
    /// Whether a write was ended there, by a kill or by a full disk, since a system ends one between
    /// two pages of the file (spec R16).
    pub(in crate::harness) fn is_at_page_end(&self) -> bool {
        let end = self.offset + self.bytes.len() as u64;
        self.bytes.last().is_some_and(|byte| *byte != 0) && end.is_multiple_of(PAGE)
    }
}

/// Reads the lines of a record, one at a time, so that its length does not matter. As an iterator
/// it gives each line with its number, from 1, and nothing after an error. A last line without an
/// end is not given; [`Reader::torn`] has it.
///
/// ```
/// use runvil::harness::record::{Line, Reader};
///
/// let record = br#"{"v":1,"t":"stop","at":3,"ids":[7]}
/// {"v":1,"t":"ou"#;
/// let mut reader = Reader::new(&record[..]);
/// let (number, line) = reader.next().unwrap().unwrap();
/// assert!(matches!((number, line), (1, Line::Stop(_))));
/// assert!(reader.next().is_none());
/// assert_eq!(reader.torn().unwrap().line, 2);
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    source: R,
    text: String,
    /// The number of the line that was read last.
    line: u64,
    /// Where the next line begins.
    offset: u64,
    torn: Option<Torn>,
    has_ended: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads a record from its beginning.
    pub fn new(source: R) -> Self {
        Self {
            source,
            text: String::new(),
            line: 0,
            offset: 0,
            torn: None,
            has_ended: false,
        }
    }

    /// The last line, where it was not written whole; known once everything before it was read.
    pub fn torn(&self) -> Option<&Torn> {
        self.torn.as_ref()
    }

    /// How many bytes the lines take that were read so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads the next line into `text`, without its end, and gives its number; `None` after the last
    /// whole one.
    ///
    /// # Errors
    /// The source's own, and that of what can be no line.
    pub(in crate::harness) fn read(
        &mut self,
        text: &mut String,
    ) -> Result<Option<u64>, RecordError> {
        let mut bytes = std::mem::take(text).into_bytes();
        bytes.clear();
        if self.has_ended {
            return Ok(None);
        }
        self.has_ended = true;
        let number = self.line + 1;
        let wrong = |reason: &str| RecordError::Line {
            line: number,
            reason: reason.to_owned(),
        };
        // What is no record at all may have no ends of lines either, and what a machine that lost
        // its power left at the end of a file may be zeros.
        match self.source.fill_buf()?.first().copied() {
            Some(b'{') | None => {}
            Some(0) if is_all_zeros(&mut self.source)? => {
                self.torn = Some(self.torn_here(vec![0]));
                return Ok(None);
            }
            Some(_) => return Err(wrong("it is no line of a record")),
        }
        let mut source = (&mut self.source).take(LINE_CAP);
        source.read_until(b'\n', &mut bytes)?;
        if bytes.last() != Some(&b'\n') {
            if u64::try_from(bytes.len()).is_ok_and(|read| read == LINE_CAP) {
                return Err(wrong("it is longer than any line of a record"));
            }
            if !bytes.is_empty() {
                self.torn = Some(self.torn_here(bytes));
            }
            return Ok(None);
        }
        self.has_ended = false;
        self.line = number;
        self.offset += bytes.len() as u64;
        bytes.pop();
        if bytes.last() == Some(&b'\r') {
            return Err(wrong("it ends in CR LF, and no line of a record does"));
        }
        *text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8 text"))?;
        Ok(Some(number))
    }

    /// The next line, without its end, where the source has the whole of it at hand.
    ///
    /// # Errors
    /// The source's own.
    pub(in crate::harness) fn at_hand(&mut self) -> io::Result<Option<&[u8]>> {
        if self.has_ended {
            return Ok(None);
        }
        let text = self.source.fill_buf()?;
        Ok(memchr::memchr(b'\n', text).and_then(|end| text.get(..end)))
    }

    /// Takes lines, where they come next, byte for byte, and the source has them at hand.
    ///
    /// # Errors
    /// The source's own.
    pub(in crate::harness) fn pass(&mut self, lines: &[u8], count: u64) -> io::Result<bool> {
        if self.has_ended || !self.source.fill_buf()?.starts_with(lines) {
            return Ok(false);
        }
        self.source.consume(lines.len());
        self.line += count;
        self.offset += lines.len() as u64;
        Ok(true)
    }

    /// Takes the line that is at hand, by its length.
    pub(in crate::harness) fn pass_one(&mut self, length: usize) {
        self.source.consume(length + 1);
        self.line += 1;
        self.offset += length as u64 + 1;
    }

    /// How the next line begins, as far as the source has it at hand; the line may be torn.
    ///
    /// # Errors
    /// The source's own.
    pub(in crate::harness) fn begins(&mut self) -> io::Result<&[u8]> {
        match self.has_ended {
            true => Ok(&[]),
            false => self.source.fill_buf(),
        }
    }

    fn torn_here(&self, bytes: Vec<u8>) -> Torn {
        Torn {
            line: self.line + 1,
            offset: self.offset,
            bytes,
        }
    }

    fn next_line(&mut self) -> Result<Option<(u64, Line)>, RecordError> {
        let mut text = std::mem::take(&mut self.text);
        let Some(number) = self.read(&mut text)? else {
            return Ok(None);
        };
        let line = Line::read(&text);
        self.text = text;
        match line {
            Ok(line) => Ok(Some((number, line))),
            Err(error) => Err(misread(number, &error)),
        }
    }
}

/// Whether nothing but zeros is left.
fn is_all_zeros(source: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let piece = source.fill_buf()?;
        if piece.is_empty() || piece.iter().any(|byte| *byte != 0) {
            return Ok(piece.is_empty());
        }
        let read = piece.len();
        source.consume(read);
    }
}

/// The error of a line that cannot be read.
pub(in crate::harness) fn misread(line: u64, error: &serde_json::Error) -> RecordError {
    let text = error.to_string();
    // The reader counts lines within this one, which is all the text it has.
    let reason = match text.rsplit_once(" at line 1 column ") {
        Some((what, column)) => format!("{what}, at byte {column}"),
        None => text,
    };
    RecordError::Line { line, reason }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<(u64, Line), RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_line();
        self.has_ended |= next.is_err();
        next.transpose()
    }
}
