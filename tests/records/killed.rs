//! The real binary, killed at any moment and resumed until it is through (case 07/3). A server that
//! writes down what it is asked is the witness that nothing which was answered is done again.
//!
//! `RUNVIL_KILLS=200 cargo test --test records killed` kills so often.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use runvil::engine::{Answer, Effect};
use runvil::harness::record::{AnswerLine, Answered, Line, Reader};

use crate::process::{Finished, finish, runvil};

/// How often processes are killed where nothing else is said.
const KILLS: usize = 200;
/// How many folders there are at a time.
const LANES: usize = 4;

const PROMPT: &str = r#"---
name: k
description: d
runvil: 0
uses: [user-input, acme/witness]
models:
  main: {description: d}
---
# K

```lua
models.default('main', {})
```

## A

```lua
store.write('log', 'start;')
for i = 1, 8 do
  store.append('log', models.infer('round ' .. i) .. ';')
  if i % 3 == 0 then tools.call('witness/note', { text = 'note ' .. i }) end
end
store.append('log', input.ask() .. ';')
local parts = tasks.fanout('### Part', { 'x', 'y', 'z' })
store.str_replace('log', 'start', 'began')
store.append('log', input.ask() .. ';')
return table.concat(parts, '|') .. '#' .. store.read('log')
```

### Part

```lua
local text = item
for i = 1, 4 do text = text .. models.infer('part ' .. item .. i) end
tools.call('witness/note', { text = 'part ' .. item })
store.write('parts/' .. item, text)
store.append('parts/' .. item, '!')
return store.read('parts/' .. item)
```
"#;

const SCRIPT: &str = "rounds:\n\
    - {when: {contains: 'part x'}, reply: X, delay_ms: 3}\n\
    - {when: {contains: 'part y'}, reply: Y, delay_ms: 5}\n\
    - {when: {contains: 'part z'}, reply: Z, delay_ms: 4}\n\
    - {when: {contains: round}, reply: first, times: 3, delay_ms: 4}\n\
    - {when: {contains: round}, reply: then, delay_ms: 4}\n";

/// Writes down each call before it answers.
const SERVER: &str = r#"
while read -r line; do
  id=${line#*\"id\":}; id=${id%%[!0-9]*}
  case $line in
  *'"initialize"'*)
    echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"w\",\"version\":\"1\"}}}"
    ;;
  *'"tools/list"'*)
    echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[{\"name\":\"note\",\"inputSchema\":{\"type\":\"object\"}}]}}"
    ;;
  *'"tools/call"'*)
    text=${line#*\"text\":\"}
    echo "${text%%\"*}" >> notes
    echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"noted\"}]}}"
    ;;
  esac
done
"#;

const CONFIG: &str = "packs:\n  acme/witness:\n    command: sh\n    args: [server.sh]\n";

const RESULT: &str =
    "xXXXX!|yYYYY!|zZZZZ!#began;first;first;first;then;then;then;then;then;one;two;";

fn furnish(folder: &Path) {
    for (name, text) in [
        ("k.md", PROMPT),
        ("script.yaml", SCRIPT),
        ("server.sh", SERVER),
        ("runvil.yaml", CONFIG),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    fs::create_dir(folder.join("store")).unwrap();
}

fn words(first: &[&'static str], answers: &[&'static str]) -> Vec<&'static str> {
    let shared = "--script script.yaml --store store --quiet";
    let answers = answers.iter().flat_map(|answer| ["--answer", answer]);
    let shared = shared.split(' ').chain(answers);
    [first, &shared.collect::<Vec<_>>()].concat()
}

/// The answers of the operator that the record does not have.
fn answers_left(folder: &Path) -> Vec<&'static str> {
    let record = fs::read(folder.join("r")).unwrap_or_default();
    let lines = Reader::new(&record[..]).map(|line| line.unwrap().1);
    let outputs: Vec<String> = lines
        .filter_map(|line| match line {
            Line::Answer(AnswerLine {
                answer: Answered::Taken(Answer::Tool(Ok(output))),
                ..
            }) => Some(output),
            _ => None,
        })
        .collect();
    let is_left = |answer: &&str| !outputs.iter().any(|output| output == answer);
    ["one", "two"].into_iter().filter(is_left).collect()
}

fn start(folder: &Path) -> Child {
    let begun = fs::metadata(folder.join("r")).is_ok_and(|record| record.len() > 0);
    let first: &[&str] = match begun {
        true => &["resume", "r"],
        // Killed before it could begin its record.
        false => &["run", "k.md", "--record", "r", "--force", "--seed", "7"],
    };
    let mut command = runvil(folder, words(first, &answers_left(folder)));
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::null()).spawn().unwrap()
}

/// How often each of the notes was taken, and those whose calls have answers.
fn notes(folder: &Path) -> (BTreeMap<String, usize>, Vec<String>) {
    let mut taken = BTreeMap::new();
    let text = fs::read_to_string(folder.join("notes")).unwrap_or_default();
    for note in text.lines() {
        *taken.entry(note.to_owned()).or_default() += 1;
    }
    let (mut calls, mut answered) = (BTreeMap::new(), Vec::new());
    let record = fs::read(folder.join("r")).unwrap_or_default();
    for line in Reader::new(&record[..]) {
        match line.unwrap().1 {
            Line::Effect(line) => {
                if let Effect::Tool(request) = line.effect
                    && let Some(text) = request.arguments.get("text")
                {
                    calls.insert(line.id, text.render());
                }
            }
            Line::Answer(line) if matches!(line.answer, Answered::Taken(_)) => {
                answered.extend(calls.remove(&line.id));
            }
            _ => {}
        }
    }
    (taken, answered)
}

