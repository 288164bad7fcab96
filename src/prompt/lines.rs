//! The lines of a text, without copying any (spec F14).

/// One line, as byte offsets into the text it was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Where the line starts.
    pub start: usize,
    /// Where its text ends: before its LF or CRLF.
    pub end: usize,
    /// Where the next line starts.
    pub next: usize,
}

impl Line {
    /// The line's text without its terminator.
    pub fn text(self, source: &str) -> &str {
        &source[self.start..self.end]
    }
}

/// Walks the lines of a text from an offset on. A text's last line may lack its terminator; an
/// empty remainder is no line.
#[derive(Clone, Debug)]
pub(super) struct Lines<'a> {
    source: &'a str,
    position: usize,
}

impl<'a> Lines<'a> {
    pub fn new(source: &'a str, position: usize) -> Self {
        Self { source, position }
    }
}

impl Iterator for Lines<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let rest = &self.source[self.position..];
        if rest.is_empty() {
            return None;
        }
        let start = self.position;
        let line = match rest.find('\n') {
            Some(length) => {
                let carriage = rest[..length].ends_with('\r');
                Line {
                    start,
                    end: start + length - usize::from(carriage),
                    next: start + length + 1,
                }
            }
            None => Line {
                start,
                end: self.source.len(),
                next: self.source.len(),
            },
        };
        self.position = line.next;
        Some(line)
    }
}

/// The number of line ends before an offset, added to the number of the line the text starts on.
pub(super) fn line_at(source: &str, first: u32, offset: usize) -> u32 {
    let ends = source.as_bytes()[..offset]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count();
    first.saturating_add(u32::try_from(ends).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_line_ends_and_none_at_the_end() {
        let source = "a\r\n\nb\rc\n\r\nd";
        let texts: Vec<_> = Lines::new(source, 0)
            .map(|line| line.text(source))
            .collect();
        assert_eq!(texts, ["a", "", "b\rc", "", "d"]);
        assert_eq!(Lines::new("a\n", 0).count(), 1);
        assert_eq!(Lines::new("", 0).count(), 0);
    }

    #[test]
    fn a_line_number_counts_line_feeds() {
        assert_eq!(line_at("a\nb\r\nc", 5, 5), 7);
    }
}
