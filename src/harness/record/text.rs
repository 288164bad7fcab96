//! Appends JSON to a line. What comes tens of thousands of times in a record is put together with
//! these, each key together with what stands around it, which takes a fraction of the time that
//! a serializer takes for it. What is rare, or nests, is left to the serializer.

use std::io;

use serde::ser::{Serialize, SerializeMap};

/// How a line ends, and with it the object that is its last member.
pub(super) const END: &str = "}}\n";

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
    match is_plain(text) {
        true => raw(out, text),
        false => escape_all(out, text),
    }
}

#[cold]
fn escape_all(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    while let Some((plain, byte, after)) = special(rest) {
        out.extend_from_slice(plain);
        escape(out, byte);
        rest = after;
    }
    out.extend_from_slice(rest);
}

/// Appends a whole number. A division takes the time, so each gives two digits.
#[inline]
pub(super) fn number(out: &mut Vec<u8>, number: u64) {
    match number {
        0..10 => out.push(b'0' + number as u8),
        10..100 => out.extend_from_slice(&pair(number)),
        100..10_000 => {
            let ([a, b], [c, d]) = (pair(number / 100), pair(number % 100));
            match a {
                b'0' => out.extend_from_slice(&[b, c, d]),
                _ => out.extend_from_slice(&[a, b, c, d]),
            }
        }
        _ => {
            self::number(out, number / 10_000);
            let ([a, b], [c, d]) = (pair(number / 100 % 100), pair(number % 100));
            out.extend_from_slice(&[a, b, c, d]);
        }
    }
}

/// Adds to the number whose digits end at a place in a text. Where that takes another digit, or there
/// is no number, the text is spoilt and the answer `false`.
#[inline]
pub(super) fn add(text: &mut [u8], end: usize, number: u64) -> bool {
    if let Some(last) = end.checked_sub(1).and_then(|last| text.get_mut(last))
        && last.is_ascii_digit()
        && u64::from(b'9' - *last) >= number
    {
        *last += number as u8;
        return true;
    }
    carry(text, end, number)
}

fn carry(text: &mut [u8], end: usize, number: u64) -> bool {
    let mut left = number;
    let mut digits = text.get_mut(..end).unwrap_or_default().iter_mut().rev();
    while left > 0 {
        let Some(digit) = digits.next().filter(|digit| digit.is_ascii_digit()) else {
            return false;
        };
        let sum = left.saturating_add(u64::from(*digit - b'0'));
        *digit = b'0' + (sum % 10) as u8;
        left = sum / 10;
    }
    true
}

/// The digits of a number below a hundred.
#[inline(always)]
fn pair(number: u64) -> [u8; 2] {
    const PAIRS: [[u8; 2]; 100] = {
        let mut pairs = [[0; 2]; 100];
        let mut number = 0;
        while number < 100 {
            pairs[number as usize] = [b'0' + number / 10, b'0' + number % 10];
            number += 1;
        }
        pairs
    };
    PAIRS[number as usize % 100]
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

/// Whether a text is the same in JSON. What is left beside whole goes is looked at together with
/// bytes before it, which were looked at already.
#[inline]
pub(super) fn is_plain(text: &str) -> bool {
    let text = text.as_bytes();
    if let Some(last) = text.last_chunk::<GO>() {
        let (goes, _) = text.as_chunks::<GO>();
        return goes.iter().all(are_plain) && are_plain(last);
    }
    if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        return are_plain(first) & are_plain(last);
    }
    if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        return are_plain(first) & are_plain(last);
    }
    !text.iter().any(|byte| is_special(*byte))
}

#[inline(always)]
fn are_plain<const N: usize>(bytes: &[u8; N]) -> bool {
    !bytes
        .iter()
        .fold(false, |any, byte| any | is_special(*byte))
}

/// What stands before the first byte that is escaped, that byte, and what stands after it.
fn special(text: &[u8]) -> Option<(&[u8], u8, &[u8])> {
    let (goes, _) = text.as_chunks::<GO>();
    let skipped = goes.iter().take_while(|go| are_plain(go)).count() * GO;
    let rest = text.get(skipped..)?;
    let at = skipped + rest.iter().position(|byte| is_special(*byte))?;
    let (plain, from) = text.split_at(at);
    let (byte, after) = from.split_first()?;
    Some((plain, *byte, after))
}

/// Takes a string from the beginning of a text, where it is one that [`string`] writes, byte for
/// byte. Gives what it holds and what stands after it.
#[inline]
pub(super) fn take_string(text: &[u8]) -> Option<(String, &[u8])> {
    let (plain, mut byte, mut rest) = special(text.strip_prefix(b"\"")?)?;
    let mut held = std::str::from_utf8(plain).ok()?.to_owned();
    while byte != b'"' {
        let (escaped, after) = rest.split_first_chunk()?;
        let (one, after) = match (byte, escaped) {
            (b'\\', [b'u']) => {
                let (digits, after) = after.split_first_chunk()?;
                (unhex(*digits)?, after)
            }
            (b'\\', [short]) => (shortened(*short)?, after),
            _ => return None,
        };
        held.push(char::from(one));
        let plain;
        (plain, byte, rest) = special(after)?;
        held.push_str(std::str::from_utf8(plain).ok()?);
    }
    Some((held, rest))
}

/// What a byte stands for behind a backslash.
fn shortened(short: u8) -> Option<u8> {
    Some(match short {
        b'"' | b'\\' => short,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        _ => return None,
    })
}

/// The byte that is escaped by its number, which has no shorter way.
fn unhex(digits: [u8; 4]) -> Option<u8> {
    (0..b' ').find(|byte| {
        let mut text = Vec::new();
        escape(&mut text, *byte);
        text.strip_prefix(b"\\u") == Some(&digits)
    })
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
        fn numbers_are_added_to(any: u64, shift in 0..64_u32, more in 0..2000_u64) {
            let some = any >> shift;
            let mut text = format!("1,{some},9").into_bytes();
            let end = text.len() - 2;
            let sum = some.checked_add(more).map(|sum| format!("1,{sum},9"));
            match add(&mut text, end, more) {
                true => prop_assert_eq!(Some(String::from_utf8(text).expect("text")), sum),
                false => prop_assert_ne!(sum.map(|sum| sum.len()), Some(text.len())),
            }
        }

        #[test]
        fn strings_are_taken_as_they_are_written(text: String, odd in "[a\"\\\\\u{0}-\u{1f}ä]{0,40}", after: String) {
            // spec R15
            for text in [text, odd] {
                let line = written(|out| string(out, &text)) + &after;
                let taken = take_string(line.as_bytes()).expect("it is one");
                prop_assert_eq!(taken, (text, after.as_bytes()));
            }
        }

        #[test]
        fn what_is_taken_is_written_so(text in r#""([a-c0\u{1}ä]|\\[a-z"/\\]|\\u00[0-2][0-9a-fA-F]){0,6}""#) {
            // spec R15: any other way to write it is left to be compared as a value
            if let Some((held, rest)) = take_string(text.as_bytes()) {
                prop_assert_eq!(rest, b"");
                prop_assert_eq!(written(|out| string(out, &held)), text);
            }
        }

        #[test]
        fn numbers_are_written_in_full(any: u64, shift in 0..64_u32, small in 0..1000_u64) {
            for some in [any, any >> shift, small] {
                prop_assert_eq!(written(|out| number(out, some)), some.to_string());
            }
        }
    }
}
