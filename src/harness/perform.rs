//! The loop around a run: what it asks for is performed, and the answers are handed in, one a step
//! (spec R7, K205).

mod taps;
mod waiting;

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use super::model::{Broker, DebugEvents, Show};
use super::record::Journal;
use super::tools::Tools;
use super::workers::Workers;
use super::{CancelToken, Limits, StopToken, Store};
use crate::engine::{Answer, Effect, EffectId, Event, Item, Outcome, Run, RunError, Step};
use waiting::{Next, Queued, Waiting};

/// What a run's effects are performed with.
pub(super) struct Outside<'a> {
    pub(super) store: &'a Store,
    pub(super) broker: Option<&'a dyn Broker>,
    pub(super) tools: &'a Tools,
    pub(super) show: Option<Show>,
    pub(super) debug: Option<DebugEvents>,
    pub(super) limits: Limits,
    pub(super) cancel: &'a CancelToken,
    pub(super) stop: &'a StopToken,
    pub(super) workers: &'a Workers,
}

/// Where a run goes on that its record has brought so far (spec R16).
pub(super) struct Resumed {
    /// The effects in flight, as if one step had put them out.
    pub(super) step: Step,
    /// The answers of those that were performed already.
    pub(super) done: BTreeMap<EffectId, Answer>,
}

/// Steps a run to its outcome, and keeps its record. Store operations are performed at once, on this
/// thread; a timer is a deadline and holds none.
pub(super) fn perform(
    mut run: Run,
    outside: &Outside<'_>,
    journal: &mut Journal,
    resumed: Option<Resumed>,
    observe: &mut dyn FnMut(&Event),
) -> Outcome {
    match drive(&mut run, outside, journal, resumed, observe) {
        Ok(outcome) => outcome,
        // The run ends where its record does (spec R17). Nothing that it asks for any more is done.
        Err(error) => {
            let outcome = unrecorded(&error);
            run.break_off(&outcome);
            let step = run.step();
            step.items.iter().for_each(|item| see(item, observe));
            outcome
        }
    }
}

/// The outcome of a run whose record cannot be written.
#[track_caller]
pub(super) fn unrecorded(error: &io::Error) -> Outcome {
    let text = format!("the record cannot be written: {error}");
    Outcome::Failed(RunError::internal(text))
}

fn see(item: &Item, observe: &mut dyn FnMut(&Event)) {
    if let Item::Event(event) = item {
        observe(event);
    }
}

/// The loop itself. Its errors are the recorder's.
fn drive(
    run: &mut Run,
    outside: &Outside<'_>,
    journal: &mut Journal,
    resumed: Option<Resumed>,
    observe: &mut dyn FnMut(&Event),
) -> io::Result<Outcome> {
    let mut waiting = Waiting::new(outside);
    let store_stays = outside.store.outlives_process();
    // Of what a script answers, and what is done in memory, nothing is left without this process. A
    // round that is asked outside hands the lines over itself.
    let reaches_out = |item: &Item| match item {
        Item::Effect(issued) => match issued.effect {
            Effect::Store { .. } => store_stays,
            Effect::Tool(_) => true,
            Effect::Model(_) | Effect::Timer { .. } => false,
        },
        Item::Event(_) => false,
    };
    let next_step = |run: &mut Run, journal: &mut Journal| {
        let step = run.step();
        journal.step(&step)?;
        if step.items.iter().any(reaches_out) {
            journal.flush()?;
        }
        Ok::<_, io::Error>(step)
    };
    let (mut step, mut done) = match resumed {
        Some(Resumed { step, done }) => (step, done),
        None => (next_step(run, journal)?, BTreeMap::new()),
    };
    loop {
        // A stop that landed meanwhile cannot reach what this step asks for (spec K212).
        waiting.look_for_stop(outside);
        step.items.iter().for_each(|item| see(item, observe));
        let mut direct = None;
        // An effect starts once every event of its step was seen (spec R13), and is performed even
        // where the run has ended meanwhile (spec S44).
        for item in step.items {
            let Item::Effect(issued) = item else { continue };
            match issued.effect {
                Effect::Store { op, direct: first } => {
                    let perform = || Answer::Store(outside.store.perform(&op));
                    let answer = done.remove(&issued.id).unwrap_or_else(perform);
                    match first {
                        true => direct = Some((issued.id, answer)),
                        false => waiting.answers.push_back(Queued::new(issued.id, answer)),
                    }
                }
                Effect::Timer { seconds, .. } => {
                    let span = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
                    waiting.fire_after(span, issued.id);
                }
                Effect::Model(round) => {
                    let tap = waiting.taps.tap(issued.id, run);
                    waiting.ask(issued.id, round, tap, outside, journal)?;
                }
                Effect::Tool(request) => waiting.call(issued.id, request, issued.task, outside),
            }
        }
        waiting.withdraw(&step.withdrawn);
        if let Some(outcome) = step.outcome {
            journal.outcome(&outcome)?;
            return Ok(outcome);
        }
        // A direct effect's answer is the next one taken (spec K205).
        if let Some((id, answer)) = direct {
            journal.answer(id, &answer, !store_stays)?;
            run.answer(id, answer);
        } else if !step.more {
            let waits = waiting.answers.is_empty();
            if waits {
                journal.flush()?;
            }
            match waiting.next(outside, || run.get_ahead()) {
                Next::Answer(Queued {
                    id,
                    answer,
                    is_fetched,
                    ..
                }) => {
                    waiting.taps.answered(id);
                    journal.answer(id, &answer, !(store_stays || waits || is_fetched))?;
                    // What was fetched is not asked for again, however long the next step takes.
                    if is_fetched {
                        journal.flush()?;
                    }
                    run.answer(id, answer);
                }
                Next::Stop(ids) => journal.stop(&run.stop(&ids))?,
                Next::Cancelled => {}
            }
        }
        step = next_step(run, journal)?;
    }
}
