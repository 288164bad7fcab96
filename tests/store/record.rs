//! Operations and answers as records hold them (spec R21).

use runvil::engine::store::{Reason, Rule, StoreOp, StoreValue, answer};
use runvil::harness::Store;
use serde::{Deserialize, Serialize};

use super::*;

/// Stands for a record's answer line.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Line {
    #[serde(with = "answer")]
    answer: Answer,
}

fn is_written(op: StoreOp, json: &str) {
    assert_eq!(serde_json::to_string(&op).unwrap(), json);
    assert_eq!(serde_json::from_str::<StoreOp>(json).unwrap(), op);
}

#[test]
fn every_operation_is_written_and_read_back() {
    is_written(
        write("a.md", "x\n"),
        r#"{"op":"write","path":"a.md","contents":"x\n"}"#,
    );
    is_written(
        append("a", ""),
        r#"{"op":"append","path":"a","contents":""}"#,
    );
    is_written(read("a"), r#"{"op":"read","path":"a"}"#);
    is_written(
        read_lines("a", -2, 3),
        r#"{"op":"read","path":"a","start":-2,"end":3}"#,
    );
    is_written(
        number("a", 1, None),
        r#"{"op":"read_numbered","path":"a","start":1}"#,
    );
    is_written(
        replace("a", "o", "n"),
        r#"{"op":"replace","path":"a","old":"o","new":"n"}"#,
    );
    is_written(delete("a"), r#"{"op":"delete","path":"a"}"#);
    is_written(exists("a"), r#"{"op":"exists","path":"a"}"#);
    is_written(glob("**/"), r#"{"op":"glob","pattern":"**/"}"#);
    is_written(
        StoreOp::Open { task: "0.1".into() },
        r#"{"op":"open","task":"0.1"}"#,
    );
    assert!(serde_json::from_str::<StoreOp>(r#"{"op":"chmod","path":"a"}"#).is_err());
    assert!(serde_json::from_str::<StoreOp>(r#"{"op":"write","path":"a"}"#).is_err());
}

#[test]
fn every_answer_is_written_and_read_back() {
    let store = Store::memory();
    store.write("d/f", "aa").unwrap();
    for (op, json) in [
        (write("a", ""), r#"{"answer":{"value":null}}"#),
        (read("d/f"), r#"{"answer":{"value":"aa"}}"#),
        (exists("gone"), r#"{"answer":{"value":false}}"#),
        (glob("d/*"), r#"{"answer":{"value":["d/f"]}}"#),
        (glob("x*"), r#"{"answer":{"value":[]}}"#),
        (
            read("gone"),
            concat!(
                r#"{"answer":{"failure":{"reason":"not_found","#,
                r#""message":"file not found in store: gone","path":"gone"}}}"#
            ),
        ),
        (
            read("/"),
            concat!(
                r#"{"answer":{"failure":{"reason":"invalid_path","#,
                r#""message":"invalid path \"/\": path is absolute","#,
                r#""path":"/","rule":"absolute"}}}"#
            ),
        ),
        (
            replace("d/f", "b", ""),
            concat!(
                r#"{"answer":{"failure":{"reason":"anchor","message":"#,
                r#""anchor \"b\" was not found in d/f, expected exactly one","#,
                r#""path":"d/f","anchor":"b","count":0}}}"#
            ),
        ),
    ] {
        let line = Line {
            answer: store.perform(&op),
        };
        assert_eq!(serde_json::to_string(&line).unwrap(), json);
        assert_eq!(serde_json::from_str::<Line>(json).unwrap(), line);
    }
}

/// The tags Lua sees are those a record holds.
#[test]
fn tags_are_written_as_lua_sees_them() {
    let reasons = [
        Reason::NotFound,
        Reason::InvalidPath,
        Reason::InvalidRange,
        Reason::Anchor,
        Reason::DirectoryNotEmpty,
        Reason::IsADirectory,
        Reason::NotADirectory,
        Reason::NotUtf8,
        Reason::AlreadyExists,
        Reason::PermissionDenied,
        Reason::Unsupported,
        Reason::Backend,
    ];
    for reason in reasons {
        assert_eq!(serde_json::to_value(reason).unwrap(), reason.tag());
    }
    let rules = [
        Rule::Empty,
        Rule::TooLong,
        Rule::Absolute,
        Rule::Control,
        Rule::Backslash,
        Rule::EmptySegment,
        Rule::Traversal,
        Rule::UnsafeSuffix,
        Rule::ReservedName,
        Rule::Wildcard,
    ];
    for rule in rules {
        assert_eq!(serde_json::to_value(rule).unwrap(), rule.tag());
    }
}

/// S46, K187: `exists` and the opening have no event.
#[test]
fn operations_are_named_in_events() {
    let named = [
        (write("a", ""), Some("write")),
        (append("a", ""), Some("append")),
        (read("a"), Some("read")),
        (number("a", None, None), Some("read_numbered")),
        (replace("a", "b", ""), Some("replace")),
        (delete("a"), Some("delete")),
        (glob("a"), Some("glob")),
        (exists("a"), None),
        (StoreOp::Open { task: "0".into() }, None),
    ];
    for (op, name) in named {
        assert_eq!(op.event_name(), name);
    }
    assert_eq!(
        serde_json::to_value(StoreValue::Null).unwrap(),
        serde_json::Value::Null
    );
}
