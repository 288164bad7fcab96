//! `contains` and `matches` (spec P47, P48).

use std::fs::File;
use std::io::{self, ErrorKind, Read};

use memchr::memmem::Finder;

use super::Interrupted;
use super::entry::{Entry, Place};
use super::pattern;
use super::read::{self, Unreadable};
use super::verdict::Verdict;
use crate::harness::CancelToken;

/// How much of a file is looked at at a time.
const PIECE: usize = 256 << 10;

/// The file holds a text, byte for byte. A file of any size is looked through.
pub(super) fn contains(
    entry: Entry<'_>,
    place: &Place,
    cancel: &CancelToken,
) -> Result<Verdict, Interrupted> {
    let text = entry.text(&["text", "contains"]).unwrap_or_default();
    let found =
        read::open(&place.resolved).and_then(|file| Ok(holds(file, text.as_bytes(), cancel)?));
    Ok(match found {
        Ok(_) | Err(_) if cancel.is_cancelled() => return Err(Interrupted),
        Ok(true) => Verdict::pass("checked"),
        Ok(false) => Verdict::fail(format!("text not found: {text:?}")),
        Err(error) => missing(&error, place),
    })
}

/// A pattern matches somewhere in the file.
pub(super) fn matches(entry: Entry<'_>, place: &Place) -> Verdict {
    let pattern = entry.text(&["pattern", "matches"]).unwrap_or_default();
    let compiled = match pattern::compile(&pattern) {
        Ok(compiled) => compiled,
        Err(error) => return error.into(),
    };
    match read::read(&place.resolved) {
        Ok(bytes) if compiled.is_match(&String::from_utf8_lossy(&bytes)) => {
            Verdict::pass("checked")
        }
        Ok(_) => Verdict::fail(format!("pattern not matched: {pattern:?}")),
        Err(error) => missing(&error, place),
    }
}

fn missing(error: &Unreadable, place: &Place) -> Verdict {
    let verdict = error.verdict(place);
    verdict.unwrap_or_else(|| Verdict::fail("missing_file"))
}

/// Whether a file holds a text. Nothing is known of that once it is cancelled.
fn holds(mut file: File, text: &[u8], cancel: &CancelToken) -> io::Result<bool> {
    let finder = Finder::new(text);
    // The end of each piece is looked at again with the next: the text may begin there.
    let kept = text.len().saturating_sub(1);
    // Most files are smaller than a piece.
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(PIECE);
    let piece = length.saturating_add(1).min(PIECE);
    let mut bytes = Vec::new();
    while !cancel.is_cancelled() {
        let before = bytes.len();
        bytes.resize(before + piece, 0);
        let length = match file.read(bytes.get_mut(before..).unwrap_or_default()) {
            Err(error) if error.kind() == ErrorKind::Interrupted => 0,
            Err(error) => return Err(error),
            Ok(0) => {
                bytes.truncate(before);
                return Ok(finder.find(&bytes).is_some());
            }
            Ok(length) => length,
        };
        bytes.truncate(before + length);
        if finder.find(&bytes).is_some() {
            return Ok(true);
        }
        let done = bytes.len().saturating_sub(kept);
        bytes.drain(..done);
    }
    Ok(false)
}