/// Kills runs in one folder until `left` says that it is enough, and lets each end well at last.
fn lane(lane: usize, left: &AtomicUsize) {
    let mut dice = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(lane as u64 + 1);
    while left.load(Ordering::Relaxed) > 0 {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        furnish(folder);
        // No run is killed so often that it never ends.
        for _ in 0..6 {
            let mut child = start(folder);
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            thread::sleep(Duration::from_micros((dice >> 11) % 160_000));
            child.kill().unwrap();
            if child.wait().unwrap().code().is_some() {
                // It was through before.
                break;
            }
            let _ = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            });
            settle(folder);
        }
        ends(folder);
    }
}

/// What was answered has been noted, and is noted no more.
fn settle(folder: &Path) {
    let (taken, answered) = notes(folder);
    for note in &answered {
        assert!(
            taken.contains_key(note),
            "{note} was answered and not asked"
        );
    }
    let file = folder.join("answered");
    let known = fs::read_to_string(&file).unwrap_or_default();
    for line in known.lines() {
        let (count, note) = line.split_once(' ').unwrap();
        assert_eq!(taken[note].to_string(), count, "{note} was asked again");
    }
    let lines = answered
        .iter()
        .map(|note| format!("{} {note}\n", taken[note]));
    fs::write(file, lines.collect::<String>()).unwrap();
}

/// Lets a run come to its end, and holds it to one that was never killed.
fn ends(folder: &Path) {
    let outcome = |line: String| line.contains(r#""t":"outcome""#);
    let record = fs::read(folder.join("r")).unwrap_or_default();
    let lines = Reader::new(&record[..]).count();
    let text = String::from_utf8_lossy(&record).into_owned();
    let has_ended = text
        .lines()
        .last()
        .is_some_and(|line| outcome(line.to_owned()));
    if !has_ended {
        let first: &[&str] = match lines {
            0 => &["run", "k.md", "--record", "r", "--force", "--seed", "7"],
            _ => &["resume", "r"],
        };
        let finished = collect(folder, &words(first, &answers_left(folder)));
        let told = format!("{finished:?}\nafter {lines} lines in {}", folder.display());
        assert_eq!(
            (finished.status, finished.stdout.as_str()),
            (Some(0), RESULT),
            "{told}"
        );
    }
    settle(folder);
    let replayed = collect(folder, &["replay", "r"]);
    assert_eq!(replayed.status, Some(0), "{replayed:?}");
    for (file, text) in [
        ("log", RESULT.split_once('#').unwrap().1),
        ("parts/x", "xXXXX!"),
        ("parts/y", "yYYYY!"),
        ("parts/z", "zZZZZ!"),
    ] {
        let found = fs::read_to_string(folder.join("store").join(file)).unwrap();
        assert_eq!(found, text, "{file}");
    }
}

fn collect(folder: &Path, words: &[&str]) -> Finished {
    let mut command = runvil(folder, words);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(&mut command, "")
}

#[test]
fn a_run_killed_at_any_moment_ends_as_if_it_had_not_been() {
    let kills = std::env::var("RUNVIL_KILLS").ok();
    let kills = kills.and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let left = AtomicUsize::new(kills);
    thread::scope(|scope| {
        for at in 0..LANES {
            let left = &left;
            scope.spawn(move || lane(at, left));
        }
    });
}

/// A run that does nothing but change files, so that it is killed while it does.
const WRITES: &str = r#"---
name: w
description: d
runvil: 0
---
# W

## A

```lua
tasks.fanout('### Part', { 'x', 'y' })
for i = 1, 60 do
  store.append('log', i .. ';')
  store.append('log', 'same;')
  store.write('last', 'number ' .. i)
  store.str_replace('last', 'number', 'no.')
  if i % 20 == 0 then store.delete('last') end
end
return store.read('log')
```

### Part

```lua
for i = 1, 40 do store.append(item, 'again;') end
```
"#;

/// Operations that were in flight are done once, whether they had been done or not (spec R16).
#[test]
fn a_run_killed_while_it_writes_writes_all_once() {
    let log: String = (1..=60).map(|i| format!("{i};same;")).collect();
    let mut dice = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..KILLS / 8 {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::create_dir(folder.join("store")).unwrap();
        fs::write(folder.join("w.md"), WRITES).unwrap();
        let words = |folder: &Path| match fs::metadata(folder.join("r")).map(|known| known.len()) {
            Err(_) | Ok(0) => vec![
                "run", "w.md", "--record", "r", "--force", "--store", "store",
            ],
            Ok(_) => vec!["resume", "r", "--store", "store"],
        };
        for _ in 0..4 {
            let mut command = runvil(folder, words(folder));
            command.stdin(Stdio::null()).stdout(Stdio::null());
            let mut child = command.stderr(Stdio::null()).spawn().unwrap();
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            thread::sleep(Duration::from_micros(3_000 + (dice >> 11) % 60_000));
            child.kill().unwrap();
            if child.wait().unwrap().code().is_some() {
                break;
            }
        }
        let record = fs::read_to_string(folder.join("r")).unwrap_or_default();
        if !record.contains(r#""t":"outcome""#) {
            let finished = collect(folder, &words(folder));
            assert_eq!(finished.status, Some(0), "{finished:?}");
            assert_eq!(finished.stdout, log);
        }
        let read = |file: &str| fs::read_to_string(folder.join("store").join(file)).unwrap();
        assert_eq!(read("log"), log);
        assert_eq!(
            (read("x"), read("y")),
            ("again;".repeat(40), "again;".repeat(40))
        );
        assert!(!folder.join("store/last").exists());
        assert_eq!(collect(folder, &["replay", "r"]).status, Some(0));
    }
}
