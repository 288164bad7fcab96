//! Any bytes as what an MCP server says: its lines do not depend on how they arrive, and whatever
//! they hold, a start ends once and a call's failure is one short line. The first byte of the input
//! says how they arrive.

#![no_main]

use std::io::{self, Read};

use libfuzzer_sys::fuzz_target;
use runvil::harness::mcp::{Handshake, LineError, Lines, Message, output};

/// The cap of a line here.
const CAP: usize = 512;

/// A stream that gives few bytes at a time.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 = self.1 * 5 % 31;
        let size = (self.1 % 9 + 1).min(self.0.len()).min(buffer.len());
        buffer[..size].copy_from_slice(&self.0[..size]);
        self.0 = &self.0[size..];
        Ok(size)
    }
}

fn lines(stream: impl Read) -> (Vec<Vec<u8>>, bool) {
    let (mut lines, mut out) = (Lines::new(stream, CAP), Vec::new());
    loop {
        match lines.next_line() {
            Ok(Some(line)) => out.push(line.to_vec()),
            Ok(None) => return (out, false),
            Err(LineError::TooLong) => return (out, true),
            Err(LineError::Broken(error)) => panic!("{error}"),
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((how, text)) = bytes.split_first() else {
        return;
    };
    let (whole, is_too_long) = lines(text);
    let (pieces, is_too_long_too) = lines(Pieces(text, usize::from(*how)));
    assert!(whole == pieces && is_too_long == is_too_long_too);

    let (mut handshake, hello) = Handshake::begin();
    assert!(hello.ends_with(b"\n"));
    let mut ended = false;
    for message in whole.iter().flat_map(|line| Message::read(line)) {
        let Message::Reply { id, outcome } = message else {
            continue;
        };
        if !ended && let Some(step) = handshake.reply(id, outcome.clone()) {
            assert!(step.send.is_empty() || step.send.ends_with(b"\n"));
            assert!(
                !step.send.is_empty() || step.end.is_some(),
                "nothing follows"
            );
            if let Some(Err(reason)) = &step.end {
                assert!(reason.lines().count() == 1, "{reason}");
            }
            ended = step.end.is_some();
        }
        for structured in [false, true] {
            if let Err(failure) = output("kiln/fire", structured, outcome.clone()) {
                let text = failure.message.strip_prefix("kiln/fire: ");
                let text = text.unwrap_or_else(|| panic!("{failure}"));
                assert!(
                    !text.is_empty() && !text.contains(char::is_control),
                    "{text}"
                );
            }
        }
    }
});
