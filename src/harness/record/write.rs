//! Writes the lines of a record (spec R14): each its keys in order, then a line's end.

use std::io;

use serde::Serialize;

use super::head::{Form, Head};
use super::line::Kind;
use super::text::{self, Back, Members, number, raw, string};
use super::{VERSION, answer, effect};
use crate::engine::{Answer, EffectId, Event, Issued, Outcome, RunError, Withdrawal};
use crate::prompt::Location;

/// The coordinates of an effect.
#[derive(Clone, Copy, Debug)]
pub(in crate::harness) struct Place<'a> {
    pub(in crate::harness) task: &'a str,
    pub(in crate::harness) seq: u32,
    pub(in crate::harness) id: EffectId,
}

fn line(out: &mut Vec<u8>, line: &impl Serialize) -> io::Result<()> {
    text::value(out, line)?;
    out.push(b'\n');
    Ok(())
}

/// `run`.
pub(in crate::harness) fn head(out: &mut Vec<u8>, head: &Head) -> io::Result<()> {
    line(out, &Form::from(head))
}

/// How the line of an event begins, up to its task. A task's id has nothing that is escaped.
pub(super) const EVENT: &str = r#"{"v":1,"t":"event","task":""#;

/// `event`.
pub(in crate::harness) fn event(out: &mut Vec<u8>, event: &Event) -> io::Result<()> {
    raw(out, EVENT);
    raw(out, &event.task);
    raw(out, r#"","seq":"#);
    number(out, event.seq.into());
    event_rest(out, event)
}

/// The line of an event, from its number on.
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
    event.kind.fields(&mut Members(out))?;
    raw(out, "}}\n");
    Ok(())
}

/// `effect`.
pub(in crate::harness) fn effect(out: &mut Vec<u8>, issued: &Issued, at: u64) -> io::Result<()> {
    let Issued { id, seq, .. } = *issued;
    let task = &*issued.task;
    raw(out, r#"{"v":1,"t":"effect","task":""#);
    place(out, Place { task, seq, id }, at);
    raw(out, r#","effect":"#);
    effect::write(out, &issued.effect)?;
    raw(out, "}\n");
    Ok(())
}

/// `answer`, of one that was taken.
pub(in crate::harness) fn answer(
    out: &mut Vec<u8>,
    answered: Place<'_>,
    at: u64,
    answer: &Answer,
) -> io::Result<()> {
    raw(out, ANSWER);
    place(out, answered, at);
    raw(out, r#","answer":"#);
    answer::write(out, answer)?;
    raw(out, "}\n");
    Ok(())
}

/// `answer`, of an effect that was withdrawn.
pub(in crate::harness) fn withdrawal(
    out: &mut Vec<u8>,
    withdrawn: Place<'_>,
    at: u64,
    how: Withdrawal,
) {
    raw(out, ANSWER);
    place(out, withdrawn, at);
    raw(out, r#","answer":"#);
    string(out, how.tag());
    raw(out, "}\n");
}

/// How the line of an answer begins.
pub(super) const ANSWER: &str = r#"{"v":1,"t":"answer","task":""#;

/// An effect's coordinates, and the moment of a line of its own.
#[inline]
fn place(out: &mut Vec<u8>, place: Place<'_>, at: u64) {
    raw(out, place.task);
    let mut back = Back::<80>::new();
    back.number(at);
    back.raw(r#","at":"#);
    back.number(place.id.0);
    back.raw(r#","id":"#);
    back.number(place.seq.into());
    back.raw(r#"","seq":"#);
    out.extend_from_slice(back.text());
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
