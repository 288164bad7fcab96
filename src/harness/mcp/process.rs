//! The process of a server, from its start to its end (spec T161, T167).

use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::config::McpConfig;
use crate::harness::group;

/// How long a process has after its input was closed, and again after it was asked to end.
const GRACE: Duration = Duration::from_secs(2);

/// A process that leads a group of its own. When it is dropped, nothing of the group is left.
#[derive(Debug)]
pub(super) struct Process {
    child: Mutex<Child>,
    is_gone: AtomicBool,
}

/// Its standard streams.
pub(super) struct Streams {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

impl Process {
    /// Starts the process of a configuration.
    pub(super) fn start(config: &McpConfig) -> io::Result<(Self, Streams)> {
        if !config.cwd.is_dir() {
            let what = format!("there is no folder {}", config.cwd.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, what));
        }
        let mut command = Command::new(&config.program);
        command
            .args(&config.args)
            .env_clear()
            .envs(config.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&config.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        group::lead(&mut command);
        let mut child = command.spawn()?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let process = Self {
            child: Mutex::new(child),
            is_gone: AtomicBool::new(false),
        };
        match streams {
            (Some(stdin), Some(stdout), Some(stderr)) => {
                group::unblock(&stdin)?;
                let streams = Streams {
                    stdin,
                    stdout,
                    stderr,
                };
                Ok((process, streams))
            }
            _ => Err(io::Error::other("its streams are not there")),
        }
    }

    /// Whether it has ended by itself. What it started may go on.
    pub(super) fn has_ended(&self) -> bool {
        match self.child.try_lock() {
            Ok(mut child) => self.is_gone() || group::has_ended(&mut child),
            Err(TryLockError::Poisoned(_)) => true,
            // Its end is under way.
            Err(TryLockError::WouldBlock) => false,
        }
    }

    /// Whether it has ended and been reaped, and its group ended.
    pub(super) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Acquire)
    }

    /// Ends what is left of the group after the process itself has ended.
    pub(super) fn end_rest(&self) {
        if let Ok(mut child) = self.child.try_lock()
            && !self.is_gone()
            && group::has_ended(&mut child)
        {
            group::kill(&mut child);
        }
    }

    /// Waits for its end, its input being closed; asks for it after a while, and after another one
    /// enforces it.
    pub(super) fn end(&self) {
        self.finish(GRACE);
    }

    fn finish(&self, grace: Duration) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_gone() {
            return;
        }
        if !ends_within(&mut child, grace) {
            group::terminate(&mut child);
            ends_within(&mut child, grace);
        }
        // The process has not been reaped, so nothing else can have the id of its group.
        group::kill(&mut child);
        // Where there is nothing to wait for, it has ended as well.
        let _ = child.wait();
        self.is_gone.store(true, Ordering::Release);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.finish(Duration::ZERO);
    }
}

/// Whether a process ends within a span.
fn ends_within(child: &mut Child, span: Duration) -> bool {
    const SOON: Duration = Duration::from_millis(1);
    const SELDOM: Duration = Duration::from_millis(20);
    let begun = Instant::now();
    let mut pause = SOON;
    while !group::has_ended(child) {
        if begun.elapsed() >= span {
            return false;
        }
        thread::sleep(pause.min(span));
        pause = (pause * 2).min(SELDOM);
    }
    true
}
