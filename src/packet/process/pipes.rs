//! What goes into a program and what comes out of it.

use std::io::{self, PipeReader, PipeWriter};
use std::process::ChildStdin;
use std::thread;
use std::time::Duration;

use crate::harness::group;

/// How much is taken of one stream before the bounds are looked at.
const GULP: u64 = 1 << 20;

/// Where output came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::packet) enum From {
    /// The standard output.
    Stdout,
    /// The standard error.
    Stderr,
}

/// Takes output as it comes.
pub(super) type Take<'a> = &'a mut dyn FnMut(From, &[u8]);

/// The streams of a program.
#[derive(Default)]
pub(super) struct Pipes {
    /// Those that have not ended.
    readers: Vec<(From, PipeReader)>,
    feed: Option<Feed>,
}

/// What a program is still to read.
struct Feed {
    pipe: ChildStdin,
    bytes: Vec<u8>,
    sent: usize,
}

/// A pipe for a program's output; its other end.
pub(super) fn pipe(pipes: &mut Pipes, from: From) -> io::Result<PipeWriter> {
    let (reader, writer) = io::pipe()?;
    group::unblock(&reader)?;
    pipes.readers.push((from, reader));
    Ok(writer)
}

impl Pipes {
    /// The program is to read these bytes, and then the end of its input.
    pub(super) fn feed(&mut self, pipe: ChildStdin, bytes: Vec<u8>) -> io::Result<()> {
        group::unblock(&pipe)?;
        self.feed = Some(Feed {
            pipe,
            bytes,
            sent: 0,
        });
        Ok(())
    }

    /// Whether all output has ended.
    pub(super) fn are_over(&self) -> bool {
        self.readers.is_empty()
    }

    /// Takes what is there, but not for ever, and gives what is taken. How many bytes came, and
    /// whether anything moved.
    pub(super) fn pump(&mut self, take: Take<'_>) -> (u64, bool) {
        let mut taken = 0;
        self.readers.retain(|(from, reader)| {
            let (bytes, is_open) = drain(reader, &mut |bytes| take(*from, bytes));
            taken += bytes;
            is_open
        });
        let is_fed = self.give();
        (taken, taken > 0 || is_fed)
    }

    /// Gives the program of its input what it takes. Whether it took something.
    fn give(&mut self) -> bool {
        let Some(feed) = &mut self.feed else {
            return false;
        };
        let rest = feed.bytes.get(feed.sent..).unwrap_or_default();
        let written = match rest.is_empty() {
            true => None,
            false => group::write_some(&feed.pipe, rest).ok(),
        };
        match written {
            Some(count) => {
                feed.sent += count;
                count > 0
            }
            // It has all of it, or reads no more; dropping the pipe ends its input.
            None => {
                self.feed = None;
                false
            }
        }
    }

    /// Waits for output, or for a while.
    pub(super) fn rest(&self, most: Duration) {
        let open: Vec<&PipeReader> = self.readers.iter().map(|(_, reader)| reader).collect();
        match open.is_empty() {
            true => thread::sleep(most),
            false => group::wait_for_any(&open, most),
        }
    }
}

/// Takes what a stream has. How much that was, and whether there may be more.
fn drain(reader: &PipeReader, take: &mut dyn FnMut(&[u8])) -> (u64, bool) {
    let mut buffer = [0; 32 << 10];
    let mut taken = 0;
    while taken < GULP {
        match group::read_some(reader, &mut buffer) {
            Ok(None) => break,
            Ok(Some(0)) | Err(_) => return (taken, false),
            Ok(Some(length)) => {
                taken += length as u64;
                take(buffer.get(..length).unwrap_or_default());
            }
        }
    }
    (taken, true)
}
