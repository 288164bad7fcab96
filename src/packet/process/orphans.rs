//! What a runner that is gone has left running (spec P123). A runner that is killed ends nothing,
//! and the groups that it started go on; the next one finds their processes by a variable.

use std::process::Command;

/// The variable that says whose a process is.
const MARK: &str = "RUNVIL_RUNNER";

/// What follows on the end of a process's runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::packet) enum Orphaned {
    /// It is to end.
    Ends,
    /// It is given time to finish: half a commit is worse than a late one.
    Finishes,
}

/// Marks a program as one that this process starts, unless it was marked before.
pub(in crate::packet) fn mark(command: &mut Command, orphaned: Orphaned) {
    if command.get_envs().all(|(name, _)| name != MARK) {
        command.env(MARK, mark_of_this(orphaned));
    }
}

#[cfg(target_os = "linux")]
pub(in crate::packet) use linux::end_of;
#[cfg(target_os = "linux")]
use linux::mark_of_this;

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::thread;
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use super::{MARK, Orphaned};
    use crate::packet::process_stat::ProcessStat;

    /// How long what is to end has for that, before it is killed.
    const GRACE: Duration = Duration::from_secs(2);
    /// How long what is to finish has, before it is to end.
    const PATIENCE: Duration = Duration::from_secs(10);
    const PAUSE: Duration = Duration::from_millis(50);

    /// The word of [`Orphaned::Finishes`].
    const FINISHES: &str = "finishes";

    pub(super) fn mark_of_this(orphaned: Orphaned) -> String {
        let pid = std::process::id();
        let stat = ProcessStat::of(pid);
        let (start, session) = stat.map_or((0, 0), |stat| (stat.start, stat.session));
        let mark = format!("{pid}:{start}:{session}");
        match orphaned {
            Orphaned::Ends => mark,
            Orphaned::Finishes => format!("{mark}:{FINISHES}"),
        }
    }

    /// Ends what the runner that had this id and began then has left in its session. What has made
    /// a session of its own was meant to stay.
    pub(in crate::packet) fn end_of(pid: u32, start: u64) {
        let whose = format!("{pid}:{start}:");
        let begun = Instant::now();
        let mut asked = Vec::new();
        loop {
            let found = find(&whose);
            let since = begun.elapsed();
            for &(pid, orphaned) in &found {
                let after = match orphaned {
                    Orphaned::Ends => Duration::ZERO,
                    Orphaned::Finishes => PATIENCE,
                };
                let Some(late) = since.checked_sub(after) else {
                    continue;
                };
                if late >= GRACE {
                    send(pid, &whose, Signal::KILL);
                } else if !asked.contains(&pid) {
                    send(pid, &whose, Signal::TERM);
                    asked.push(pid);
                }
            }
            // What does not even end when it is killed is waited for no longer.
            if found.is_empty() || since >= PATIENCE + 2 * GRACE {
                return;
            }
            thread::sleep(PAUSE);
        }
    }

    /// The processes with such a mark.
    fn find(whose: &str) -> Vec<(u32, Orphaned)> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter_map(|pid| Some((pid, orphaned(pid, whose)?)))
            .collect()
    }

    /// What follows for a process, if it is marked so and in the session of its mark.
    fn orphaned(pid: u32, whose: &str) -> Option<Orphaned> {
        let environ = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let mut variables = environ.split(|byte| *byte == 0);
        let mark = variables.find_map(|variable| {
            let (name, value) = variable.split_at_checked(MARK.len())?;
            (name == MARK.as_bytes()).then_some(value.strip_prefix(b"=")?)
        })?;
        let rest = std::str::from_utf8(mark).ok()?.strip_prefix(whose)?;
        let (session, orphaned) = match rest.split_once(':') {
            Some((session, FINISHES)) => (session, Orphaned::Finishes),
            Some(_) => return None,
            None => (rest, Orphaned::Ends),
        };
        let stat = ProcessStat::of(pid)?;
        let is_there = session.parse() == Ok(stat.session) && stat.is_alive();
        is_there.then_some(orphaned)
    }

    fn send(pid: u32, whose: &str, signal: Signal) {
        let raw = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let Some(Ok(process)) = raw.map(|pid| pidfd_open(pid, PidfdFlags::empty())) else {
            return;
        };
        // Meanwhile the id may have become another's; what is held now stays what it is.
        if orphaned(pid, whose).is_some() {
            // One that is gone needs no signal.
            let _ = pidfd_send_signal(process, signal);
        }
    }
}

/// Elsewhere processes cannot be looked at.
#[cfg(not(target_os = "linux"))]
fn mark_of_this(_orphaned: Orphaned) -> String {
    std::process::id().to_string()
}

/// Nothing is found.
#[cfg(not(target_os = "linux"))]
pub(in crate::packet) fn end_of(_pid: u32, _start: u64) {}
