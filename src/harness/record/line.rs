//! The lines of a record, as they are read (spec R14).

use serde::Deserialize;
use serde::de::{Error as _, IgnoredAny};
use serde_json::value::RawValue;

use super::answer::{self, Answered};
use super::head::{self, Head};
use super::json::{read, word};
use super::{VERSION, effect};
use crate::engine::{Effect, EffectId, Outcome, RunError, RunErrorKind};
use crate::lua::Data;
use crate::prompt::{Location, ParseErrorKind};

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// `run`: what the run was started with; the first line.
    Head(Box<Head>),
    /// `event`: something happened.
    Event(EventLine),
    /// `effect`: something was asked of the outside.
    Effect(EffectLine),
    /// `answer`: what came of it.
    Answer(AnswerLine),
    /// `cancel`: the run was cancelled.
    Cancel(CancelLine),
    /// `stop`: what the run waited for was stopped.
    Stop(StopLine),
    /// `outcome`: how the run ended; the last line.
    Outcome(OutcomeLine),
}

/// An event, with its coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct EventLine {
    /// The task.
    pub task: String,
    /// The number within the task.
    pub seq: u32,
    /// The event, an object (spec K182): its `kind`, `execution`, `section` and own fields.
    pub event: Data,
}

impl EventLine {
    /// The event's kind.
    pub fn kind(&self) -> &str {
        self.text("kind")
    }

    /// The section it was reported under.
    pub fn section(&self) -> &str {
        self.text("section")
    }

    /// A field that is text; empty where there is none.
    pub fn text(&self, field: &str) -> &str {
        match self.event.get(field) {
            Some(Data::Text(text)) => text,
            _ => "",
        }
    }
}

/// An effect, with its coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectLine {
    /// The task that asked.
    pub task: String,
    /// The number within the task.
    pub seq: u32,
    /// The effect's id.
    pub id: EffectId,
    /// Milliseconds since the first line.
    pub at: u64,
    /// What was asked.
    pub effect: Effect,
}

/// An answer, with the coordinates of its effect.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerLine {
    /// The task that asked.
    pub task: String,
    /// The effect's number within the task.
    pub seq: u32,
    /// The effect's id.
    pub id: EffectId,
    /// Milliseconds since the first line.
    pub at: u64,
    /// What came of it.
    pub answer: Answered,
}

/// A cancel that took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CancelLine {
    /// Milliseconds since the first line.
    pub at: u64,
    /// How many events and effects the step that follows had put out; `None` for a cancel between
    /// two steps.
    pub after: Option<usize>,
}

/// A stop that took effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopLine {
    /// Milliseconds since the first line.
    pub at: u64,
    /// The effects it reached.
    pub ids: Vec<EffectId>,
}

/// How the run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeLine {
    /// Milliseconds since the first line.
    pub at: u64,
    /// The outcome.
    pub outcome: Outcome,
}

/// How any line begins as it is written, before its kind.
pub(in crate::harness) const START: &str = r#"{"v":1,"t":""#;

/// The kinds of a line, by what `t` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::harness) enum Kind {
    Head,
    Event,
    Effect,
    Answer,
    Cancel,
    Stop,
    Outcome,
}

const KINDS: [(Kind, &str); 7] = [
    (Kind::Head, "run"),
    (Kind::Event, "event"),
    (Kind::Effect, "effect"),
    (Kind::Answer, "answer"),
    (Kind::Cancel, "cancel"),
    (Kind::Stop, "stop"),
    (Kind::Outcome, "outcome"),
];

impl Kind {
    /// What `t` says.
    pub(in crate::harness) fn tag(self) -> &'static str {
        let row = KINDS.iter().find(|(kind, _)| *kind == self);
        row.map_or("", |(_, tag)| tag)
    }

    fn from_tag(tag: &str) -> Option<Self> {
        let row = KINDS.iter().find(|(_, other)| *other == tag);
        row.map(|(kind, _)| *kind)
    }

    /// The kind of a line, whose other fields are left alone.
    ///
    /// # Errors
    /// The JSON reader's, and that of anything that is no line of a record.
    pub(in crate::harness) fn of(text: &str) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Tag<'a> {
            v: u64,
            #[serde(borrow)]
            t: std::borrow::Cow<'a, str>,
        }
        let Tag { v, t } = read(text)?;
        if v != VERSION {
            let text = format!("a record of version {v}, and this build reads {VERSION}");
            return Err(serde_json::Error::custom(text));
        }
        word("line of a record", t, Self::from_tag)
    }
}

