//! A record as a trace in Chrome's JSON form, which Perfetto opens (spec C16).

use runvil::harness::record::timeline::{Entry, Item, Mark, Served, State, Timeline, Track, What};
use serde_json::{Map, Value, json};

use super::label::flat;
use crate::cli::escape::escape_json;

/// The process that a run is.
const PROCESS: u64 = 1;

/// A trace's event, and what it is sorted by.
struct Placed {
    /// In milliseconds.
    at: u64,
    event: Value,
}

/// The whole trace: one object, an event a line.
pub fn render(timeline: &Timeline) -> String {
    let mut events = vec![metadata(
        "process_name",
        0,
        "name",
        timeline.head.run.as_str(),
    )];
    for (place, track) in timeline.tracks.iter().enumerate() {
        let name = match track.task.as_str() {
            "0" => track.name.clone(),
            task => format!("{task} {}", track.name),
        };
        events.push(metadata("thread_name", thread(place), "name", name));
        let index = json!(place);
        events.push(metadata(
            "thread_sort_index",
            thread(place),
            "sort_index",
            index,
        ));
    }
    let mut placed = Vec::new();
    for (at, mark) in &timeline.marks {
        let name = match mark {
            Mark::Cancel => "cancel",
            Mark::Stop(_) => "stop",
        };
        let event = json!({"ph": "i", "name": name, "cat": "run", "s": "p"});
        placed.push(Placed::new(*at, 0, event));
    }
    for place in 0..timeline.tracks.len() {
        add_track(&mut placed, timeline, place);
    }
    // Stable, so that of slices which begin at once the outer one stays first.
    placed.sort_by_key(|placed| placed.at);
    events.extend(placed.into_iter().map(|placed| placed.event));
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    let text = format!(
        "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{}\n]}}\n",
        lines.join(",\n")
    );
    escape_json(&text).into_owned()
}

/// The thread of a track. A viewer may take the number 0 for none.
fn thread(place: usize) -> u64 {
    place as u64 + 1
}

fn metadata(kind: &str, thread: u64, key: &str, value: impl Into<Value>) -> Value {
    let mut args = Map::new();
    args.insert(key.to_owned(), value.into());
    json!({"ph": "M", "name": kind, "pid": PROCESS, "tid": thread, "args": args})
}

impl Placed {
    fn new(at: u64, place: usize, mut event: Value) -> Self {
        event["pid"] = PROCESS.into();
        event["tid"] = thread(place).into();
        event["ts"] = micros(at);
        Self { at, event }
    }
}

/// Traces count microseconds.
fn micros(millis: u64) -> Value {
    millis.saturating_mul(1000).into()
}

fn add_track(placed: &mut Vec<Placed>, timeline: &Timeline, place: usize) {
    let track = &timeline.tracks[place];
    let until = track.end.unwrap_or(timeline.end).max(track.at);
    // The slices that are open: how deep each is, and where it ends. What would cross one of them, or
    // stand in one that it is not part of, has a row of its own.
    let mut open: Vec<(usize, u64)> = Vec::new();
    if place > 0 {
        let args = json!({
            "task": track.task,
            "item": track.item.as_ref().map(flat),
            "state": track.state.word(),
        });
        let name = format!("task {}", track.name);
        let event = slice(&name, "task", track.at, until, args);
        placed.push(Placed::new(track.at, place, event));
        let flow = |ph| json!({"ph": ph, "name": "task", "cat": "task", "id": place, "bp": "e"});
        let owner = track.owner.unwrap_or(0);
        placed.push(Placed::new(track.at, owner, flow("s")));
        placed.push(Placed::new(track.at, place, flow("f")));
    }
    // What is in a section begins after it, so that this is the order of their beginnings but for
    // ends; an outer one goes first.
    for item in &track.items {
        let end = item.end.unwrap_or(timeline.end).max(item.at);
        let Some((name, cat)) = named(item) else {
            continue;
        };
        let args = arguments(item, track);
        if is_instant(item) {
            let event = json!({"ph": "i", "name": name, "cat": cat, "s": "t", "args": args});
            placed.push(Placed::new(item.at, place, event));
            continue;
        }
        open.retain(|(_, ends)| *ends > item.at);
        let is_within = |(depth, ends): &(usize, u64)| *depth < item.depth && end <= *ends;
        if end <= until && open.iter().all(is_within) {
            open.push((item.depth, end));
            placed.push(Placed::new(
                item.at,
                place,
                slice(&name, cat, item.at, end, args),
            ));
            continue;
        }
        let id = format!("{place}:{}", item.line);
        let begin = json!({"ph": "b", "name": name, "cat": cat, "id": id, "args": args});
        placed.push(Placed::new(item.at, place, begin));
        let finish = json!({"ph": "e", "name": name, "cat": cat, "id": id});
        placed.push(Placed::new(end, place, finish));
    }
}

