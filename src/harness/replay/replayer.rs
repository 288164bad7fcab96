//! Runs a recorded run again: what its record says it was told is handed in at the same points, and
//! what it then does is compared with what the record says it did (spec R15).

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use super::ahead::{ANSWERED, Known, check_reached, check_uncancelled};
use super::difference::{Difference, Instead, ReplayError};
use super::same::{DOES, is_same, lines, moment};
use super::track::Track;
use crate::engine::{
    Answer, CancelPoint, Effect, EffectId, Event, Issued, Item, Outcome, Run, Step, Unanswered,
};
use crate::harness::record::{
    AnswerLine, Answered, CancelLine, Head, Kind, Line, Lines, Quick, RecordError, START, StopLine,
    Torn, misread, quick_answer, write,
};

/// Learns what a replayed run does.
pub(in crate::harness) trait Follow {
    /// An event is reported.
    fn event(&mut self, event: &Event);

    /// A step begins.
    fn step(&mut self) {}

    /// An effect is put out, in issue order.
    fn effect(&mut self, _issued: &Issued) {}

    /// An effect is answered.
    ///
    /// # Errors
    /// It cannot have been answered so.
    fn answered(&mut self, _issued: &Issued, _answer: &Answer) -> Result<(), String> {
        Ok(())
    }

    /// The answer to an effect is not wanted any more.
    fn withdrawn(&mut self, _issued: &Issued) {}
}

/// Why a replay went no further.
pub(in crate::harness) enum Halt {
    Error(ReplayError),
    /// An answer that cannot have been given.
    Refused {
        line: u64,
        why: String,
    },
    /// The run was cancelled while it was replayed, by somebody else than its record.
    Cancelled,
}

impl From<RecordError> for Halt {
    fn from(error: RecordError) -> Self {
        Self::Error(error.into())
    }
}

impl From<io::Error> for Halt {
    fn from(error: io::Error) -> Self {
        RecordError::from(error).into()
    }
}

/// How far a replay came.
pub(in crate::harness) enum End {
    /// To the recorded outcome.
    Outcome(Outcome),
    /// To the end of a record that has none.
    Cut(Cut),
}

/// Where a run stands at the end of a record without an outcome.
#[derive(Default)]
pub(in crate::harness) struct Cut {
    /// Whether the run goes on without an answer.
    pub(in crate::harness) more: bool,
    /// How the run ended, if it has.
    pub(in crate::harness) outcome: Option<Outcome>,
    /// The lines of its last step that the record does not have.
    pub(in crate::harness) rest: Vec<u8>,
}

impl Cut {
    /// Whether the run waits for the outside.
    pub(in crate::harness) fn is_waiting(&self) -> bool {
        self.rest.is_empty() && !self.more && self.outcome.is_none()
    }
}

/// What a run goes on with.
pub(in crate::harness) struct Reached {
    /// Writes what the run does.
    pub(in crate::harness) lines: Lines,
    /// The effects without an answer.
    pub(in crate::harness) open: BTreeMap<EffectId, Issued>,
    /// The moment of the last line that has one.
    pub(in crate::harness) at: u64,
    /// How many bytes the whole lines of the record take.
    pub(in crate::harness) offset: u64,
}

/// A record, and how far a run has followed it.
pub(in crate::harness) struct Replayer<R> {
    track: Track<R>,
    known: Known,
    /// Whether there was a cancel or a stop.
    is_cut_short: bool,
    /// Writes what the run does.
    lines: Lines,
    /// The effects without an answer.
    open: Unanswered<Issued>,
    /// The id of the next effect.
    issued: EffectId,
    /// What was written last.
    text: Vec<u8>,
    /// The moment of the last line that has one.
    at: u64,
    /// Whether it matters what is left of a last line: the run is to go on.
    resumes: bool,
}

