//! The lines of a text that arrives in pieces (spec M66).

use memchr::memchr2;

/// Puts lines together over pieces that may end anywhere. A line ends at LF, CR or both.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The beginning of a line whose end has not come.
    begun: Vec<u8>,
    /// Whether `begun` was given out as a whole line.
    given: bool,
    /// Whether the last line ended at a CR, so that a LF belongs to its end.
    after_cr: bool,
}

impl Lines {
    /// Takes the next whole line off a piece, without its end; `None` when the rest of the piece
    /// only begins one. A line that lies within the piece is not copied.
    pub(super) fn next<'a, 'p: 'a>(&'a mut self, piece: &mut &'p [u8]) -> Option<&'a [u8]> {
        if std::mem::take(&mut self.given) {
            self.begun.clear();
        }
        let first = piece.first()?;
        if std::mem::take(&mut self.after_cr) && *first == b'\n' {
            *piece = &piece[1..];
        }
        let Some(at) = memchr2(b'\n', b'\r', piece) else {
            self.begun.extend_from_slice(piece);
            *piece = &[];
            return None;
        };
        let line = &piece[..at];
        self.after_cr = piece[at] == b'\r';
        *piece = &piece[at + 1..];
        if self.begun.is_empty() {
            return Some(line);
        }
        self.begun.extend_from_slice(line);
        self.given = true;
        Some(&self.begun)
    }

    /// The line that the text ends in, where it ends without a line end.
    pub(super) fn last(&mut self) -> &[u8] {
        if std::mem::take(&mut self.given) {
            self.begun.clear();
        }
        &self.begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pieces: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::default();
        let mut out = Vec::new();
        for piece in pieces {
            let mut rest = *piece;
            while let Some(line) = lines.next(&mut rest) {
                out.push(String::from_utf8_lossy(line).into_owned());
            }
        }
        out.push(String::from_utf8_lossy(lines.last()).into_owned());
        out
    }

    #[test]
    fn lines_end_alike_wherever_the_pieces_end() {
        // spec M66
        let text = "a\n\nbé\r\nc\rd\n\r\r\ne\u{2028}f".as_bytes();
        let whole = ["a", "", "bé", "c", "d", "", "", "e\u{2028}f"];
        assert_eq!(split(&[text]), whole);
        for first in 0..=text.len() {
            for second in first..=text.len() {
                let pieces = [&text[..first], &text[first..second], &text[second..]];
                assert_eq!(split(&pieces), whole, "split at {first} and {second}");
            }
        }
    }
}
