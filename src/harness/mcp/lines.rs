//! The lines of a server (spec T161).

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

/// The most bytes of a line, its end not counted.
pub const LINE_CAP: usize = 16 << 20;

/// How much is read at a time.
const BUFFER: usize = 64 << 10;
/// How large a buffer is kept for the next line.
const KEPT: usize = 1 << 20;

/// Takes the lines off a stream, one after another, however the stream cuts them.
#[derive(Debug)]
pub struct Lines<R> {
    stream: BufReader<R>,
    line: Vec<u8>,
    cap: usize,
}

/// Why there is no next line.
#[derive(Debug)]
pub enum LineError {
    /// The line is over the cap.
    TooLong,
    /// The stream broke.
    Broken(io::Error),
}

impl<R: Read> Lines<R> {
    /// The lines of a stream, each of at most so many bytes.
    pub fn new(stream: R, cap: usize) -> Self {
        Self {
            stream: BufReader::with_capacity(BUFFER, stream),
            line: Vec::new(),
            cap,
        }
    }

    /// The next line, without its end, which is LF; `None` at the end of the stream. What stands
    /// there without a line end is no line.
    ///
    /// # Errors
    /// A line over the cap, of which no more than that was read, and a broken stream. There is no
    /// further line after either.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, LineError> {
        match self.line.capacity() > KEPT {
            true => self.line = Vec::new(),
            false => self.line.clear(),
        }
        let most = (self.cap as u64).saturating_add(1);
        let read = self
            .stream
            .by_ref()
            .take(most)
            .read_until(b'\n', &mut self.line);
        let read = read.map_err(LineError::Broken)?;
        match self.line.last() {
            Some(b'\n') => {
                self.line.pop();
                Ok(Some(&self.line))
            }
            _ if read > self.cap => Err(LineError::TooLong),
            _ => Ok(None),
        }
    }
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => f.write_str("a line is too long"),
            Self::Broken(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for LineError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A stream that gives so many bytes at a time, over and over.
    struct Pieces<'a> {
        bytes: &'a [u8],
        sizes: Vec<usize>,
        reads: usize,
    }

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let size = self.sizes[self.reads % self.sizes.len()];
            self.reads += 1;
            let size = size.min(buffer.len()).min(self.bytes.len());
            buffer[..size].copy_from_slice(&self.bytes[..size]);
            self.bytes = &self.bytes[size..];
            Ok(size)
        }
    }

    /// All lines, and whether one was too long.
    fn all(stream: impl Read, cap: usize) -> (Vec<Vec<u8>>, bool) {
        let (mut lines, mut out) = (Lines::new(stream, cap), Vec::new());
        loop {
            match lines.next_line() {
                Ok(Some(line)) => out.push(line.to_vec()),
                Ok(None) => return (out, false),
                Err(LineError::TooLong) => return (out, true),
                Err(LineError::Broken(error)) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn a_line_may_fill_the_cap() {
        // spec T161
        assert_eq!(
            all(&b"abcd\n\nefgh\nij"[..], 4),
            (vec![b"abcd".to_vec(), vec![], b"efgh".to_vec()], false)
        );
        assert_eq!(all(&b"ab\nabcde\nf\n"[..], 4), (vec![b"ab".to_vec()], true));
        assert_eq!(all(&b"abcde"[..], 4), (vec![], true));
        assert_eq!(all(&b"abcd"[..], 4), (vec![], false));
    }

    #[test]
    fn a_large_buffer_is_not_kept() {
        let text = [&vec![b'x'; KEPT + 1][..], b"\ny\n"].concat();
        let mut lines = Lines::new(&text[..], LINE_CAP);
        assert_eq!(
            lines.next_line().expect("read").map(<[u8]>::len),
            Some(KEPT + 1)
        );
        assert_eq!(lines.next_line().expect("read"), Some(&b"y"[..]));
        assert!(lines.line.capacity() < KEPT);
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_the_pieces(
            text in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..200),
            sizes in prop::collection::vec(1usize..9, 1..9),
            cap in 0usize..20,
        ) {
            let mut expected: Vec<Vec<u8>> = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            let long = expected.iter().position(|line| line.len() > cap);
            match long {
                Some(long) => expected.truncate(long),
                None => drop(expected.pop()),
            }
            let pieces = Pieces { bytes: &text, sizes, reads: 0 };
            prop_assert_eq!(all(pieces, cap), (expected, long.is_some()));
        }
    }
}