impl<R: BufRead> Replayer<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            track: Track::new(source),
            known: Known::default(),
            is_cut_short: false,
            lines: Lines::default(),
            open: Unanswered::default(),
            issued: EffectId::default(),
            text: Vec::new(),
            at: 0,
            resumes: false,
        }
    }

    /// Follows a record that its run then goes on from.
    pub(in crate::harness) fn resuming(source: R) -> Self {
        Self {
            resumes: true,
            ..Self::new(source)
        }
    }

    /// Whether what is left of a last line may be of an answer that the run went on with; known once
    /// all others were read.
    pub(in crate::harness) fn may_hide_answer(&self) -> bool {
        let start = format!("{}{}\"", START, Kind::Answer.tag());
        let torn = self.track.torn().filter(|torn| !torn.is_at_page_end());
        torn.is_some_and(|torn| {
            // Of a line that the system had no time to write there are zeros.
            let zeros = torn.bytes.iter().rev().take_while(|byte| **byte == 0);
            let is_there = torn.bytes.len() - zeros.count();
            let left = torn.bytes.get(..is_there).unwrap_or_default();
            left.starts_with(start.as_bytes()) || start.as_bytes().starts_with(left)
        })
    }

    /// The record's first line, which is left to be compared.
    pub(in crate::harness) fn head(&mut self) -> Result<Head, Halt> {
        let Some((number, text)) = self.track.peek()? else {
            return Err(RecordError::Empty.into());
        };
        match Line::read(text).map_err(|error| misread(number, &error))? {
            Line::Head(head) => Ok(*head),
            _ => Err(RecordError::Line {
                line: number,
                reason: "a record begins with its `run` line".to_owned(),
            }
            .into()),
        }
    }

    /// How many lines were followed.
    pub(in crate::harness) fn followed(&self) -> u64 {
        self.track.taken()
    }

    pub(super) fn torn(&self) -> Option<&Torn> {
        self.track.torn()
    }

    /// What the run goes on with from where the record ends.
    pub(in crate::harness) fn reached(self) -> Reached {
        Reached {
            offset: self.track.offset(),
            lines: self.lines,
            open: self.open.into_map(),
            at: self.at,
        }
    }

    /// Follows the record with a run to the end of either.
    pub(super) fn follow(&mut self, run: &mut Run, follow: &mut dyn Follow) -> Result<End, Halt> {
        loop {
            let mut due = None;
            if !self.goes_on()? {
                let is_over = self.track.peek()?.is_none();
                // What is left of a line may be of this step.
                if is_over && !(self.resumes && self.may_hide_answer()) {
                    let more = true;
                    return Ok(End::Cut(Cut {
                        more,
                        ..Cut::default()
                    }));
                }
                due = self.raise_cancel(run)?;
            }
            if !self.is_cut_short {
                let is_answered = |id| id < self.issued && self.open.get(id).is_none();
                check_uncancelled(&mut self.track, &mut self.known, is_answered)?;
            }
            let step = run.step();
            if step.cancelled.is_some_and(|point| !is_from(point, due)) {
                return Err(Halt::Cancelled);
            }
            let rest = self.compare_step(&step)?;
            let Step { more, outcome, .. } = self.follow_step(step, follow);
            if let Some(outcome) = outcome {
                return match rest.is_empty() {
                    true => self.outcome(outcome),
                    false => Ok(End::Cut(Cut {
                        more,
                        rest,
                        outcome: Some(outcome),
                    })),
                };
            }
            let is_cut = !rest.is_empty() || (!more && !self.take_next(run, follow)?);
            if is_cut {
                return Ok(End::Cut(Cut {
                    more,
                    rest,
                    outcome: None,
                }));
            }
        }
    }

    /// Compares what was written by `write` with the lines that follow.
    pub(super) fn written(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> Result<Vec<u8>, Halt> {
        self.text.clear();
        write(&mut self.text)?;
        self.compare()
    }

    /// Compares the end of a run with what is left of the record.
    pub(super) fn outcome(&mut self, outcome: Outcome) -> Result<End, Halt> {
        let rest = self.written(|text| write::outcome(text, 0, &outcome))?;
        if !rest.is_empty() {
            return Ok(End::Cut(Cut {
                outcome: Some(outcome),
                ..Cut::default()
            }));
        }
        match self.track.peek()? {
            None => Ok(End::Outcome(outcome)),
            Some((number, text)) => Err(differs(number, text, Instead::Ended)),
        }
    }

    /// The outcome in the next line; `None` at the record's end, and for another line.
    pub(super) fn recorded_outcome(&mut self) -> Result<Option<Result<Outcome, Halt>>, Halt> {
        let Some((number, text)) = self.track.peek()? else {
            return Ok(None);
        };
        let line = Line::read(text).map_err(|error| misread(number, &error))?;
        Ok(Some(match line {
            Line::Outcome(line) => Ok(line.outcome),
            Line::Cancel(CancelLine { after: None, .. }) => Ok(Outcome::Cancelled),
            _ => Err(differs(number, text, Instead::Refused)),
        }))
    }

    /// The difference of the next line.
    pub(super) fn next_differs(&mut self, new: Instead) -> Halt {
        match self.track.peek() {
            Ok(Some((number, text))) => differs(number, text, new),
            Ok(None) => RecordError::Empty.into(),
            Err(error) => error.into(),
        }
    }

    /// Whether the next line, or what is left of it, is plainly of what the run does itself. The
    /// lines of a step are written once it is over, so a run that does it again comes to its end.
    fn goes_on(&mut self) -> Result<bool, Halt> {
        // A run that is resumed goes on live where the whole lines end.
        let is_whole = !self.resumes || self.track.at_hand()?.is_some();
        let line = self.track.begins()?;
        Ok(is_whole && DOES.iter().any(|start| line.starts_with(start)))
    }

    /// Has the run cancelled where the record says so next. Gives where, if it says so.
    fn raise_cancel(&mut self, run: &mut Run) -> Result<Option<CancelPoint>, Halt> {
        let Some((number, text)) = self.track.peek()? else {
            return Ok(None);
        };
        if !may_be(text, Kind::Cancel) {
            return Ok(None);
        }
        let line = Line::read(text).map_err(|error| misread(number, &error))?;
        let Line::Cancel(CancelLine { after, .. }) = line else {
            return Ok(None);
        };
        self.is_cut_short = true;
        Ok(Some(match after {
            None => {
                run.cancel();
                CancelPoint::Between
            }
            Some(progress) => {
                check_reached(&mut self.track, progress)?;
                run.cancel_after(progress);
                CancelPoint::After(progress)
            }
        }))
    }

    /// Compares what a step put out. Gives the lines beyond the record's end.
    fn compare_step(&mut self, step: &Step) -> Result<Vec<u8>, Halt> {
        self.text.clear();
        let count = self.lines.step(&mut self.text, step, self.at)?;
        // Nearly always they are the same bytes.
        match self.track.pass(&self.text, count)? {
            true => Ok(Vec::new()),
            false => self.compare(),
        }
    }

    /// Compares what was written last with the lines that follow. Gives what is beyond the record's
    /// end.
    fn compare(&mut self) -> Result<Vec<u8>, Halt> {
        let written = std::mem::take(&mut self.text);
        let mut length = 0;
        for new in lines(&written) {
            let new = new?;
            let Some((number, recorded)) = self.track.peek()? else {
                return Ok(written[length..].to_vec());
            };
            let same = is_same(recorded, new).map_err(|error| misread(number, &error))?;
            if !same {
                let new = Instead::Line(new.to_owned());
                return Err(differs(number, recorded, new));
            }
            self.at = self.at.max(moment(recorded).unwrap_or(0));
            self.track.take();
            length += new.len() + 1;
        }
        self.text = written;
        Ok(Vec::new())
    }

    /// Tells of a step whose lines are as recorded.
    fn follow_step(&mut self, mut step: Step, follow: &mut dyn Follow) -> Step {
        follow.step();
        for item in std::mem::take(&mut step.items) {
            match item {
                Item::Event(event) => follow.event(&event),
                Item::Effect(issued) => {
                    follow.effect(&issued);
                    self.issued = EffectId(issued.id.0 + 1);
                    self.open.insert(issued.id, issued);
                }
            }
        }
        for (id, _) in &step.withdrawn {
            if let Some(issued) = self.open.remove(*id) {
                follow.withdrawn(&issued);
            }
        }
        step
    }

    /// Hands in what the record says comes next. Whether it says anything.
    fn take_next(&mut self, run: &mut Run, follow: &mut dyn Follow) -> Result<bool, Halt> {
        if let Some(quick) = quick_answer(self.track.begins()?, &self.lines) {
            let Quick {
                id,
                at,
                answer,
                length,
            } = quick;
            self.check_answer(id, &answer)?;
            self.track.pass_one(length);
            self.lines.close(id);
            self.answer(run, follow, id, at, answer)?;
            return Ok(true);
        }
        let Some((number, text)) = self.track.peek()? else {
            return Ok(false);
        };
        match Line::read(text).map_err(|error| misread(number, &error))? {
            Line::Answer(AnswerLine {
                id,
                at,
                answer: Answered::Taken(answer),
                ..
            }) if self.open.get(id).is_some() => {
                self.check_answer(id, &answer)?;
                self.compare_answer(id, at, &answer)?;
                self.answer(run, follow, id, at, answer)?;
            }
            Line::Answer(AnswerLine {
                id,
                answer: Answered::Taken(_),
                ..
            }) if id < self.issued => {
                let (line, why) = (number, ANSWERED.to_owned());
                return Err(Halt::Refused { line, why });
            }
            Line::Stop(StopLine { at, ids }) => {
                self.at = at;
                self.is_cut_short = true;
                let reached = run.stop(&ids);
                if reached.is_empty() {
                    return Err(self.next_differs(Instead::Waits));
                }
                self.written(|text| write::stop(text, at, &reached))?;
            }
            // It is raised before the next step.
            Line::Cancel(CancelLine { after: None, .. }) => {}
            _ => return Err(differs(number, text, Instead::Waits)),
        }
        Ok(true)
    }

    /// That an effect can have the answer in the next line.
    fn check_answer(&self, id: EffectId, answer: &Answer) -> Result<(), Halt> {
        match self.open.get(id) {
            Some(issued) if !may_answer(&issued.effect, answer) => Err(Halt::Refused {
                line: self.followed() + 1,
                why: "no effect of that kind is answered so".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Compares the line of an answer with the next one.
    fn compare_answer(&mut self, id: EffectId, at: u64, answer: &Answer) -> Result<(), Halt> {
        self.text.clear();
        let count = u64::from(self.lines.answer(&mut self.text, id, answer, at)?);
        if !self.track.pass(&self.text, count)? {
            self.compare()?;
        }
        Ok(())
    }

    /// Hands in the answer that was in the last line.
    fn answer(
        &mut self,
        run: &mut Run,
        follow: &mut dyn Follow,
        id: EffectId,
        at: u64,
        answer: Answer,
    ) -> Result<(), Halt> {
        self.at = at;
        if let Some(issued) = self.open.get(id) {
            let line = self.followed();
            let refused = |why| Halt::Refused { line, why };
            follow.answered(issued, &answer).map_err(refused)?;
        }
        self.open.forget(id);
        run.answer(id, answer);
        Ok(())
    }
}

/// Whether a run that was cancelled at this point can have been so by the cancel that was due.
fn is_from(point: CancelPoint, due: Option<CancelPoint>) -> bool {
    match (due, point) {
        (None, _) | (Some(CancelPoint::After(_)), CancelPoint::Between) => false,
        (Some(CancelPoint::Between), _) => true,
        (Some(CancelPoint::After(due)), CancelPoint::After(met)) => due <= met,
    }
}

/// Whether an effect can have that answer, be it a good one or a failure.
fn may_answer(effect: &Effect, answer: &Answer) -> bool {
    match (effect, answer) {
        (Effect::Store { op, .. }, Answer::Store(Ok(value))) => op.gives(value),
        (_, Answer::Broken(_))
        | (Effect::Store { .. }, Answer::Store(Err(_)))
        | (Effect::Model(_), Answer::Model(_))
        | (Effect::Tool(_), Answer::Tool(_))
        | (Effect::Timer { .. }, Answer::Fired) => true,
        _ => false,
    }
}

/// Whether a line may be of a kind, so that it pays to read it.
fn may_be(text: &str, kind: Kind) -> bool {
    match text.strip_prefix(START) {
        Some(rest) => rest.starts_with(kind.tag()),
        // It is not as it was written.
        None => true,
    }
}

fn differs(line: u64, recorded: &str, new: Instead) -> Halt {
    Halt::Error(ReplayError::Differs(Box::new(Difference {
        line,
        recorded: recorded.to_owned(),
        new,
    })))
}
