//! Moves the line numbers of compiled Lua from the region to the file (spec L89), and keeps the
//! frames that a failure's place is told by.
//!
//! A region is compiled as if it began at line 1. Padding it with newlines would move its lines,
//! at a cost that grows with the square of the file, so the compiled form is rewritten instead:
//! it is copied part by part, and each line number gets the region's place added.

use super::frames::{Name, keep_callers};

const HEADER: &[u8] = b"\x1bLua\x55\x00\x19\x93\r\n\x1a\n";
/// In the line deltas: the line of this instruction stands in the absolute table.
const ABSOLUTE: u8 = 0x80;

/// The code with `offset` added to each line, or `None` where the form is not the one known here,
/// in which case the caller keeps the lines of the region.
pub(super) fn rebase(code: &[u8], offset: u32) -> Option<Vec<u8>> {
    let mut copier = Copier {
        input: code,
        at: 0,
        out: Vec::with_capacity(code.len() + 16),
        offset,
        strings: Vec::new(),
    };
    if copier.take(HEADER.len())? != HEADER {
        return None;
    }
    // Four numbers of the dumping machine, each behind its size.
    for _ in 0..4 {
        let size = copier.byte()?;
        copier.take(usize::from(size))?;
    }
    copier.byte()?;
    copier.function(true)?;
    (copier.at == code.len()).then_some(copier.out)
}

struct Copier<'a> {
    input: &'a [u8],
    at: usize,
    out: Vec<u8>,
    offset: u32,
    /// What each string that was written so far names, in the order in which they are numbered.
    strings: Vec<Name>,
}

impl<'a> Copier<'a> {
    fn skip(&mut self, count: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(count)?;
        let bytes = self.input.get(self.at..end)?;
        self.at = end;
        Some(bytes)
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let bytes = self.skip(count)?;
        self.out.extend_from_slice(bytes);
        Some(bytes)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn read_varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        loop {
            let byte = *self.skip(1)?.first()?;
            value = value.checked_mul(128)? | u64::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
    }

    fn write_varint(&mut self, value: u64) {
        let groups = (64 - value.leading_zeros()).div_ceil(7).max(1);
        for group in (0..groups).rev() {
            let more = if group == 0 { 0 } else { 0x80 };
            self.out.push((value >> (7 * group)) as u8 & 0x7f | more);
        }
    }

    fn varint(&mut self) -> Option<u64> {
        let value = self.read_varint()?;
        self.write_varint(value);
        Some(value)
    }

    fn count(&mut self) -> Option<usize> {
        usize::try_from(self.varint()?).ok()
    }

    /// Copies the padding that puts the next part at a multiple of 4.
    fn align(&mut self) -> Option<()> {
        self.skip(self.at.next_multiple_of(4) - self.at)?;
        self.out.resize(self.out.len().next_multiple_of(4), 0);
        Some(())
    }

    fn string(&mut self) -> Option<Name> {
        match self.varint()? {
            // A string that was written before, by its number; 0 is none at all.
            0 => match usize::try_from(self.varint()?).ok()?.checked_sub(1) {
                Some(at) => self.strings.get(at).copied(),
                None => Some(Name::Other),
            },
            // The bytes and their terminating NUL.
            size => {
                let bytes = self.take(usize::try_from(size).ok()?)?;
                let name = Name::of(bytes.strip_suffix(b"\0").unwrap_or(bytes));
                self.strings.push(name);
                Some(name)
            }
        }
    }

    fn line(&mut self, main: bool) -> Option<()> {
        let line = self.read_varint()?;
        // A main chunk is known by its line 0, so it keeps that.
        self.write_varint(if main {
            line
        } else {
            line + u64::from(self.offset)
        });
        Some(())
    }

    fn function(&mut self, main: bool) -> Option<()> {
        self.line(main)?;
        self.line(main)?;
        self.take(3)?;
        let instructions = self.count()?;
        self.align()?;
        let code = self.out.len()..self.out.len() + instructions.checked_mul(4)?;
        self.take(code.len())?;
        let mut names = Vec::new();
        for _ in 0..self.count()? {
            names.push(Name::Other);
            match self.byte()? {
                0x00 | 0x01 | 0x11 => {}
                0x03 => drop(self.varint()?),
                0x13 => drop(self.take(8)?),
                0x04 | 0x14 => *names.last_mut()? = self.string()?,
                _ => return None,
            }
        }
        keep_callers(self.out.get_mut(code)?, &names);
        let upvalues = self.count()?;
        self.take(upvalues.checked_mul(3)?)?;
        for _ in 0..self.count()? {
            self.function(false)?;
        }
        self.string()?;
        self.lines(main)?;
        for _ in 0..self.count()? {
            self.string()?;
            self.varint()?;
            self.varint()?;
        }
        for _ in 0..self.count()? {
            self.string()?;
        }
        Some(())
    }

    /// The line deltas, one a instruction, and the table of absolute lines.
    fn lines(&mut self, main: bool) -> Option<()> {
        let deltas = self.count()?;
        let start = self.out.len();
        self.take(deltas)?;
        let absolutes = usize::try_from(self.read_varint()?).ok()?;
        // The deltas of a main chunk start from its line 0, which stays; so its first instruction
        // gets an absolute line of its own.
        let first = self
            .out
            .get(start)
            .copied()
            .filter(|delta| main && *delta != ABSOLUTE);
        if first.is_some() {
            self.out[start] = ABSOLUTE;
        }
        let written = absolutes + usize::from(first.is_some());
        self.write_varint(written as u64);
        if absolutes > 0 {
            self.skip(self.at.next_multiple_of(4) - self.at)?;
        }
        if written > 0 {
            self.out.resize(self.out.len().next_multiple_of(4), 0);
        }
        if let Some(delta) = first {
            let line = i64::from(delta as i8) + i64::from(self.offset);
            self.out.extend_from_slice(&0u32.to_ne_bytes());
            self.out.extend_from_slice(&(line as u32).to_ne_bytes());
        }
        for _ in 0..absolutes {
            self.take(4)?;
            let line = u32::from_ne_bytes(self.skip(4)?.try_into().ok()?);
            self.out
                .extend_from_slice(&line.wrapping_add(self.offset).to_ne_bytes());
        }
        Some(())
    }
}
