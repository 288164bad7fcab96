//! What stands in a line for something that happened.

use runvil::harness::record::timeline::{
    Call, Clip, Entry, Failure, Item, Round, Section, Served, State, Timeline, Track, Wait, What,
    Write,
};

use super::amount::{count, number, size};
use crate::cli::style::Tone;

/// A part of a line.
pub type Piece = (Tone, String);

/// What is said of an item. A task says it of its track.
pub fn item(timeline: &Timeline, item: &Item) -> Vec<Piece> {
    let mut pieces = match &item.what {
        What::Section(it) => section(it),
        What::Require(name) => vec![(Tone::Faint, "require ".to_owned()), plain(name)],
        What::Round(it) => round(timeline, it),
        What::Call(it) => call(it),
        What::Write(it) => write(it),
        What::Wait(it) => wait(it),
        What::Checkpoint(text) => vec![(Tone::Good, "log ".to_owned()), plain(&quote(text))],
        What::Task(track) => return task(&timeline.tracks[*track]),
        What::Notice(text) => vec![(Tone::Faint, format!("notice {}", quote(text)))],
    };
    let ending = match (item.state, &item.what) {
        (State::Dropped, What::Wait(_)) => Some((Tone::Faint, "not needed any more")),
        // It was done all the same (spec S44).
        (State::Dropped, What::Write(_)) => Some((Tone::Faint, "its task had ended")),
        _ => ending(item.state),
    };
    pieces.extend(ending.map(|(tone, word)| (tone, format!("  {word}"))));
    pieces
}

/// What is said of how something ended, unless all is well.
fn ending(state: State) -> Option<(Tone, &'static str)> {
    Some(match state {
        State::Done => return None,
        State::Open => (Tone::Bad, "not ended"),
        State::Failed => (Tone::Bad, "failed"),
        State::Dropped => (Tone::Faint, "dropped"),
        State::Stopped | State::Cancelled | State::Abandoned => (Tone::Bad, state.word()),
    })
}

/// What is said of a task.
pub fn task(track: &Track) -> Vec<Piece> {
    let mut pieces = vec![
        (Tone::Faint, format!("task {} ", track.task)),
        (Tone::Strong, track.name.clone()),
    ];
    if let Some(item) = &track.item {
        pieces.push((Tone::Plain, format!(" {}", quote(item))));
    }
    if track.origin == "model" {
        pieces.push((Tone::Faint, " started by a model".to_owned()));
    }
    pieces.extend(left_out(track.left_out));
    pieces.extend(ending(track.state).map(|(tone, word)| (tone, format!("  {word}"))));
    pieces
}

fn section(section: &Section) -> Vec<Piece> {
    let mut pieces = vec![(Tone::Strong, section.name.clone())];
    match section.entry {
        Entry::Title => pieces.push((Tone::Faint, "  (title)".to_owned())),
        Entry::Jump => pieces.insert(0, (Tone::Faint, "jump to ".to_owned())),
        Entry::Walk | Entry::Within => {}
    }
    if section.reads > 0 {
        pieces.push((Tone::Faint, format!("  {}", count(section.reads, "read"))));
    }
    pieces
}

fn left_out(items: u64) -> Option<Piece> {
    (items > 0).then(|| (Tone::Faint, format!("  {} left out", number(items))))
}

fn round(timeline: &Timeline, round: &Round) -> Vec<Piece> {
    let mut pieces = vec![(Tone::Model, format!("round {}", round.round))];
    // The run's own model is named at the top.
    let is_usual = |id: &str| timeline.head.model.as_ref().is_some_and(|it| &*it.id == id);
    if !is_usual(&round.model) {
        pieces.push((Tone::Faint, format!(" {}", round.model)));
    }
    if let Some(reply) = &round.reply {
        if let Some(usage) = reply.metrics.usage {
            let tokens = format!(
                "  {} → {} tokens",
                number(usage.prompt_tokens.into()),
                number(usage.completion_tokens.into())
            );
            pieces.push((Tone::Faint, tokens));
        }
        let names: Vec<&str> = reply.calls.iter().map(|call| &*call.name).collect();
        match names.is_empty() {
            true => {
                pieces.push((Tone::Plain, format!("  {}", quote(&reply.text))));
                // The model had more to say, and was not let (spec M77).
                if reply.finish_reason.as_deref() == Some("length") {
                    pieces.push((Tone::Bad, "  cut off".to_owned()));
                }
            }
            false => pieces.push((Tone::Tool, format!("  calls {}", names.join(", ")))),
        }
    }
    pieces.extend(round.failure.as_ref().map(failure));
    pieces
}

fn call(call: &Call) -> Vec<Piece> {
    let mut pieces = match call.served {
        Served::Operator => vec![(Tone::Tool, "asks the operator".to_owned())],
        _ if call.tool.is_empty() => vec![(Tone::Tool, "tool".to_owned())],
        _ => vec![
            (Tone::Tool, "tool ".to_owned()),
            (Tone::Plain, call.tool.to_string()),
        ],
    };
    if call.served != Served::Operator && !call.arguments.is_empty() {
        pieces.push((Tone::Faint, format!(" {}", flat(&call.arguments))));
    }
    if let Some(output) = &call.output {
        pieces.push((Tone::Faint, " → ".to_owned()));
        pieces.push((Tone::Plain, flat(output)));
    }
    pieces.extend(call.failure.as_ref().map(failure));
    pieces
}

fn write(write: &Write) -> Vec<Piece> {
    let mut pieces = vec![
        (Tone::Store, format!("{} ", write.op)),
        (Tone::Plain, write.path.clone()),
    ];
    if write.op != "delete" {
        let size = size(write.contents.len());
        pieces.push((Tone::Faint, format!(" {size}")));
    }
    pieces.extend(write.failure.as_ref().map(failure));
    pieces
}

fn wait(wait: &Wait) -> Vec<Piece> {
    let text = format!("waits {}s at most", wait.seconds);
    vec![(Tone::Faint, text)]
}

fn failure(failure: &Failure) -> Piece {
    let status = match failure.status {
        Some(status) => format!(" {status}"),
        None => String::new(),
    };
    let message = flat(&failure.message);
    (Tone::Bad, format!("  {}{status}: {message}", failure.class))
}

fn plain(text: &str) -> Piece {
    (Tone::Plain, text.to_owned())
}

/// A text within its line, in quotes that tell it from the line.
fn quote(text: &Clip) -> String {
    format!("“{}”", flat(text))
}

/// A text as part of one line: its white space made single spaces.
pub fn flat(text: &Clip) -> String {
    let words: Vec<&str> = text.text.split_whitespace().collect();
    let mut flat = words.join(" ");
    if text.left_out > 0 {
        flat.push('…');
    }
    flat
}
