//! What the system says of a process.

use std::fs;

/// The parts of `/proc/PID/stat` that are of use.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProcessStat {
    /// `Z` for one that has ended, and other letters.
    pub(super) state: char,
    /// The session that it is in.
    pub(super) session: i32,
    /// When it started, in the system's own ticks.
    pub(super) start: u64,
}

impl ProcessStat {
    /// What is said of a process, where there is one.
    pub(super) fn of(pid: u32) -> Option<Self> {
        Self::read(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Whether it has not ended.
    pub(super) fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X' | 'x')
    }

    /// A command's name may hold spaces and parentheses, so the fields are counted from behind the
    /// last `) `: the state is field 3, the session field 6, the start time field 22.
    fn read(text: &str) -> Option<Self> {
        let (_, rest) = text.rsplit_once(") ")?;
        let mut fields = rest.split_whitespace();
        let state = fields.next()?.chars().next()?;
        let session = fields.nth(2)?.parse().ok()?;
        let start = fields.nth(15)?.parse().ok()?;
        Some(Self {
            state,
            session,
            start,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_from_behind_the_name() {
        let fields: Vec<String> = (4..=30).map(|field| field.to_string()).collect();
        let text = format!("7 (a) b (c) S {}", fields.join(" "));
        let stat = ProcessStat::read(&text).unwrap();
        assert_eq!(
            stat,
            ProcessStat {
                state: 'S',
                session: 6,
                start: 22
            }
        );
        assert_eq!(ProcessStat::read("7 (a S 1"), None);
    }
}
