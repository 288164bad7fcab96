//! Writes the lines of a record (spec R14): each its keys in order, then a line's end.

use std::io;

use serde::Serialize;

use super::head::{Form, Head};
use super::line::Kind;
use super::place::Place;
use super::text::{self, Members, number, raw, string};
use super::{VERSION, answer, effect};
use crate::engine::{
    Answer, AssistantReply, Effect, EffectId, Event, EventKind, Outcome, RunError, Withdrawal,
};
use crate::prompt::Location;

fn line(out: &mut Vec<u8>, line: &impl Serialize) -> io::Result<()> {
    text::value(out, line)?;
    out.push(b'\n');
    Ok(())
}

/// `run`.
pub(in crate::harness) fn head(out: &mut Vec<u8>, head: &Head) -> io::Result<()> {
    line(out, &Form::from(head))
}

/// `event`.
pub(in crate::harness) fn event(out: &mut Vec<u8>, event: &Event) -> io::Result<()> {
    event_head(out, event);
    event_rest(out, event)
}

/// The line of an event, up to its number.
pub(super) fn event_head(out: &mut Vec<u8>, event: &Event) {
    // A task's id has nothing that is escaped.
    raw(out, r#"{"v":1,"t":"event","task":""#);
    raw(out, &event.task);
    raw(out, r#"","seq":"#);
    number(out, event.seq.into());
}

/// The line of an event, from behind its number on.
///
/// # Errors
/// Something in it has no JSON form.
pub(super) fn event_rest(out: &mut Vec<u8>, event: &Event) -> io::Result<()> {
    // The name of a kind has nothing that is escaped.
    raw(out, r#","event":{"kind":""#);
    raw(out, event.kind.name());
    raw(out, r#"","execution":"#);
    string(out, &event.execution);
    raw(out, r#","section":"#);
    string(out, &event.section);
    match &event.kind {
        EventKind::AssistantReply(reply) => assistant_reply(out, reply)?,
        kind => kind.fields(&mut Members(out))?,
    }
    raw(out, "}}\n");
    Ok(())
}

/// The fields of `assistant_reply`, which comes with every round.
fn assistant_reply(out: &mut Vec<u8>, reply: &AssistantReply) -> io::Result<()> {
    raw(out, r#","turn":"#);
    number(out, reply.turn.into());
    raw(out, r#","text":"#);
    string(out, &reply.text);
    if let Some(reason) = &reply.finish_reason {
        raw(out, r#","finish_reason":"#);
        string(out, reason);
    }
    raw(out, r#","model":"#);
    string(out, &reply.model);
    raw(out, r#","origin":"#);
    string(out, reply.origin);
    if !reply.metrics.is_empty() {
        raw(out, r#","metrics":"#);
        text::value(out, &reply.metrics)?;
    }
    Ok(())
}

/// `effect`.
pub(in crate::harness) fn effect(
    out: &mut Vec<u8>,
    place: &Place,
    at: u64,
    effect: &Effect,
) -> io::Result<()> {
    raw(out, r#"{"v":1,"t":"effect","task":""#);
    place.write(out, at);
    raw(out, r#","effect":"#);
    effect::write(out, effect)?;
    raw(out, "}\n");
    Ok(())
}

/// `answer`, of one that was taken.
pub(in crate::harness) fn answer(
    out: &mut Vec<u8>,
    answered: &Place,
    at: u64,
    answer: &Answer,
) -> io::Result<()> {
    raw(out, ANSWER);
    answered.write(out, at);
    raw(out, r#","answer":"#);
    answer::write(out, answer)?;
    raw(out, "}\n");
    Ok(())
}

/// `answer`, of an effect that was withdrawn.
pub(in crate::harness) fn withdrawal(
    out: &mut Vec<u8>,
    withdrawn: &Place,
    at: u64,
    how: Withdrawal,
) {
    raw(out, ANSWER);
    withdrawn.write(out, at);
    raw(out, r#","answer":"#);
    string(out, how.tag());
    raw(out, "}\n");
}

/// How the line of an answer begins.
pub(in crate::harness) const ANSWER: &str = r#"{"v":1,"t":"answer","task":""#;

/// `cancel`.
pub(in crate::harness) fn cancel(
    out: &mut Vec<u8>,
    at: u64,
    after: Option<usize>,
) -> io::Result<()> {
    #[derive(Serialize)]
    struct Form {
        v: u64,
        t: &'static str,
        at: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        after: Option<usize>,
    }
    let (v, t) = (VERSION, Kind::Cancel.tag());
    line(out, &Form { v, t, at, after })
}

/// `stop`.
pub(in crate::harness) fn stop(out: &mut Vec<u8>, at: u64, ids: &[EffectId]) -> io::Result<()> {
    #[derive(Serialize)]
    struct Form {
        v: u64,
        t: &'static str,
        at: u64,
        ids: Vec<u64>,
    }
    let (v, t) = (VERSION, Kind::Stop.tag());
    let ids = ids.iter().map(|id| id.0).collect();
    line(out, &Form { v, t, at, ids })
}

/// `outcome`.
pub(in crate::harness) fn outcome(out: &mut Vec<u8>, at: u64, outcome: &Outcome) -> io::Result<()> {
    #[derive(Serialize)]
    struct Form<'a> {
        v: u64,
        t: &'static str,
        at: u64,
        outcome: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        kind: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        parse_kind: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        location: Option<&'a Location>,
    }
    let mut form = Form {
        v: VERSION,
        t: Kind::Outcome.tag(),
        at,
        outcome: "cancelled",
        result: None,
        kind: None,
        parse_kind: None,
        message: None,
        location: None,
    };
    match outcome {
        Outcome::Cancelled => {}
        Outcome::Completed(result) => {
            form.outcome = "completed";
            form.result = Some(result);
        }
        Outcome::Failed(RunError {
            kind,
            parse_kind,
            message,
            location,
        }) => {
            form.outcome = "failed";
            form.kind = Some(kind.name());
            form.parse_kind = parse_kind.map(|kind| kind.name());
            form.message = Some(message);
            form.location = location.as_ref().filter(|location| location.is_known());
        }
    }
    line(out, &form)
}
