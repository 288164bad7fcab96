//! When two lines of a record are the same (spec R14, R15).

use std::io;

use memchr::memmem;

use crate::harness::record::{read_distinct, read_json};
use crate::lua::Data;

/// What a line has after its id: the moment at which it was written.
const AT: &[u8] = b"\"at\":";

/// Whether a line is the one that was recorded: as JSON values, and whenever either was written.
/// Nearly always they have the same bytes but for the moment.
///
/// # Errors
/// The recorded line is no JSON, or has a key twice.
pub(super) fn is_same(recorded: &str, new: &str) -> Result<bool, serde_json::Error> {
    if recorded == new || is_same_but_at(recorded.as_bytes(), new.as_bytes()) {
        return Ok(true);
    }
    Ok(without_at(read_distinct(recorded)?) == without_at(read_json(new)?))
}

/// Whether two lines have the same bytes, but for the digits of the first moment in them.
fn is_same_but_at(recorded: &[u8], new: &[u8]) -> bool {
    let Some(at) = memmem::find(new, AT).map(|at| at + AT.len()) else {
        return false;
    };
    let (Some((before, rest)), Some((head, recorded_rest))) =
        (new.split_at_checked(at), recorded.split_at_checked(at))
    else {
        return false;
    };
    let after = |rest: &[u8]| rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    before == head && rest.get(after(rest)..) == recorded_rest.get(after(recorded_rest)..)
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
        let line = r#"{"v":1,"id":3,"at":12,"effect":{"at":5,"x":1.0}}"#;
        for (same, other) in [
            (true, r#"{"v":1,"id":3,"at":999,"effect":{"at":5,"x":1.0}}"#),
            (true, r#"{"at":1, "effect":{"x":1.0,"at":5},"id":3,"v":1}"#),
            (true, r#"{"v":1,"id":3,"effect":{"at":5,"x":1.0}}"#),
            (false, r#"{"v":1,"id":3,"at":12,"effect":{"at":6,"x":1.0}}"#),
            (false, r#"{"v":1,"id":3,"at":12,"effect":{"at":5,"x":1}}"#),
            (false, r#"{"v":1,"id":4,"at":12,"effect":{"at":5,"x":1.0}}"#),
            (false, "{}"),
            (false, "null"),
        ] {
            assert_eq!(is_same(other, line).ok(), Some(same), "{other}");
        }
        assert!(is_same(r#"{"v":1,"id":3,"at":12,"eff"#, line).is_err());
    }
}
