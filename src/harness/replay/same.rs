//! When two lines of a record are the same (spec R14, R15).

use std::io;

use memchr::memmem;

use crate::harness::record::{Line, Rest, read_distinct, read_json};
use crate::lua::Data;

/// What a line has after its id: the moment at which it was written.
const AT: &[u8] = b"\"at\":";

/// How the line of an event begins, which has no moment.
pub(super) const EVENT: &str = r#"{"v":1,"t":"event""#;

/// How the line of an effect begins.
pub(super) const EFFECT: &[u8] = br#"{"v":1,"t":"effect""#;

/// How the lines begin of what a run does itself.
pub(super) const DOES: [&[u8]; 2] = [EVENT.as_bytes(), EFFECT];

/// Whether a line is the one that was recorded: as JSON values, and whenever either was written.
/// Nearly always they have the same bytes but for the moment.
///
/// # Errors
/// The recorded line is none of a record, or has a key twice.
pub(super) fn is_same(recorded: &str, new: &str) -> Result<bool, serde_json::Error> {
    if recorded == new || is_same_but_at(recorded.as_bytes(), new) {
        return Ok(true);
    }
    let held = read_distinct(recorded)?;
    Line::read(recorded)?;
    let new_held = read_json(new)?;
    Ok(match new.starts_with(EVENT) {
        true => held == new_held,
        false => without_at(held) == without_at(new_held),
    })
}

/// Whether two lines have the same bytes, but for the digits of the moment.
fn is_same_but_at(recorded: &[u8], new: &str) -> bool {
    let Some((before, _, rest)) = at_moment(new) else {
        return false;
    };
    let recorded = recorded.strip_prefix(before).map(Rest);
    recorded.is_some_and(|mut recorded| recorded.number().is_some() && recorded.0 == rest)
}

/// The moment of a line as this engine writes it; an event has none.
pub(super) fn moment(line: &str) -> Option<u64> {
    at_moment(line).map(|(_, moment, _)| moment)
}

/// A line as this engine writes it: what stands before its moment, the moment, and the rest.
fn at_moment(line: &str) -> Option<(&[u8], u64, &[u8])> {
    if line.starts_with(EVENT) {
        return None;
    }
    let at = memmem::find(line.as_bytes(), AT)? + AT.len();
    let (before, rest) = line.as_bytes().split_at(at);
    let mut rest = Rest(rest);
    Some((before, rest.number()?, rest.0))
}

fn without_at(line: Data) -> Vec<(String, Data)> {
    match line {
        Data::Map(map) => {
            let entries = map.iter().filter(|(key, _)| &***key != "at");
            entries
                .map(|(key, value)| (key.to_string(), value.clone()))
                .collect()
        }
        other => vec![(String::new(), other)],
    }
}

/// The lines in what was written, each without its end.
pub(super) fn lines(written: &[u8]) -> impl Iterator<Item = io::Result<&str>> {
    let lines = written.split_inclusive(|byte| *byte == b'\n');
    lines.map(|line| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        std::str::from_utf8(line).map_err(io::Error::other)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_compared_as_values_without_their_moment() {
        // spec R15
        let line = r#"{"v":1,"t":"stop","at":12,"ids":[5]}"#;
        for (same, other) in [
            (true, r#"{"v":1,"t":"stop","at":999,"ids":[5]}"#),
            (
                true,
                r#"{"v":1,"t":"stop","at":18446744073709551615,"ids":[5]}"#,
            ),
            (true, r#"{"at":1, "t":"stop","ids":[5],"v":1}"#),
            (false, r#"{"v":1,"t":"stop","at":12,"ids":[6]}"#),
            (false, r#"{"v":1,"t":"stop","at":12,"ids":[5,6]}"#),
            (false, r#"{"v":1,"t":"cancel","at":12,"after":null}"#),
        ] {
            assert_eq!(is_same(other, line).ok(), Some(same), "{other}");
        }
        // These are no lines of a record.
        for at in [
            "",
            "007",
            "-5",
            "\"x\"",
            "null",
            "1.0",
            "18446744073709551616",
        ] {
            let other = format!(r#"{{"v":1,"t":"stop","at":{at},"ids":[5]}}"#);
            assert!(is_same(&other, line).is_err(), "{other}");
        }
        for other in [
            r#"{"v":1,"t":"stop","ids":[5]}"#,
            r#"{"v":2,"t":"stop","at":12,"ids":[5]}"#,
            r#"{"v":1,"t":"bogus","at":12,"ids":[5]}"#,
            r#"{"v":1,"t":"stop","at":12,"at":12,"ids":[5]}"#,
            r#"{"v":1,"t":"stop","at":12,"id"#,
            "{}",
            "null",
        ] {
            assert!(is_same(other, line).is_err(), "{other}");
        }
    }

    #[test]
    fn an_event_has_no_moment() {
        let line = r#"{"v":1,"t":"event","task":"0","seq":1,"event":{"item":{"at":5}}}"#;
        let other = line.replace("\"at\":5", "\"at\":6");
        assert_eq!(is_same(&other, line).ok(), Some(false));
        let other = line.replace("\"at\":5", "\"at\":");
        assert!(is_same(&other, line).is_err());
        let other = line.replace("\"seq\":1", "\"at\":true,\"seq\":1");
        assert!(is_same(&other, line).is_err());
        assert_eq!(moment(line), None);
        let stop = r#"{"v":1,"t":"stop","at":12,"ids":[5]}"#;
        assert_eq!(moment(stop), Some(12));
    }
}
