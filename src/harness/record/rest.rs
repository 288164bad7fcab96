//! What is left of a line that is read piece by piece.

use super::text::take_string;

/// The rest of a line, and what stands behind it.
#[derive(Clone, Copy, Debug)]
pub(in crate::harness) struct Rest<'a>(pub(in crate::harness) &'a [u8]);

impl<'a> Rest<'a> {
    /// Takes what must come next.
    #[inline(always)]
    pub(in crate::harness) fn take(&mut self, piece: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(piece)?;
        Some(())
    }

    /// Takes what may come next. Whether it does.
    #[inline(always)]
    pub(super) fn takes(&mut self, piece: &[u8]) -> bool {
        self.take(piece).is_some()
    }

    #[inline(always)]
    pub(super) fn begins_with(self, byte: u8) -> bool {
        self.0.first() == Some(&byte)
    }

    /// Takes what stands before a byte, and that byte.
    pub(in crate::harness) fn until(&mut self, byte: u8) -> Option<&'a [u8]> {
        let (before, rest) = self.0.split_at(memchr::memchr(byte, self.0)?);
        self.0 = rest.get(1..)?;
        Some(before)
    }

    /// Takes a string that is written as this engine writes it.
    #[inline]
    pub(super) fn string(&mut self) -> Option<String> {
        let (held, rest) = take_string(self.0)?;
        self.0 = rest;
        Some(held)
    }

    /// Takes a whole number as JSON has it.
    #[inline]
    pub(in crate::harness) fn number(&mut self) -> Option<u64> {
        let length = self
            .0
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let (digits, rest) = self.0.split_at(length);
        if length == 0 || (length > 1 && digits.starts_with(b"0")) {
            return None;
        }
        let number = digits.iter().try_fold(0_u64, |number, digit| {
            let digit = u64::from(digit - b'0');
            number.checked_mul(10)?.checked_add(digit)
        })?;
        self.0 = rest;
        Some(number)
    }
}
