//! What a record says of a step before the step is run again: a step that was cancelled may never
//! come to an end by itself, so one that is to be followed must not be such (spec R15).

use std::io::BufRead;

use super::same::{EFFECT, EVENT};
use super::track::Track;
use crate::engine::{Effect, EffectId, FULL, Outcome};
use crate::harness::record::{ANSWER, Answered, CancelLine, Line, RecordError, Rest, misread};

/// How many lines are looked at: more than a step has before it hands them over.
const MOST: u64 = 4 * FULL as u64;

/// How the line of an answer ends that nobody gave.
const WITHDRAWN: [&[u8]; 2] = [br#","answer":"dropped"}"#, br#","answer":"interrupted"}"#];

/// What is wrong with one more answer to an effect.
pub(super) const ANSWERED: &str = "its effect has an answer already";

/// How far it is known that no step was cancelled.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// To the line that begins so many bytes from the record's start, which a step before it led to.
    bytes: u64,
    /// This many lines are of what the run does.
    lines: u64,
    ending: Ending,
}

/// How the run may come to its end by itself, as far as it has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Ending {
    #[default]
    Open,
    /// A block of its first task failed.
    Failed,
    /// And its Lua state was torn down.
    TornDown,
}

impl Ending {
    /// What a next event makes of it. That of a failed block of a called chain is followed by that of
    /// its caller's, or else was caught.
    fn after(self, told: Told) -> Self {
        match (told, self) {
            (Told::Failed, _) => Self::Failed,
            (Told::TearsDown, Self::Failed) => Self::TornDown,
            (Told::TearsDown, _) => Self::Open,
            (Told::Other, _) => self,
        }
    }
}

/// What a line tells of the first task, as far as it matters here.
#[derive(Clone, Copy)]
enum Told {
    /// A block has failed, or the library.
    Failed,
    /// A Lua state is torn down.
    TearsDown,
    Other,
}

/// What a line says of the step that is run next, if it stands behind its lines.
enum Says {
    /// It may be one of the step's own, be it of an effect that it withdrew.
    Own(Told),
    /// A cancel took effect within a step.
    CancelWithin,
    /// The run ended as cancelled.
    Cancelled,
    /// The run was given an answer.
    Answered(EffectId),
    /// The step came to its end.
    Over,
}

fn says(text: &str) -> Result<Says, serde_json::Error> {
    let bytes = text.as_bytes();
    if let Some((task, kind)) = event(bytes) {
        return Ok(Says::Own(told(task, kind)));
    }
    if bytes.starts_with(EFFECT) {
        return Ok(Says::Own(Told::Other));
    }
    Ok(match Line::read(text)? {
        Line::Event(line) => Says::Own(told(line.task.as_bytes(), line.kind().as_bytes())),
        Line::Effect(_) => Says::Own(Told::Other),
        Line::Answer(line) => match line.answer {
            Answered::Taken(_) => Says::Answered(line.id),
            Answered::Withdrawn(_) => Says::Own(Told::Other),
        },
        Line::Cancel(CancelLine { after: Some(_), .. }) => Says::CancelWithin,
        Line::Outcome(line) if line.outcome == Outcome::Cancelled => Says::Cancelled,
        _ => Says::Over,
    })
}