impl Line {
    /// Reads a line, without its end.
    ///
    /// # Errors
    /// The JSON reader's, and that of anything that is no line of a record.
    pub(in crate::harness) fn read(text: &str) -> Result<Self, serde_json::Error> {
        Ok(match Kind::of(text)? {
            Kind::Head => Self::Head(Box::new(read::<head::Form>(text)?.try_into()?)),
            Kind::Event => {
                let form: EventForm = read(text)?;
                Self::Event(EventLine {
                    task: form.task,
                    seq: form.seq,
                    event: form.event,
                })
            }
            Kind::Effect => {
                let form: EffectForm = read(text)?;
                Self::Effect(EffectLine {
                    task: form.task,
                    seq: form.seq,
                    id: EffectId(form.id),
                    at: form.at,
                    effect: effect::read(form.effect.get())?,
                })
            }
            Kind::Answer => {
                let form: AnswerForm = read(text)?;
                Self::Answer(AnswerLine {
                    task: form.task,
                    seq: form.seq,
                    id: EffectId(form.id),
                    at: form.at,
                    answer: answer::read(form.answer.get())?,
                })
            }
            Kind::Cancel => {
                let CancelForm { at, after, .. } = read(text)?;
                Self::Cancel(CancelLine { at, after })
            }
            Kind::Stop => {
                let StopForm { at, ids, .. } = read(text)?;
                let ids = ids.into_iter().map(EffectId).collect();
                Self::Stop(StopLine { at, ids })
            }
            Kind::Outcome => {
                let form: OutcomeForm = read(text)?;
                Self::Outcome(OutcomeLine {
                    at: form.at,
                    outcome: form.outcome()?,
                })
            }
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EventForm {
    #[serde(rename = "v")]
    _v: IgnoredAny,
    #[serde(rename = "t")]
    _t: IgnoredAny,
    task: String,
    seq: u32,
    event: Data,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EffectForm<'a> {
    #[serde(rename = "v")]
    _v: IgnoredAny,
    #[serde(rename = "t")]
    _t: IgnoredAny,
    task: String,
    seq: u32,
    id: u64,
    at: u64,
    #[serde(borrow)]
    effect: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerForm<'a> {
    #[serde(rename = "v")]
    _v: IgnoredAny,
    #[serde(rename = "t")]
    _t: IgnoredAny,
    task: String,
    seq: u32,
    id: u64,
    at: u64,
    #[serde(borrow)]
    answer: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CancelForm {
    #[serde(rename = "v")]
    _v: IgnoredAny,
    #[serde(rename = "t")]
    _t: IgnoredAny,
    at: u64,
    after: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StopForm {
    #[serde(rename = "v")]
    _v: IgnoredAny,
    #[serde(rename = "t")]
    _t: IgnoredAny,
    at: u64,
    ids: Vec<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutcomeForm {
    #[serde(rename = "v")]
    _v: IgnoredAny,
    #[serde(rename = "t")]
    _t: IgnoredAny,
    at: u64,
    outcome: String,
    result: Option<String>,
    kind: Option<String>,
    parse_kind: Option<String>,
    message: Option<String>,
    location: Option<Location>,
}

impl OutcomeForm {
    fn outcome(self) -> Result<Outcome, serde_json::Error> {
        let failure = (self.kind, self.message);
        Ok(match (self.outcome.as_str(), self.result, failure) {
            ("completed", Some(result), (None, None)) => Outcome::Completed(result),
            ("cancelled", None, (None, None)) => Outcome::Cancelled,
            ("failed", None, (Some(kind), Some(message))) => Outcome::Failed(RunError {
                kind: word("kind of a run error", kind, RunErrorKind::from_name)?,
                parse_kind: self
                    .parse_kind
                    .map(|kind| word("kind of a parse error", kind, ParseErrorKind::from_name))
                    .transpose()?,
                message,
                location: self.location,
            }),
            _ => return Err(serde_json::Error::custom("it is no outcome")),
        })
    }
}
