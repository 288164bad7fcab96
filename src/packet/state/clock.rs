//! The time as the state writes it.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::harness::StartedAt;

/// A moment, in milliseconds since the Unix epoch. It is written as UTC, RFC 3339 (spec P110).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(pub i64);

/// The present moment.
pub fn now() -> Instant {
    let since = |span: std::time::Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    Instant(match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(after) => since(after),
        Err(before) => -since(before.duration()),
    })
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        StartedAt(self.0).fmt(f)
    }
}

impl Instant {
    /// The moment as the names of logs have it: `YYYYMMDD-HHMMSS` (spec P116).
    pub fn stamp(self) -> String {
        let whole = StartedAt(self.0.div_euclid(1000) * 1000).to_string();
        let digits = whole.chars().filter(char::is_ascii_digit);
        let mut stamp: String = digits.collect();
        if stamp.len() == 14 {
            stamp.insert(8, '-');
        }
        stamp
    }

    /// The hour and minute: `HH:MM` (spec P105).
    pub fn hour_and_minute(self) -> String {
        let minutes = self.0.div_euclid(60_000).rem_euclid(1440);
        format!("{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_in_utc() {
        let moment = Instant(1_796_026_000_123);
        assert_eq!(moment.to_string(), "2026-11-30T08:06:40.123Z");
        assert_eq!(moment.stamp(), "20261130-080640");
        assert_eq!(moment.hour_and_minute(), "08:06");
    }
}