/// The task and the kind of an event whose line is written as this engine writes it.
fn event(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = Rest(line);
    rest.take(EVENT.as_bytes())?;
    rest.take(br#","task":""#)?;
    let task = rest.until(b'"')?;
    rest.take(br#","seq":"#)?;
    rest.number()?;
    rest.take(br#","event":{"kind":""#)?;
    Some((task, rest.until(b'"')?))
}

fn told(task: &[u8], kind: &[u8]) -> Told {
    match kind {
        _ if task != b"0" => Told::Other,
        b"lua_chunk_failed" | b"lua_shared_load_failed" => Told::Failed,
        b"lua_teardown_started" => Told::TearsDown,
        _ => Told::Other,
    }
}

/// That the step whose lines come next ended by itself, for all that the record says. Before it there
/// was no cancel, nor a stop, which may end a run as cancelled later. `is_answered` says which effects
/// have had their answer.
///
/// # Errors
/// The run ends there as cancelled, the next line is one more answer to one of those, or it is none of
/// a record.
pub(super) fn check_uncancelled<R: BufRead>(
    track: &mut Track<R>,
    known: &mut Known,
    is_answered: impl Fn(EffectId) -> bool,
) -> Result<(), RecordError> {
    if track.place() < known.bytes {
        return Ok(());
    }
    if let Some(start) = last_taken(track.begins()?)
        && start > 0
    {
        known.bytes = track.place() + start as u64;
        return Ok(());
    }
    let taken = track.taken();
    for line in known.lines.max(taken)..taken + MOST {
        let at = usize::try_from(line - taken).unwrap_or(usize::MAX);
        let Some((number, text)) = track.look(at) else {
            return Ok(());
        };
        match says(text) {
            Ok(Says::Own(told)) => {
                known.lines = line + 1;
                known.ending = known.ending.after(told);
            }
            // What a prompt raises may end its run so too.
            Ok(Says::Cancelled) if known.ending == Ending::TornDown => return Ok(()),
            Ok(Says::CancelWithin) if !is_handed_over(track, at) => {
                let reason =
                    "a `cancel` with `after` begins a step, and the one before has not ended";
                return Err(wrong(number, reason));
            }
            Ok(Says::Answered(id)) if at == 0 && is_answered(id) => {
                return Err(wrong(number, ANSWERED));
            }
            Ok(Says::CancelWithin | Says::Answered(_) | Says::Over) => return Ok(()),
            Ok(Says::Cancelled) => {
                let reason = "the run ended as cancelled, and no `cancel` line says where";
                return Err(wrong(number, reason));
            }
            Err(error) if at == 0 => return Err(misread(number, &error)),
            // It is told of once the run has come so far.
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}

/// Whether a step hands its lines over, so many, though it could go on.
fn is_handed_over<R: BufRead>(track: &mut Track<R>, count: usize) -> bool {
    let is_asked = |text: &str| match Line::read(text) {
        Ok(Line::Effect(line)) => matches!(line.effect, Effect::Model(_) | Effect::Tool(_)),
        _ => false,
    };
    let mut lines = 0..count;
    count >= FULL || lines.any(|at| track.look(at).is_some_and(|(_, text)| is_asked(text)))
}

/// That a run can have come as far as the next line says, a cancel's, in the step that was cancelled.
///
/// # Errors
/// Its record has not so much.
pub(super) fn check_reached<R: BufRead>(
    track: &mut Track<R>,
    after: usize,
) -> Result<(), RecordError> {
    let (mut at, mut reached) = (1, 0);
    while let Some((_, text)) = track.look(at) {
        match says(text) {
            Ok(Says::Own(_)) => reached += 1,
            // The last event tells of the cancel itself.
            Ok(Says::Cancelled) if after >= reached => {
                let reason = format!("`after` is {after}, and its step did not come so far");
                return Err(wrong(track.taken() + 1, &reason));
            }
            _ => break,
        }
        at += 1;
    }
    Ok(())
}

fn wrong(line: u64, reason: &str) -> RecordError {
    let reason = reason.to_owned();
    RecordError::Line { line, reason }
}

/// Where the last answer begins that a run was given, among whole lines; it is looked for in the last
/// few of them.
fn last_taken(lines: &[u8]) -> Option<usize> {
    let mut end = memchr::memrchr(b'\n', lines)?;
    for _ in 0..64 {
        let before = memchr::memrchr(b'\n', lines.get(..end)?);
        let start = before.map_or(0, |at| at + 1);
        let line = lines.get(start..end)?;
        if line.starts_with(ANSWER.as_bytes()) && !WITHDRAWN.iter().any(|how| line.ends_with(how)) {
            return Some(start);
        }
        end = before?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answer_is_found_that_was_given() {
        let text = "{}\n{\"v\":1,\"t\":\"answer\",\"task\":\"0\",\"id\":0}\n\
                    {\"v\":1,\"t\":\"answer\",\"task\":\"0\",\"id\":1,\"answer\":\"dropped\"}\n{}\n{";
        assert_eq!(last_taken(text.as_bytes()), Some(3));
        for nothing in [
            "",
            "{",
            "{}\n",
            "{}\n{}\n{\"v\":1,\"t\":\"answer\",\"task\":\"0\",\"id\":0}",
        ] {
            assert_eq!(last_taken(nothing.as_bytes()), None, "{nothing}");
        }
    }
}
