//! Who runs a packet, and whether that process is alive (spec P119, P120).

use std::fs;
use std::path::Path;

use super::folder::StateFolder;
use crate::harness::regular;

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
        let start = stat(pid).map(|stat| stat.start);
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
        stat(self.pid).is_some_and(|stat| {
            let is_same = self.start.is_none_or(|start| start == stat.start);
            is_same && !matches!(stat.state, 'Z' | 'X' | 'x')
        })
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

/// What the system says of a process.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    state: char,
    start: u64,
}

fn stat(pid: u32) -> Option<Stat> {
    read_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads `/proc/PID/stat`. A command's name may hold spaces and parentheses, so its fields are
/// counted from behind the last `) `: the state is field 3, the start time field 22.
fn read_stat(text: &str) -> Option<Stat> {
    let (_, rest) = text.rsplit_once(") ")?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let start = fields.nth(18)?.parse().ok()?;
    Some(Stat { state, start })
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
    fn fields_are_counted_from_behind_the_name() {
        let fields: Vec<String> = (4..=30).map(|field| field.to_string()).collect();
        let text = format!("7 (a) b (c) S {}", fields.join(" "));
        let stat = read_stat(&text).unwrap();
        assert_eq!(
            stat,
            Stat {
                state: 'S',
                start: 22
            }
        );
        assert_eq!(read_stat("7 (a S 1"), None);
    }

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
