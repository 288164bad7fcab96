//! Writes the lines of a record (spec R14): each its keys in order, then a line's end.

use std::io;

use serde::Serialize;

use super::head::{Form, Head};
use super::line::Kind;
use super::{VERSION, answer, effect};
use crate::engine::{Answer, EffectId, Event, Issued, Outcome, RunError, Unplaced, Withdrawal};
use crate::prompt::Location;

/// The coordinates of an effect.
#[derive(Clone, Copy, Debug)]
pub(in crate::harness) struct Place<'a> {
    pub(in crate::harness) task: &'a str,
    pub(in crate::harness) seq: u32,
    pub(in crate::harness) id: EffectId,
}

fn line(out: &mut Vec<u8>, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.push(b'\n');
    Ok(())
}

/// `run`.
pub(in crate::harness) fn head(out: &mut Vec<u8>, head: &Head) -> io::Result<()> {
    line(out, &Form::from(head))
}

/// `event`.
pub(in crate::harness) fn event(out: &mut Vec<u8>, event: &Event) -> io::Result<()> {
    #[derive(Serialize)]
    struct Form<'a> {
        v: u64,
        t: &'static str,
        task: &'a str,
        seq: u32,
        event: Unplaced<'a>,
    }
    let form = Form {
        v: VERSION,
        t: Kind::Event.tag(),
        task: &event.task,
        seq: event.seq,
        event: Unplaced(event),
    };
    line(out, &form)
}

/// `effect`.
pub(in crate::harness) fn effect(out: &mut Vec<u8>, issued: &Issued, at: u64) -> io::Result<()> {
    #[derive(Serialize)]
    struct Form<'a> {
        v: u64,
        t: &'static str,
        task: &'a str,
        seq: u32,
        id: u64,
        at: u64,
        effect: effect::Written<'a>,
    }
    let form = Form {
        v: VERSION,
        t: Kind::Effect.tag(),
        task: &issued.task,
        seq: issued.seq,
        id: issued.id.0,
        at,
        effect: effect::Written(&issued.effect),
    };
    line(out, &form)
}

/// `answer`, of one that was taken.
pub(in crate::harness) fn answer(
    out: &mut Vec<u8>,
    place: Place<'_>,
    at: u64,
    answer: &Answer,
) -> io::Result<()> {
    any_answer(out, place, at, answer::Written::Taken(answer))
}

/// `answer`, of an effect that was withdrawn.
pub(in crate::harness) fn withdrawal(
    out: &mut Vec<u8>,
    place: Place<'_>,
    at: u64,
    how: Withdrawal,
) -> io::Result<()> {
    any_answer(out, place, at, answer::Written::Withdrawn(how))
}

fn any_answer(
    out: &mut Vec<u8>,
    place: Place<'_>,
    at: u64,
    answer: answer::Written<'_>,
) -> io::Result<()> {
    #[derive(Serialize)]
    struct Form<'a> {
        v: u64,
        t: &'static str,
        task: &'a str,
        seq: u32,
        id: u64,
        at: u64,
        answer: answer::Written<'a>,
    }
    let form = Form {
        v: VERSION,
        t: Kind::Answer.tag(),
        task: place.task,
        seq: place.seq,
        id: place.id.0,
        at,
        answer,
    };
    line(out, &form)
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
