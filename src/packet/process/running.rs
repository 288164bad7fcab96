//! A process that leads a group, from its start to the end of the whole group.

use std::io;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use super::limits::{Cut, Limits, Reached};
use super::pipes::{Pipes, Take};
use crate::harness::group;

/// How long output is read after the program has ended.
const DRAIN: Duration = Duration::from_secs(1);
/// How long a wait lasts at first and at most before the bounds are looked at.
const SOON: Duration = Duration::from_millis(1);
const SELDOM: Duration = Duration::from_millis(20);

/// The process; `None` once it is reaped. When it is dropped, nothing of the group is left.
pub(super) struct Running(Option<Child>);

impl Running {
    pub(super) fn new(child: Child) -> Self {
        Self(Some(child))
    }

    /// Waits until the process has ended or its time is up, grace included. Why it was asked to end,
    /// if it was.
    pub(super) fn watch(
        &mut self,
        pipes: &mut Pipes,
        take: Take<'_>,
        limits: &Limits<'_>,
    ) -> Option<Cut> {
        let child = self.0.as_mut()?;
        let now = Instant::now();
        let mut reached = Reached {
            begun: now,
            heard: now,
            taken: 0,
        };
        let mut asked: Option<(Cut, Instant)> = None;
        let mut pause = SOON;
        loop {
            let (bytes, moved) = pipes.pump(take);
            if bytes > 0 {
                reached.heard = Instant::now();
                reached.taken = reached.taken.saturating_add(bytes);
            }
            if group::has_ended(child) {
                return asked.map(|(why, _)| why);
            }
            if limits.kill.is_cancelled() {
                return Some(Cut::Interrupted);
            }
            let left = match asked {
                None => limits.left(&reached),
                Some((why, since)) => why.grace().saturating_sub(since.elapsed()),
            };
            match asked {
                Some((why, _)) if left.is_zero() => return Some(why),
                None => {
                    if let Some(why) = limits.passed(&reached) {
                        group::terminate(child);
                        asked = Some((why, Instant::now()));
                        continue;
                    }
                }
                Some(_) => {}
            }
            pause = if moved { SOON } else { (pause * 2).min(SELDOM) };
            pipes.rest(pause.min(left));
        }
    }

    /// Kills what is left of the group, reads what it had written, and reaps the process; `None`
    /// where that was done before.
    pub(super) fn end(
        &mut self,
        pipes: &mut Pipes,
        take: Take<'_>,
    ) -> io::Result<Option<ExitStatus>> {
        let Some(mut child) = self.0.take() else {
            return Ok(None);
        };
        // The process has not been reaped, so nothing else can have the id of its group.
        group::kill(&mut child);
        let status = child.wait()?;
        let begun = Instant::now();
        // What has left the group may hold a pipe open.
        while !pipes.are_over() && begun.elapsed() < DRAIN {
            if !pipes.pump(take).1 {
                pipes.rest(SELDOM);
            }
        }
        Ok(Some(status))
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
