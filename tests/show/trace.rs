//! The trace: valid JSON, its slices nested on every thread, its moments in order.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;

use serde_json::Value;

use super::process::{finish, runvil};
use super::recorded::{example, prompt, record, section, with_times};

/// The events of a record's trace, its structure checked.
#[track_caller]
pub fn trace(record: &[u8]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("r.jsonl"), record).unwrap();
    let words = ["show", "r.jsonl", "--trace", "t.json"];
    let mut command = runvil(folder.path(), words);
    let finished = finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()), "");
    assert_eq!((finished.status, finished.stderr.as_str()), (Some(0), ""));
    let text = fs::read_to_string(folder.path().join("t.json")).unwrap();
    let trace: Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap().clone();
    check(&events);
    events
}

/// Moments never go back, slices nest on their threads, and pairs have both their ends.
#[track_caller]
fn check(events: &[Value]) {
    let mut last = 0;
    let mut open: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let mut pairs: BTreeMap<String, i32> = BTreeMap::new();
    let mut named = 0;
    for event in events {
        assert_eq!(event["pid"], 1, "{event}");
        let thread = event["tid"].as_u64().unwrap();
        if event["ph"] == "M" {
            named += usize::from(event["name"] == "thread_name");
            continue;
        }
        let at = event["ts"].as_u64().unwrap();
        assert!(at >= last, "{event} is before {last}");
        last = at;
        let kind = event["ph"].as_str().unwrap();
        match kind {
            "X" => {
                let end = at + event["dur"].as_u64().unwrap();
                let open = open.entry(thread).or_default();
                open.retain(|until| *until > at);
                assert!(
                    open.iter().all(|until| end <= *until),
                    "{event} crosses {open:?}"
                );
                open.push(end);
            }
            "b" | "e" => {
                let id = event["id"].as_str().unwrap().to_owned();
                *pairs.entry(id).or_default() += if kind == "b" { 1 } else { -1 };
            }
            "i" | "s" | "f" => {}
            other => panic!("{other} is not expected"),
        }
    }
    assert!(pairs.values().all(|open| *open == 0), "{pairs:?}");
    assert!(named > 0);
}

fn names<'a>(events: &'a [Value], kind: &str) -> Vec<&'a str> {
    let events = events.iter().filter(|event| event["ph"] == kind);
    events
        .map(|event| event["name"].as_str().unwrap())
        .collect()
}

#[test]
fn a_trace_has_a_thread_for_each_track() {
    let events = trace(&with_times(&example("panel", "what is the sea?")));
    let threads = events.iter().filter(|event| event["name"] == "thread_name");
    let threads: Vec<&str> = threads
        .map(|it| it["args"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(threads, ["Panel", "0.0 Reader", "0.1 Reader", "0.2 Reader"]);
    let slices = names(&events, "X");
    for name in ["Panel", "Ask", "task Reader", "Reader", "round 3 scripted"] {
        assert!(slices.contains(&name), "{slices:?}");
    }
    assert_eq!(
        slices.iter().filter(|name| **name == "task Reader").count(),
        3
    );
    assert_eq!(
        (names(&events, "s").len(), names(&events, "f").len()),
        (3, 3)
    );
}

#[test]
fn writes_and_checkpoints_are_instants() {
    let lua = "store.write('a.md', 'abc') log('one') store.delete('a.md')";
    let record = record(&prompt(&section("## A", lua)), None, "");
    assert_eq!(
        names(&trace(&record), "i"),
        ["write a.md", "one", "delete a.md"]
    );
}

#[test]
fn what_crosses_another_is_a_pair() {
    // Two timers of one section: the first ends after the second has begun.
    let head = String::from_utf8(example("hello", "")).unwrap();
    let head = head.lines().next().unwrap();
    let timer = |id, at| {
        format!(
            "{{\"v\":1,\"t\":\"effect\",\"task\":\"0\",\"seq\":{id},\"id\":{id},\"at\":{at},\"effect\":\
             {{\"kind\":\"timer\",\"timer\":\"0.{id}\",\"seconds\":1.5}}}}\n"
        )
    };
    let fired = |id, at| {
        format!(
            "{{\"v\":1,\"t\":\"answer\",\"task\":\"0\",\"seq\":{id},\"id\":{id},\"at\":{at},\"answer\":\
             {{\"fired\":true}}}}\n"
        )
    };
    let record = [
        head,
        "\n",
        &timer(1, 10),
        &timer(2, 20),
        &fired(1, 30),
        &fired(2, 40),
    ]
    .concat();
    let events = trace(record.as_bytes());
    assert_eq!(names(&events, "X"), ["wait 1.5s"]);
    assert_eq!(
        (names(&events, "b").len(), names(&events, "e").len()),
        (1, 1)
    );
}

#[test]
fn every_example_has_a_sound_trace() {
    for (name, args) in [
        ("review", "We promise speed."),
        ("draft", "the sea"),
        ("tool", "How many r are in strawberry?"),
        ("deadline", "a plain text"),
        ("race", ""),
        ("worklist", ""),
        ("map-reduce", ""),
        ("triage", "Thanks"),
        ("library-require", "the QUICK brown fox"),
        ("library-shared", "the QUICK brown fox"),
    ] {
        let record = example(name, args);
        trace(&record);
        // And so has one that ends early.
        let half = record
            .iter()
            .take(record.len() / 2)
            .copied()
            .collect::<Vec<u8>>();
        if half.contains(&b'\n') {
            trace(&half);
        }
    }
}
