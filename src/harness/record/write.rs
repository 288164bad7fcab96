//! Writes the lines of a record (spec R14): each its keys in order, then a line's end.

use std::io;

use serde::Serialize;

use super::head::{Form, Head};
use super::line::Kind;
use super::place::Place;
use super::text::{self, END, Members, escaped, number, raw, string};
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
    event_middle(out, event);
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

/// The line of an event, from behind its number up to the fields of its kind.
pub(super) fn event_middle(out: &mut Vec<u8>, event: &Event) {
    // The name of a kind has nothing that is escaped.
    raw(out, r#","event":{"kind":""#);
    raw(out, event.kind.name());
    raw(out, r#"","execution":"#);
    string(out, &event.execution);
    raw(out, r#","section":"#);
    string(out, &event.section);
}

/// The line of an event, from the fields of its kind on.
///
/// # Errors
/// Something in it has no JSON form.
#[inline]
pub(super) fn event_rest(out: &mut Vec<u8>, event: &Event) -> io::Result<()> {
    match &event.kind {
        EventKind::Plain(_) => {}
        EventKind::AssistantReply(reply) => assistant_reply(out, reply)?,
        kind => kind.fields(&mut Members(out))?,
    }
    raw(out, END);
    Ok(())
}

/// The fields of `assistant_reply`, which comes with every round.
fn assistant_reply(out: &mut Vec<u8>, reply: &AssistantReply) -> io::Result<()> {
    raw(out, r#","turn":"#);
    number(out, reply.turn.into());
    raw(out, r#","text":""#);
    escaped(out, &reply.text);
    if let Some(reason) = &reply.finish_reason {
        raw(out, r#"","finish_reason":""#);
        escaped(out, reason);
    }
    raw(out, r#"","model":""#);
    escaped(out, &reply.model);
    raw(out, r#"","origin":""#);
    escaped(out, reply.origin);
    raw(out, "\"");
    if !reply.metrics.is_empty() {
        raw(out, r#","metrics":"#);
        text::value(out, &reply.metrics)?;
    }
    Ok(())
}

/// `effect`, at the moment of its place.
pub(in crate::harness) fn effect(
    out: &mut Vec<u8>,
    place: &Place,
    effect: &Effect,
) -> io::Result<()> {
    place.begin_effect(out);
    effect::write(out, effect)
}

/// `answer`, of one that was taken.
pub(in crate::harness) fn answer(
    out: &mut Vec<u8>,
    answered: &Place,
    at: u64,
    answer: &Answer,
) -> io::Result<()> {
    answered.begin_answer(out, at);
    answer::write(out, answer)
}

/// `answer`, of an effect that was withdrawn.
pub(in crate::harness) fn withdrawal(
    out: &mut Vec<u8>,
    withdrawn: &Place,
    at: u64,
    how: Withdrawal,
) {
    withdrawn.begin_answer(out, at);
    string(out, how.tag());
    raw(out, "}\n");
}

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
