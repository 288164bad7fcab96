//! Lines of a file: ranges and numbers (spec S22 to S27).
//!
//! [`str::lines`] splits as spec S22 says: at `\n` and `\r\n`, a lone `\r` being an ordinary
//! character, without an empty line after a final terminator.

use std::fmt::Write;

use super::StoreFailure;

/// The bounds of a read, as given; both inclusive, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineRange {
    /// The first line.
    pub start: Option<i64>,
    /// The last line.
    pub end: Option<i64>,
}

impl LineRange {
    /// Checks what needs no file (spec S26 step 2).
    ///
    /// # Errors
    ///
    /// `invalid_range` when `end` is given and `start` is not.
    pub fn check(self, path: &str) -> Result<(), StoreFailure> {
        match self {
            Self {
                start: None,
                end: Some(_),
            } => Err(StoreFailure::invalid_range(
                path,
                "start is required when end is given",
            )),
            _ => Ok(()),
        }
    }

    /// What `store.read` gives of a file's text: all of it verbatim without bounds, else the
    /// selected lines joined with `\n` (spec S23, S24).
    ///
    /// # Errors
    ///
    /// `invalid_range` as spec S26 steps 5 and 8 say.
    pub fn read(self, path: &str, text: String) -> Result<String, StoreFailure> {
        self.check(path)?;
        if self.start.is_none() {
            return Ok(text);
        }
        let (_, lines) = self.select(path, &text)?;
        Ok(lines.join("\n"))
    }

    /// What `store.read_numbered` gives of a file's text (spec S25).
    ///
    /// # Errors
    ///
    /// `invalid_range` as spec S26 steps 5 and 8 say.
    pub fn read_numbered(self, path: &str, text: &str) -> Result<String, StoreFailure> {
        self.check(path)?;
        let (first, lines) = self.select(path, text)?;
        let width = (first + lines.len()).saturating_sub(1).to_string().len();
        let mut numbered = String::new();
        for (number, line) in (first..).zip(lines) {
            let break_before = if number == first { "" } else { "\n" };
            let _ = write!(numbered, "{break_before}{number:>width$}| {line}");
        }
        Ok(numbered)
    }

    /// The number of the first selected line and the selected lines (spec S26 steps 5 to 8).
    fn select<'a>(self, path: &str, text: &'a str) -> Result<(usize, Vec<&'a str>), StoreFailure> {
        let start = self.start.unwrap_or(1);
        if start < 1 {
            return Err(StoreFailure::invalid_range(
                path,
                "start must be at least 1",
            ));
        }
        let before = usize::try_from(start - 1).unwrap_or(usize::MAX);
        let mut lines = text.lines().skip(before).peekable();
        if lines.peek().is_none() {
            return Ok((1, Vec::new()));
        }
        let wanted = match self.end {
            None => usize::MAX,
            Some(end) if end < start => {
                return Err(StoreFailure::invalid_range(
                    path,
                    "end must not be before start",
                ));
            }
            // Both are at least 1, so neither the difference nor its successor overflows, save
            // for the whole range, which no file fills.
            Some(end) => usize::try_from(end - start).map_or(usize::MAX, |n| n.saturating_add(1)),
        };
        Ok((before + 1, lines.take(wanted).collect()))
    }
}
