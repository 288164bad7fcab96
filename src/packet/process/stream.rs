//! Runs a program and hands on its output line by line as it comes.

use std::io;
use std::process::{Command, Stdio};

use super::OUTPUT_CAP;
use super::limits::{Cut, Limits};
use super::orphans::{Orphaned, mark};
use super::pipes::{From, Pipes, pipe};
use super::running::Running;
use crate::harness::group;

/// How a program ended that was streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::packet) struct Streamed {
    /// Why it was asked to end, if it was.
    pub(in crate::packet) cut: Option<Cut>,
    /// How it did.
    pub(in crate::packet) exit: Exit,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::packet) enum Exit {
    /// With a status.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

/// Runs a program in a group of its own, which reads `input` from its standard input. Each line that
/// it writes is handed on without its end, bad bytes replaced; a line of more than 16 MiB comes in
/// parts, and what goes over the most bytes that it may write does not come at all. When the program has ended, so is the rest of its group.
///
/// # Errors
/// When it could not be started.
pub(in crate::packet) fn stream(
    mut command: Command,
    input: Vec<u8>,
    limits: &Limits<'_>,
    line: &mut dyn FnMut(From, &str),
) -> io::Result<Streamed> {
    let mut pipes = Pipes::default();
    let out_end = pipe(&mut pipes, From::Stdout)?;
    let err_end = pipe(&mut pipes, From::Stderr)?;
    command
        .stdin(Stdio::piped())
        .stdout(out_end)
        .stderr(err_end);
    mark(&mut command, Orphaned::Ends);
    group::lead(&mut command);
    let mut child = command.spawn()?;
    // Until the command is gone its ends of the pipes are open here too.
    drop(command);
    let stdin = child.stdin.take();
    let mut running = Running::new(child);
    if let Some(stdin) = stdin {
        pipes.feed(stdin, input)?;
    }
    let (mut stdout, mut stderr) = (Lines::default(), Lines::default());
    // What comes past the bound, until the group has ended, is read and dropped.
    let mut room = limits.most;
    let mut take = |from: From, bytes: &[u8]| {
        let length = usize::try_from(room).unwrap_or(usize::MAX);
        let kept = bytes.get(..length).unwrap_or(bytes);
        room = room.saturating_sub(bytes.len() as u64);
        match from {
            From::Stdout => stdout.take(kept, &mut |text| line(from, text)),
            From::Stderr => stderr.take(kept, &mut |text| line(from, text)),
        }
    };
    let cut = running.watch(&mut pipes, &mut take, limits);
    let status = running.end(&mut pipes, &mut take)?;
    stdout.end(&mut |text| line(From::Stdout, text));
    stderr.end(&mut |text| line(From::Stderr, text));
    let exit = status.map_or(Exit::Code(-1), |status| match group::signal(status) {
        Some(signal) => Exit::Signal(signal),
        None => Exit::Code(group::code(status)),
    });
    Ok(Streamed { cut, exit })
}

/// Cuts bytes into lines.
#[derive(Debug, Default)]
struct Lines {
    /// The beginning of a line whose end has not come.
    begun: Vec<u8>,
}

impl Lines {
    fn take(&mut self, bytes: &[u8], line: &mut dyn FnMut(&str)) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.begun.extend_from_slice(part);
            if part.ends_with(b"\n") || self.begun.len() >= OUTPUT_CAP {
                self.end(line);
            }
        }
    }

    /// Hands on what there is of a line, if there is something.
    fn end(&mut self, line: &mut dyn FnMut(&str)) {
        if self.begun.is_empty() {
            return;
        }
        let text = self.begun.strip_suffix(b"\n").unwrap_or(&self.begun);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        line(&String::from_utf8_lossy(text));
        self.begun.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_cut_into_lines() {
        let mut lines = Lines::default();
        let mut seen = Vec::new();
        for bytes in [&b"a\nb"[..], b"c\r\n\nd\xff", b"e"] {
            lines.take(bytes, &mut |line| seen.push(line.to_owned()));
        }
        lines.end(&mut |line| seen.push(line.to_owned()));
        lines.end(&mut |line| seen.push(line.to_owned()));
        assert_eq!(seen, ["a", "bc", "", "d\u{fffd}e"]);
    }
}
