//! A place in a line, measured in the columns of CommonMark: a tab reaches to the next multiple of
//! four, and a container may take a part of it.

/// A place in a line. Asking for the indentation again costs nothing: the end of the white space is
/// found once for every run of it.
pub(super) struct Cursor<'a> {
    line: &'a str,
    offset: usize,
    column: usize,
    /// Offset and column of the first byte at or after `offset` that is no space and no tab.
    text_offset: usize,
    text_column: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(line: &'a str) -> Self {
        let mut cursor = Self {
            line,
            offset: 0,
            column: 0,
            text_offset: 0,
            text_column: 0,
        };
        cursor.find_text();
        cursor
    }

    fn find_text(&mut self) {
        let (mut offset, mut column) = (self.offset, self.column);
        for byte in &self.line.as_bytes()[self.offset..] {
            match byte {
                b' ' => column += 1,
                b'\t' => column += 4 - column % 4,
                _ => break,
            }
            offset += 1;
        }
        (self.text_offset, self.text_column) = (offset, column);
    }

    /// The columns of white space from here to the text.
    pub fn indent(&self) -> usize {
        self.text_column - self.column
    }

    /// What is left of the line, from its text on.
    pub fn text(&self) -> &'a str {
        &self.line[self.text_offset..]
    }

    /// Where the text starts, in bytes from the line's start.
    pub fn text_offset(&self) -> usize {
        self.text_offset
    }

    /// Whether only spaces and tabs are left.
    pub fn is_blank(&self) -> bool {
        self.text_offset == self.line.len()
    }

    /// Passes columns of white space, at most as many as [`Cursor::indent`] says. A tab may be
    /// taken in part: the offset then stays at it while the column moves.
    pub fn skip_columns(&mut self, columns: usize) {
        let target = (self.column + columns).min(self.text_column);
        while self.column < target {
            let width = match self.line.as_bytes()[self.offset] {
                b'\t' => 4 - self.column % 4,
                _ => 1,
            };
            if self.column + width > target {
                self.column = target;
            } else {
                self.column += width;
                self.offset += 1;
            }
        }
    }

    /// Passes the white space and then `bytes` bytes of ASCII text.
    pub fn skip_text(&mut self, bytes: usize) {
        self.offset = self.text_offset + bytes;
        self.column = self.text_column + bytes;
        self.find_text();
    }
}

#[cfg(test)]
mod tests {
    use super::Cursor;

    #[test]
    fn a_tab_is_taken_in_parts() {
        let mut cursor = Cursor::new(">\t\tx");
        cursor.skip_text(1);
        assert_eq!(cursor.indent(), 7);
        cursor.skip_columns(1);
        assert_eq!(cursor.indent(), 6);
        cursor.skip_columns(4);
        assert_eq!((cursor.indent(), cursor.text()), (2, "x"));
    }
}
