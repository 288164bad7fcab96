//! Who runs a packet, and whether that process is alive (spec P119, P120).

use std::path::Path;

use super::folder::StateFolder;
use crate::harness::regular;
use crate::packet::process::end_of;
use crate::packet::process_stat::ProcessStat;

/// The most bytes of a file that names a runner.
const LONGEST: u64 = 4096;

/// What `run.pid` says of a runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    /// The process.
    pub(super) pid: u32,
    /// When it started, in the system's own ticks.
    pub(super) start: Option<u64>,
}

impl Owner {
    /// This process.
    pub(super) fn this() -> Self {
        let pid = std::process::id();
        let start = ProcessStat::of(pid).map(|stat| stat.start);
        Self { pid, start }
    }

    /// The line of the file.
    pub(super) fn line(&self) -> String {
        match self.start {
            Some(start) => format!("{} {start}\n", self.pid),
            None => format!("{}\n", self.pid),
        }
    }

    /// Reads the file; `None` where it says nothing of a runner.
    pub(super) fn read(path: &Path) -> Option<Self> {
        Self::parse(&line(path)?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let pid = words.next()?.parse().ok().filter(|pid| *pid != 0)?;
        let start = match words.next() {
            Some(start) => Some(start.parse().ok()?),
            None => None,
        };
        let is_whole = words.next().is_none();
        is_whole.then_some(Self { pid, start })
    }

    /// Whether that process is alive, and still the same (spec P120).
    pub(super) fn is_alive(&self) -> bool {
        if !Path::new("/proc/self/stat").exists() {
            return answers(self.pid);
        }
        ProcessStat::of(self.pid).is_some_and(|stat| {
            let is_same = self.start.is_none_or(|start| start == stat.start);
            is_same && stat.is_alive()
        })
    }
}

impl Owner {
    /// Whether what it has left running can be found.
    pub(super) fn can_end_orphans(&self) -> bool {
        cfg!(target_os = "linux") && self.start.is_some()
    }

    /// Ends what a runner that is gone has left running (spec P123).
    pub(super) fn end_orphans(&self) {
        if let Some(start) = self.start {
            end_of(self.pid, start);
        }
    }
}

/// What a file says that is to name a runner.
pub(super) fn line(path: &Path) -> Option<String> {
    regular::read_text(path, LONGEST).ok()
}

/// The process that runs a packet now, if one does (spec P120).
pub fn live_owner(folder: &StateFolder) -> Option<u32> {
    let owner = Owner::read(&folder.pid())?;
    owner.is_alive().then_some(owner.pid)
}

#[cfg(unix)]
fn answers(pid: u32) -> bool {
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};

    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    // A process of somebody else answers with a refusal.
    pid.is_some_and(|pid| matches!(test_kill_process(pid), Ok(()) | Err(Errno::PERM)))
}

#[cfg(not(unix))]
fn answers(_pid: u32) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_one_of_another_start_does_not() {
        let this = Owner::this();
        assert!(this.is_alive());
        assert_eq!(Owner::parse(&this.line()), Some(this.clone()));
        if this.start.is_some() {
            let other = Owner {
                start: Some(0),
                ..this
            };
            assert!(!other.is_alive());
        }
        for junk in ["", "junk", "0 1", "1 x", "1 2 3", "-4"] {
            assert_eq!(Owner::parse(junk), None, "{junk}");
        }
    }
}
