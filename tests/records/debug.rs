//! Debug events leave no trace in a record (spec K188a, C2).

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::made::prompt;
use crate::process::{Finished, finish, runvil};

/// A conversation of two rounds, one of `infer` that is rejected, and two arms.
const LUA: &str = "models.default('main', {}) \
    local talk = messages.new():user('go') \
    tools.offer_local('echo', 'd', { a = 'integer' }, function(p) return 'got ' .. p.a end) \
    models.loop(talk) \
    local ok, said = pcall(models.infer, 'fail') \
    tasks.fanout('## Arm', { 'x', 'y' }) \
    store.write('a', tostring(said)) \
    return models.infer('last')";

const SCRIPT: &str = "rounds:\n\
    - {when: {contains: go}, calls: [{name: echo, arguments: {a: 1}}], times: 1}\n\
    - {when: {contains: fail}, error: {status: 500, body: PRIVATE-4711}}\n\
    - {reply: then, reasoning: hm}\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let front = "models:\n  main: {description: d}\n";
    let arm = "\n## Arm\n\n```lua\nreturn models.infer(item)\n```\n";
    fs::write(folder.path().join("p.md"), prompt(front, LUA, arm)).unwrap();
    fs::write(folder.path().join("s.yaml"), SCRIPT).unwrap();
    folder
}

#[track_caller]
fn run(folder: &Path, words: &str) -> Finished {
    let mut command = runvil(folder, words.split(' '));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let finished = finish(&mut command, "");
    assert_eq!(finished.status, Some(0), "{finished:?}");
    finished
}

/// The lines of standard error, apart: the debug events and the others.
fn told(finished: &Finished) -> (Vec<Value>, Vec<Value>) {
    let lines = finished.stderr.lines();
    let events = lines.map(|line| serde_json::from_str(line).unwrap());
    events.partition(|event: &Value| event["kind"] == "request" || event["kind"] == "response")
}

/// A record without what differs from run to run: its moments, and the run's id.
fn record(folder: &Path, name: &str) -> String {
    let text = fs::read_to_string(folder.join(name)).unwrap();
    let without = |text: &str, key: &str, end: char| -> String {
        let mut parts = text.split(key);
        let first = parts.next().unwrap().to_owned();
        parts.fold(first, |text, part| {
            text + key + &part[part.find(end).unwrap()..]
        })
    };
    without(&without(&text, "\"run_id\":\"", '"'), "\"at\":", ',')
}

#[test]
fn a_record_is_the_same_with_and_without() {
    let folder = folder();
    let folder = folder.path();
    let words = "run p.md --script s.yaml --seed 7 --started-at 2026-01-01T00:00:00Z --events";
    let off = run(folder, &format!("{words} --record off"));
    let on = run(folder, &format!("{words} --debug --record on"));
    assert_eq!(on.stdout, off.stdout);
    let ((debug, others), (none, all)) = (told(&on), told(&off));
    assert_eq!((others, none), (all, Vec::<Value>::new()));
    let kinds = |kind: &str| debug.iter().filter(|event| event["kind"] == kind).count();
    assert_eq!((kinds("request"), kinds("response")), (6, 6));
    assert_eq!(record(folder, "on"), record(folder, "off"));
    for trace in ["PRIVATE-4711", "stream_options", "choices", "\"request\""] {
        assert!(on.stderr.contains(trace));
        for name in ["on", "off"] {
            let text = fs::read_to_string(folder.join(name)).unwrap();
            assert!(!text.contains(trace), "{trace}");
        }
    }
    for name in ["on", "off"] {
        let replayed = run(folder, &format!("replay {name}"));
        assert!(replayed.stdout.starts_with("no difference in "));
    }
}

#[test]
fn a_resumed_run_tells_of_the_rounds_that_it_asks() {
    // spec C15, R16
    let folder = folder();
    let folder = folder.path();
    run(folder, "run p.md --script s.yaml --seed 7 --record r");
    let whole = fs::read_to_string(folder.join("r")).unwrap();
    // Before the answer of the last round: it is asked again.
    let last = whole.rfind(r#""t":"answer""#).unwrap();
    let end = whole[..last].rfind('\n').unwrap() + 1;
    fs::write(folder.join("r"), &whole[..end]).unwrap();
    let resumed = run(folder, "resume r --script s.yaml --events --debug");
    let (debug, others) = told(&resumed);
    let told: Vec<_> = debug
        .iter()
        .map(|event| (event["kind"].as_str().unwrap(), &event["turn"]))
        .collect();
    // Of the task's rounds before, two were answered.
    assert_eq!(told, [("request", &3.into()), ("response", &3.into())]);
    assert!(debug[0]["body"].as_str().unwrap().contains("last"));
    assert_eq!(others.first().unwrap()["kind"], "parse_started");
    let again = fs::read_to_string(folder.join("r")).unwrap();
    assert_eq!(again.lines().count(), whole.lines().count());
    run(folder, "replay r");
}
