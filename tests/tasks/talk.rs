//! What a model does in a random program: batches of calls of its task tools. They are written into
//! the message that the loop begins with, and the model that answers reads them there.

use std::fmt::Write as _;

use runvil::engine::model::{Body, Message, Reply, Role, Round, ToolCall};
use runvil::lua::Data;

/// A call of a task tool.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    /// Starts a task at the section of this index.
    Start(usize),
    Await,
    /// Waits so many tenths of a second at most.
    AwaitFor(u8),
    /// Asks for the state of one of its tasks.
    Ask(u8),
    Cancel(u8),
}

/// The batches as text: `t3 a|c0` is two.
pub fn write(batches: &[Vec<Act>]) -> String {
    let mut out = String::new();
    for batch in batches {
        if !out.is_empty() {
            out.push('|');
        }
        let calls: Vec<String> = batch
            .iter()
            .map(|act| match act {
                Act::Start(section) => format!("t{section}"),
                Act::Await => "a".to_owned(),
                Act::AwaitFor(tenths) => format!("w{tenths}"),
                Act::Ask(which) => format!("s{which}"),
                Act::Cancel(which) => format!("c{which}"),
            })
            .collect();
        out.push_str(&calls.join(" "));
    }
    out
}

/// What the model answers: the batch that comes next, and at the end what it was told.
pub fn answer(round: &Round) -> Reply {
    let texts: Vec<String> = round.messages.iter().map(text).collect();
    // Notices may have been sent as a part of the first message.
    let script = texts[0].lines().next().unwrap_or_default();
    let calls = round.messages.iter().map(|m| m.tool_calls.len());
    let (done, mut made) = (
        calls.clone().filter(|n| *n > 0).count(),
        calls.sum::<usize>(),
    );
    let started: Vec<&str> = texts
        .iter()
        .filter_map(|text| text.strip_prefix("Task id=")?.strip_suffix(" started"))
        .collect();
    let batch = script.split('|').nth(done).unwrap_or_default();
    let calls: Vec<ToolCall> = batch
        .split_whitespace()
        .map(|act| {
            made += 1;
            let (kind, number) = act.split_at(1);
            let number: usize = number.parse().unwrap_or(0);
            // An id that there is none of, where it has started nothing.
            let id = || {
                let which = number % started.len().max(1);
                let id = started.get(which).copied().unwrap_or("0.99");
                ("id", Data::text(id))
            };
            let (name, argument) = match kind {
                "t" => (
                    "task",
                    Some(("target", Data::text(format!("## S{number}")))),
                ),
                "s" => ("task_status", Some(id())),
                "c" => ("task_cancel", Some(id())),
                "w" => (
                    "await_tasks",
                    Some(("timeout", Data::Float(number as f64 / 10.0))),
                ),
                _ => ("await_tasks", None),
            };
            ToolCall {
                id: format!("c{made}").into(),
                name: name.into(),
                arguments: Data::object(argument),
            }
        })
        .collect();
    let told = texts.iter().map(|text| text.len()).sum::<usize>();
    Reply {
        body: match calls.is_empty() {
            true => Body::Text(format!("told {told}").into()),
            false => Body::Calls(calls),
        },
        ..Reply::text("", Some("stop"))
    }
}

fn text(message: &Message) -> String {
    message.content.joined()
}

/// The tasks that a round's messages tell the end of.
pub fn told(round: &Round) -> Vec<String> {
    let told = round.messages.iter().filter(|m| m.role != Role::Assistant);
    told.flat_map(|message| ended(&text(message))).collect()
}

/// The tasks that a text tells the end of: those of notices.
pub fn ended(text: &str) -> Vec<String> {
    let parts = text.split("Task id=").skip(1);
    let notices = parts.filter_map(|part| {
        let (id, rest) = part.split_once(" (## ")?;
        let (_, end) = rest.split_once(") ")?;
        let ends = ["completed: ", "failed: ", "was canceled: "];
        ends.iter()
            .any(|word| end.starts_with(word))
            .then(|| id.to_owned())
    });
    notices.collect()
}

/// What a round asks, without the number that it has in the whole run.
pub fn shown(round: &Round) -> String {
    let mut out = String::new();
    for message in &*round.messages {
        let _ = write!(out, "{message:?} ");
    }
    out
}