fn slice(name: &str, cat: &str, at: u64, end: u64, args: Value) -> Value {
    json!({"ph": "X", "name": name, "cat": cat, "dur": micros(end - at), "args": args})
}

fn is_instant(item: &Item) -> bool {
    matches!(
        item.what,
        What::Checkpoint(_) | What::Notice(_) | What::Write(_)
    ) || matches!(&item.what, What::Call(call) if call.served == Served::Run)
}

/// The name and the category of an item; `None` for a task, which has a track.
fn named(item: &Item) -> Option<(String, &'static str)> {
    Some(match &item.what {
        What::Task(_) => return None,
        What::Section(section) => (section.name.clone(), "section"),
        What::Require(name) => (format!("require {name}"), "section"),
        What::Round(round) => (format!("round {} {}", round.round, round.model), "model"),
        What::Call(call) if call.served == Served::Operator => ("operator".to_owned(), "operator"),
        What::Call(call) => (call.tool.to_string(), "tool"),
        What::Write(write) => (format!("{} {}", write.op, write.path), "store"),
        What::Wait(wait) => (format!("wait {}s", wait.seconds), "wait"),
        What::Checkpoint(text) => (flat(text), "checkpoint"),
        What::Notice(_) => ("notice".to_owned(), "model"),
    })
}

/// What is shown of an item that was chosen.
fn arguments(item: &Item, track: &Track) -> Value {
    let mut args = Map::new();
    let mut add = |key: &str, value: Value| {
        if !value.is_null() {
            args.insert(key.to_owned(), value);
        }
    };
    add("line", item.line.into());
    add("task", track.task.as_str().into());
    if item.state != State::Done {
        add("state", item.state.word().into());
    }
    match &item.what {
        What::Section(section) => {
            add("reads", section.reads.into());
            if section.entry == Entry::Jump {
                add("entry", "jump".into());
            }
        }
        What::Round(round) => {
            add("origin", round.origin.tag().into());
            add("messages", round.messages.into());
            if let Some(reply) = &round.reply {
                let names: Vec<&str> = reply.calls.iter().map(|call| &*call.name).collect();
                match names.is_empty() {
                    true => add("reply", flat(&reply.text).into()),
                    false => add("calls", names.into()),
                }
                if let Some(usage) = reply.metrics.usage {
                    add("prompt_tokens", usage.prompt_tokens.into());
                    add("completion_tokens", usage.completion_tokens.into());
                    add("cached_tokens", json!(usage.cached_tokens));
                }
            }
            add("failure", json!(round.failure.as_ref().map(|it| it.class)));
        }
        What::Call(call) => {
            add("arguments", flat(&call.arguments).into());
            add("output", json!(call.output.as_ref().map(flat)));
            add("failure", json!(call.failure.as_ref().map(|it| it.class)));
        }
        What::Write(write) => {
            add("bytes", write.contents.len().into());
            add("failure", json!(write.failure.as_ref().map(|it| it.class)));
        }
        What::Notice(text) | What::Checkpoint(text) => add("text", flat(text).into()),
        What::Require(_) | What::Wait(_) | What::Task(_) => {}
    }
    args.into()
}
