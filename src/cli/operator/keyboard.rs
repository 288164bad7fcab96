//! Lines that a person types.

use std::io::{self, BufRead};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Builder;
use std::time::Duration;

/// How often one who waits for a line looks whether it is still wanted.
const TICK: Duration = Duration::from_millis(20);

/// What was read: a line without its end, or nothing, where the person ended the input.
type Line = io::Result<Option<Vec<u8>>>;

/// Reads standard input a line at a time, on a thread of its own, since a read cannot be called
/// off. The thread is there from the first line that is wanted until the process ends, and reads
/// only when one is wanted.
#[derive(Debug, Default)]
pub struct Keyboard {
    thread: Option<(Sender<()>, Receiver<Line>)>,
    /// Whether a line is being read that nobody has taken.
    reading: bool,
}

impl Keyboard {
    /// The next line; `None` once it is not wanted any more. The line that is typed then is there
    /// for who asks next.
    pub fn line(&mut self, is_wanted: impl Fn() -> bool) -> Option<Line> {
        let (want, lines) = match &self.thread {
            Some(thread) => thread,
            None => match start() {
                Ok(thread) => self.thread.insert(thread),
                Err(error) => return Some(Err(error)),
            },
        };
        if !self.reading {
            // A thread that has ended is met below.
            let _ = want.send(());
            self.reading = true;
        }
        loop {
            match lines.recv_timeout(TICK) {
                Ok(line) => {
                    self.reading = false;
                    return Some(line);
                }
                Err(RecvTimeoutError::Timeout) if is_wanted() => {}
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => {
                    return Some(Err(io::ErrorKind::BrokenPipe.into()));
                }
            }
        }
    }
}

fn start() -> io::Result<(Sender<()>, Receiver<Line>)> {
    let (want, wanted) = channel();
    let (tell, lines) = channel();
    let thread = Builder::new().name("runvil-keyboard".to_owned());
    thread.spawn(move || {
        while wanted.recv().is_ok() {
            if tell.send(read(&mut io::stdin().lock())).is_err() {
                break;
            }
        }
    })?;
    Ok((want, lines))
}

/// Reads a line.
fn read(input: &mut impl BufRead) -> Line {
    let mut line = Vec::new();
    if input.read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.ends_with(b"\n") {
        line.pop();
        if cfg!(windows) && line.ends_with(b"\r") {
            line.pop();
        }
    }
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_what_was_typed() {
        let mut input = &b"a\r b\xff \n\nend"[..];
        let mut next = || read(&mut input).unwrap();
        assert_eq!(next(), Some(b"a\r b\xff ".to_vec()));
        assert_eq!(next(), Some(Vec::new()));
        assert_eq!(next(), Some(b"end".to_vec()));
        assert_eq!(next(), None);
    }
}
