//! Records that are not as they were written.

use runvil::harness::{Instead, Launch, ReplayError, replay};

use crate::made::{line_with, lines, prompt, record, record_rich, resume};

/// Replays a record with a part of it replaced, once.
fn replayed(record: &[u8], old: &str, new: &str) -> Result<(), ReplayError> {
    let text = std::str::from_utf8(record).unwrap();
    assert!(text.contains(old), "{old}");
    let text = text.replacen(old, new, 1);
    replay(text.as_bytes(), &mut |_| {}).map(drop)
}

#[track_caller]
fn first_difference(replayed: Result<(), ReplayError>) -> (u64, String, String) {
    match replayed {
        Err(ReplayError::Differs(found)) => (found.line, found.recorded, found.new.to_string()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_changed_answer_is_found_at_the_first_line_that_follows_from_it() {
    // case 5
    let lua =
        "store.write('a', 'x') local text = store.read('a') log('read') log(text) return text";
    let (_, record) = record(&prompt("", lua, ""), Launch::default());
    let changed = replayed(
        &record,
        r#""answer":{"value":"x"}"#,
        r#""answer":{"value":"y"}"#,
    );
    let (line, recorded, new) = first_difference(changed);
    let (wanted, text) = line_with(&record, &[r#""message":"x""#]);
    assert_eq!(line, wanted as u64);
    assert_eq!(recorded, text);
    assert_eq!(new, text.replace(r#""message":"x""#, r#""message":"y""#));
}

#[test]
fn another_prompt_engine_or_dialect_differs_in_the_first_line() {
    let (_, record) = record_rich();
    let engine = format!(r#""engine":"{}""#, env!("CARGO_PKG_VERSION"));
    for (old, new) in [
        (engine.as_str(), r#""engine":"99.0.0""#),
        ("## A", "## B"),
        (r#""name":"t""#, r#""name":"u""#),
        (r#""prompt_hash":"sha256:"#, r#""prompt_hash":"sha257:"#),
    ] {
        let (line, ..) = first_difference(replayed(&record, old, new));
        assert_eq!(line, 1, "{new}");
        let text = std::str::from_utf8(&record).unwrap().replacen(old, new, 1);
        let cut = text.rfind(r#"{"v":1,"t":"outcome""#).unwrap();
        let (resumed, after) = resume(&text.as_bytes()[..cut]);
        let error = resumed.unwrap_err().to_string();
        assert!(error.starts_with("line 1 differs\n"), "{error}");
        assert_eq!(after, &text.as_bytes()[..cut], "the record is as it was");
    }
}

#[test]
fn what_is_there_twice_or_missing_or_elsewhere_differs() {
    let (_, record) = record_rich();
    let whole = lines(&record);
    for at in 0..whole.len() {
        let mut twice = whole.clone();
        twice.insert(at, whole[at]);
        let mut missing = whole.clone();
        missing.remove(at);
        let mut turned = whole.clone();
        turned.swap(at, (at + 1) % whole.len());
        for (lines, what) in [
            (twice, "twice"),
            (missing, "missing"),
            (turned, "elsewhere"),
        ] {
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let found = replay(text.as_bytes(), &mut |_| {});
            // Without its last line a record is one that was cut off.
            let is_cut = what == "missing" && at + 1 == whole.len();
            assert_eq!(found.is_ok(), is_cut, "line {} {what}: {found:?}", at + 1);
        }
    }
}

#[test]
fn lines_beyond_the_end_differ() {
    let (_, record) = record_rich();
    let text = [&record[..], b"{\"v\":1,\"t\":\"cancel\",\"at\":1}\n"].concat();
    match replay(&text[..], &mut |_| {}) {
        Err(ReplayError::Differs(found)) => assert_eq!(found.new, Instead::Ended),
        other => panic!("{other:?}"),
    }
}

/// Replays a record with a part of it replaced, and gives the line that cannot be read and why.
#[track_caller]
fn unreadable(record: &[u8], old: &str, new: &str) -> String {
    match replayed(record, old, new) {
        Err(error @ ReplayError::Unreadable(_)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_no_run_writes_is_refused_with_its_line() {
    // spec R15
    let lua = "store.write('a', 'x') return store.read('a')";
    let (_, record) = record(&prompt("", lua, ""), Launch::default());
    let (write, _) = line_with(&record, &[r#""answer":{"value":null}"#]);
    let kind = format!("line {write}: no effect of that kind is answered so");
    for value in [r#""x""#, "true", "[]"] {
        let new = format!(r#""answer":{{"value":{value}}}"#);
        assert_eq!(
            unreadable(&record, r#""answer":{"value":null}"#, &new),
            kind
        );
    }
    for other in [r#"{"fired":true}"#, r#"{"output":"x"}"#] {
        let new = format!(r#""answer":{other}"#);
        assert_eq!(
            unreadable(&record, r#""answer":{"value":"x"}"#, &new)
                .split(": ")
                .nth(1),
            kind.split(": ").nth(1)
        );
    }
    let (event, _) = line_with(&record, &[r#""kind":"run_started""#]);
    let twice = r#""kind":"x","kind":"run_started""#;
    let error = unreadable(&record, r#""kind":"run_started""#, twice);
    assert!(
        error.starts_with(&format!("line {event}: the key \"kind\" is there twice")),
        "{error}"
    );
    let error = unreadable(&record, "}\n", "}\r\n");
    assert_eq!(
        error,
        "line 1: it ends in CR LF, and no line of a record does"
    );
    let head = |old: &str, new: &str| {
        let error = unreadable(&record, old, new);
        error
            .strip_prefix("line 1: ")
            .map(str::to_owned)
            .unwrap_or(error)
    };
    assert!(head(r#""run_id":""#, r#""run_id":"x"#).contains("is no id of a run"));
    assert!(head(r#""ui":null"#, r#""ui":[1]"#).starts_with("`ui` is no object"));
    let tools = r#""tools":[{"id":"web/x","description":"","parameters":{},"trusted":true,"structured":false}]"#;
    assert!(head(r#""tools":[]"#, tools).starts_with("a unit with a `reason` has"));
}

#[test]
fn the_form_of_a_line_does_not_matter() {
    // spec R15: lines are compared as JSON values
    let (_, record) = record_rich();
    let text: String = lines(&record)
        .into_iter()
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            format!("{value}\n")
        })
        .collect();
    assert_ne!(text.as_bytes(), record);
    replay(text.as_bytes(), &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn no_damage_panics() {
    let (_, record) = record_rich();
    let mut dice = 88_172_645_463_325_252_u64;
    let mut below = |limit: usize| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        usize::try_from(dice >> 11).unwrap() % limit
    };
    for _ in 0..300 {
        let mut damaged = record.clone();
        for _ in 0..=below(3) {
            let at = below(damaged.len());
            match below(4) {
                0 => damaged[at] = u8::try_from(below(256)).unwrap(),
                1 => drop(damaged.remove(at)),
                2 => damaged.insert(at, b"{}[]\",:0\n"[below(9)]),
                _ => damaged.truncate(at),
            }
            if damaged.is_empty() {
                break;
            }
        }
        let _ = replay(&damaged[..], &mut |_| {});
    }
}
