//! `log`: an author's checkpoint, under two quotas (spec L73 to L77).

use crate::engine::entry::{Entry, LogQuota};
use crate::engine::event::EventKind;
use crate::lua::{Call, Class, Failure, Reply};

/// Checks and reports a checkpoint, in the order of spec L74.
pub fn log(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    if call.count() != 1 {
        return Err(Failure::lua("log expects exactly one argument"));
    }
    let entry = call.host();
    let LogQuota { events, bytes } = entry.log.get();
    let Some(events) = events.checked_sub(1) else {
        return Err(refused(
            "lua log event budget exceeded",
            "lua log event quota exceeded",
        ));
    };
    entry.log.set(LogQuota { events, bytes });
    let message = call
        .bytes(0)
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(message) = message else {
        return Err(Failure::lua("log message must be a UTF-8 string"));
    };
    if message.chars().count() > 256 {
        return Err(Failure::lua("log message must be at most 256 characters"));
    }
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    if message.contains(breaks) {
        return Err(Failure::lua(
            "log message must not contain newline or control characters",
        ));
    }
    let Some(bytes) = bytes.checked_sub(message.len() as u64) else {
        let caught = "lua log cumulative byte budget exceeded";
        return Err(refused(caught, "lua log byte quota exceeded"));
    };
    entry.log.set(LogQuota { events, bytes });
    entry.report(EventKind::Checkpoint { message });
    Ok(Reply::None)
}

fn refused(caught: &'static str, uncaught: &'static str) -> Failure {
    Failure {
        class: Class::Quota(uncaught),
        ..Failure::lua(caught)
    }
}
