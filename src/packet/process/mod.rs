//! Runs a program to its end, within bounds, and leaves nothing of it behind (spec P62, P134).

mod limits;
mod orphans;
mod pipes;
mod running;
mod stream;

use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

use self::limits::NEVER;
use self::pipes::{Pipes, pipe};
use self::running::Running;
use crate::harness::{CancelToken, group};

pub(super) use limits::{Cut, Limits};
pub(super) use orphans::{Orphaned, end_of, mark};
pub(super) use pipes::From;
pub(super) use stream::{Exit, Streamed, stream};

/// The most bytes of output that are kept (spec P62).
pub(super) const OUTPUT_CAP: usize = 16 << 20;

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

impl Output {
    fn take(&mut self, bytes: &[u8]) {
        let room = OUTPUT_CAP.saturating_sub(self.bytes.len());
        self.is_cut |= bytes.len() > room;
        let kept = bytes.get(..bytes.len().min(room)).unwrap_or_default();
        self.bytes.extend_from_slice(kept);
    }
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
    let mut pipes = Pipes::default();
    let out_end = pipe(&mut pipes, From::Stdout).map_err(NoEnd::NotStarted)?;
    let err_end = match stderr {
        Stderr::Joined => out_end.try_clone(),
        Stderr::Apart => pipe(&mut pipes, From::Stderr),
    };
    let err_end = err_end.map_err(NoEnd::NotStarted)?;
    command.stdin(Stdio::null()).stdout(out_end).stderr(err_end);
    mark(&mut command, Orphaned::Ends);
    group::lead(&mut command);
    let child = command.spawn().map_err(NoEnd::NotStarted)?;
    // Until the command is gone its ends of the pipes are open here too.
    drop(command);
    let (mut stdout, mut stderr) = (Output::default(), Output::default());
    let mut take = |from: From, bytes: &[u8]| match from {
        From::Stdout => stdout.take(bytes),
        From::Stderr => stderr.take(bytes),
    };
    let limits = Limits {
        timeout,
        idle: NEVER,
        most: u64::MAX,
        stop: None,
        kill: cancel,
    };
    let mut running = Running::new(child);
    let cut = running.watch(&mut pipes, &mut take, &limits);
    if cut == Some(Cut::Interrupted) {
        return Err(NoEnd::Interrupted);
    }
    let status = running.end(&mut pipes, &mut take);
    let code = status.map_err(NoEnd::NotStarted)?.map(group::code);
    Ok(Ended {
        code: code.filter(|_| cut.is_none()),
        stdout,
        stderr,
    })
}
