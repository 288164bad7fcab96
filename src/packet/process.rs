//! Runs a program to its end, within bounds, and leaves nothing of it behind (spec P62).

use std::io::{self, PipeReader, PipeWriter};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::harness::{CancelToken, group};

/// The most bytes of output that are kept (spec P62).
pub(super) const OUTPUT_CAP: usize = 16 << 20;

/// How long a group has between the request to end and its end.
const GRACE: Duration = Duration::from_secs(2);
/// How long output is read after the program has ended.
const DRAIN: Duration = Duration::from_secs(1);
/// How long a wait lasts at first and at most before the cancel and the deadline are looked at.
const SOON: Duration = Duration::from_millis(1);
const SELDOM: Duration = Duration::from_millis(20);
/// How much output is taken before they are looked at.
const GULP: usize = 1 << 20;

/// How a program that was started ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// Its exit code, 128 and the number of the signal that killed it; `None` past the deadline.
    pub(super) code: Option<i32>,
    /// What it wrote to its standard output.
    pub(super) stdout: Output,
    /// What it wrote to its standard error, where that was kept apart.
    pub(super) stderr: Output,
}

/// Output, up to its bound.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// The first bytes.
    pub(super) bytes: Vec<u8>,
    /// Whether there were more.
    pub(super) is_cut: bool,
}

/// Why a run of a program has no end to tell of.
#[derive(Debug)]
pub(super) enum NoEnd {
    /// It could not be started.
    NotStarted(io::Error),
    /// It was interrupted.
    Interrupted,
}

/// Where standard error goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stderr {
    /// To the standard output, as it comes.
    Joined,
    /// To an output of its own.
    Apart,
}

/// Runs a program in a group of its own, with empty standard input. Past `timeout` the whole group
/// is asked to end, and two seconds later killed; a cancel kills it at once; when the program has
/// ended, so is the rest of its group.
///
/// # Errors
/// When it could not be started, or was interrupted.
pub(super) fn run(
    mut command: Command,
    stderr: Stderr,
    timeout: Duration,
    cancel: &CancelToken,
) -> Result<Ended, NoEnd> {
    if cancel.is_cancelled() {
        return Err(NoEnd::Interrupted);
    }
    let (out, out_end) = pipe()?;
    let mut pipes = vec![Pipe::new(out)];
    let err_end = match stderr {
        Stderr::Joined => out_end.try_clone().map_err(NoEnd::NotStarted)?,
        Stderr::Apart => {
            let (err, err_end) = pipe()?;
            pipes.push(Pipe::new(err));
            err_end
        }
    };
    command.stdin(Stdio::null()).stdout(out_end).stderr(err_end);
    group::lead(&mut command);
    let child = command.spawn().map_err(NoEnd::NotStarted)?;
    // Until the command is gone its ends of the pipes are open here too.
    drop(command);
    let mut running = Running(Some(child));
    let is_late = running.watch(&mut pipes, timeout, cancel)?;
    let code = running.end(&mut pipes).map_err(NoEnd::NotStarted)?;
    let mut outputs = pipes.into_iter().map(|pipe| pipe.output);
    Ok(Ended {
        code: code.filter(|_| !is_late),
        stdout: outputs.next().unwrap_or_default(),
        stderr: outputs.next().unwrap_or_default(),
    })
}

fn pipe() -> Result<(PipeReader, PipeWriter), NoEnd> {
    let (reader, writer) = io::pipe().map_err(NoEnd::NotStarted)?;
    group::unblock(&reader).map_err(NoEnd::NotStarted)?;
    Ok((reader, writer))
}

/// A process that leads a group; `None` once it is reaped. When it is dropped, nothing of the group
/// is left.
struct Running(Option<Child>);

impl Running {
    /// Waits until the process has ended or its time is up, grace included. Whether it was late.
    fn watch(
        &mut self,
        pipes: &mut [Pipe],
        timeout: Duration,
        cancel: &CancelToken,
    ) -> Result<bool, NoEnd> {
        let Some(child) = &mut self.0 else {
            return Ok(false);
        };
        let begun = Instant::now();
        let mut asked: Option<Instant> = None;
        let mut pause = SOON;
        loop {
            let took = pump(pipes);
            if group::has_ended(child) {
                return Ok(asked.is_some());
            }
            if cancel.is_cancelled() {
                return Err(NoEnd::Interrupted);
            }
            let left = match asked {
                None => timeout.saturating_sub(begun.elapsed()),
                Some(since) => GRACE.saturating_sub(since.elapsed()),
            };
            if left.is_zero() {
                if asked.is_some() {
                    return Ok(true);
                }
                group::terminate(child);
                asked = Some(Instant::now());
                continue;
            }
            pause = if took { SOON } else { (pause * 2).min(SELDOM) };
            rest(pipes, pause.min(left));
        }
    }

    /// Kills what is left of the group, reads what it had written, and reaps the process.
    fn end(&mut self, pipes: &mut [Pipe]) -> io::Result<Option<i32>> {
        let Some(mut child) = self.0.take() else {
            return Ok(None);
        };
        // The process has not been reaped, so nothing else can have the id of its group.
        group::kill(&mut child);
        let status = child.wait()?;
        let begun = Instant::now();
        // What has left the group may hold a pipe open.
        while pipes.iter().any(|pipe| pipe.reader.is_some()) && begun.elapsed() < DRAIN {
            if !pump(pipes) {
                rest(pipes, SELDOM);
            }
        }
        Ok(Some(group::code(status)))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            group::kill(&mut child);
            // Where there is nothing to wait for, it has ended as well.
            let _ = child.wait();
        }
    }
}

/// One stream of output.
struct Pipe {
    /// `None` once it has ended.
    reader: Option<PipeReader>,
    output: Output,
}

impl Pipe {
    fn new(reader: PipeReader) -> Self {
        Self {
            reader: Some(reader),
            output: Output::default(),
        }
    }

    /// Takes what is there, but not for ever. Whether there was something.
    fn pump(&mut self) -> bool {
        let mut buffer = [0; 32 << 10];
        let mut took = 0;
        while let Some(reader) = &self.reader
            && took < GULP
        {
            match group::read_some(reader, &mut buffer) {
                Ok(None) => break,
                Ok(Some(0)) | Err(_) => self.reader = None,
                Ok(Some(length)) => {
                    took += length;
                    let room = OUTPUT_CAP.saturating_sub(self.output.bytes.len());
                    self.output.is_cut |= length > room;
                    let kept = buffer.get(..length.min(room)).unwrap_or_default();
                    self.output.bytes.extend_from_slice(kept);
                }
            }
        }
        took > 0
    }
}

/// Takes what is there from each. Whether there was something.
fn pump(pipes: &mut [Pipe]) -> bool {
    let took: Vec<bool> = pipes.iter_mut().map(Pipe::pump).collect();
    took.contains(&true)
}

/// Waits for output, or for a while.
fn rest(pipes: &[Pipe], most: Duration) {
    let open: Vec<&PipeReader> = pipes
        .iter()
        .filter_map(|pipe| pipe.reader.as_ref())
        .collect();
    match open.is_empty() {
        true => thread::sleep(most),
        false => group::wait_for_any(&open, most),
    }
}
