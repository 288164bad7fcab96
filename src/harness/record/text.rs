//! Appends JSON to a line. What comes tens of thousands of times in a record is put together with
//! these, each key together with what stands around it, which takes a fraction of the time that
//! a serializer takes for it. What is rare, or nests, is left to the serializer.

use std::io;

use serde::ser::{Serialize, SerializeMap};

/// How many bytes are looked at in one go for those that must be escaped.
const GO: usize = 16;

/// Appends what is JSON already.
#[inline(always)]
pub(super) fn raw(out: &mut Vec<u8>, json: &str) {
    out.extend_from_slice(json.as_bytes());
}

/// Appends a string.
#[inline]
pub(super) fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    escaped(out, text);
    out.push(b'"');
}

/// Appends what a string holds, between its quotes.
#[inline]
pub(super) fn escaped(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    while let Some((plain, byte, after)) = special(rest) {
        out.extend_from_slice(plain);
        escape(out, byte);
        rest = after;
    }
    out.extend_from_slice(rest);
}

/// Appends a whole number.
#[inline]
pub(super) fn number(out: &mut Vec<u8>, number: u64) {
    let mut back = Back::<20>::new();
    back.number(number);
    out.extend_from_slice(back.text());
}

/// A few bytes that are put together from their end, as digits come.
pub(super) struct Back<const ROOM: usize> {
    room: [u8; ROOM],
    start: usize,
}

impl<const ROOM: usize> Back<ROOM> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            room: [0; ROOM],
            start: ROOM,
        }
    }

    /// Puts a number before what is there.
    #[inline(always)]
    pub(super) fn number(&mut self, number: u64) {
        let mut left = number;
        // A division takes the time, so each gives two digits.
        while left >= 10 {
            let pair = (left % 100) as u8;
            left /= 100;
            self.start -= 2;
            self.room[self.start] = b'0' + pair / 10;
            self.room[self.start + 1] = b'0' + pair % 10;
            if left == 0 {
                return;
            }
        }
        self.start -= 1;
        self.room[self.start] = b'0' + left as u8;
    }

    /// Puts JSON before what is there.
    #[inline(always)]
    pub(super) fn raw(&mut self, json: &str) {
        let end = self.start;
        self.start -= json.len();
        self.room[self.start..end].copy_from_slice(json.as_bytes());
    }

    #[inline(always)]
    pub(super) fn text(&self) -> &[u8] {
        &self.room[self.start..]
    }
}

/// Appends a value of any other kind.
///
/// # Errors
/// It has no JSON form.
pub(super) fn value(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    value.serialize(&mut serde_json::Serializer::new(Line(out)))?;
    Ok(())
}

/// Whether a byte of a string is escaped.
#[inline(always)]
fn is_special(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// Whether a text is the same in JSON.
#[inline]
pub(super) fn is_plain(text: &str) -> bool {
    special(text.as_bytes()).is_none()
}

/// What stands before the first byte that is escaped, that byte, and what stands after it.
#[inline]
fn special(text: &[u8]) -> Option<(&[u8], u8, &[u8])> {
    let goes = text.chunks_exact(GO);
    let is_plain = |go: &&[u8]| !go.iter().fold(false, |any, byte| any | is_special(*byte));
    let skipped = goes.take_while(is_plain).count() * GO;
    let rest = text.get(skipped..)?;
    let at = skipped + rest.iter().position(|byte| is_special(*byte))?;
    let (plain, from) = text.split_at(at);
    let (byte, after) = from.split_first()?;
    Some((plain, *byte, after))
}

fn escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x0c => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            let [high, low] = [byte >> 4, byte & 15].map(|digit| HEX[usize::from(digit)]);
            return out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// A line as the serializer writes to it, which does so a byte at a time.
struct Line<'a>(&'a mut Vec<u8>);

impl io::Write for Line<'_> {
    #[inline(always)]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    #[inline(always)]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Appends members to an object that has some.
pub(super) struct Members<'a>(pub(super) &'a mut Vec<u8>);

impl SerializeMap for Members<'_> {
    type Ok = ();
    type Error = serde_json::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Self::Error> {
        self.0.push(b',');
        key.serialize(&mut serde_json::Serializer::new(Line(self.0)))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Self::Error> {
        self.0.push(b':');
        value.serialize(&mut serde_json::Serializer::new(Line(self.0)))
    }

    fn end(self) -> Result<(), Self::Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn every_byte_of_a_string_is_written_as_the_serializer_does() {
        for byte in 0..=0x7f_u8 {
            // spec R21; in the first go and after it
            for before in [0, 3, GO - 1, GO, 2 * GO + 5] {
                let text = format!("{}{}…", "x".repeat(before), char::from(byte));
                let wanted = serde_json::to_string(&text).expect("text");
                assert_eq!(written(|out| string(out, &text)), wanted);
            }
        }
    }

    proptest! {
        #[test]
        fn strings_are_written_as_the_serializer_does(text: String) {
            let wanted = serde_json::to_string(&text).expect("text");
            prop_assert_eq!(written(|out| string(out, &text)), wanted);
        }

        #[test]
        fn numbers_are_written_in_full(any: u64, small in 0..1000_u64) {
            for some in [any, small] {
                prop_assert_eq!(written(|out| number(out, some)), some.to_string());
            }
        }
    }
}
