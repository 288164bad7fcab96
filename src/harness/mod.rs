//! The outside of a run: prepare, the store's backends, cancel, and the loop that performs a run's
//! effects (spec R7).

mod launch;
mod prepare;
mod seed;
mod started_at;
mod store;

pub use launch::{CancelToken, Launch, Limits, Report};
pub use seed::{Seed, SeedError};
pub use started_at::{StartedAt, StartedAtError};
pub use store::{Backend, BackendError, Directory, EntryKind, Memory, Store};

use crate::engine::{Answer, Effect, Event, Item, Outcome, Run};
use prepare::{Prepared, prepare};

/// Runs prompts: draws what a run needs from outside, performs its effects and reports its outcome.
#[derive(Debug, Default)]
pub struct Harness {}

impl Harness {
    /// Runs one prompt file to its outcome. `observe` sees every event as it is reported.
    pub fn run(&self, source: &str, launch: Launch, observe: &mut dyn FnMut(&Event)) -> Report {
        let Prepared {
            mut report,
            run,
            parse_events,
        } = prepare(source, launch);
        for event in &parse_events {
            observe(event);
        }
        if let Ok(run) = run {
            report.outcome = perform(run, &report.store, observe);
        }
        report
    }
}

/// Steps a run to its outcome. Store operations are performed at once, on this thread.
fn perform(mut run: Run, store: &Store, observe: &mut dyn FnMut(&Event)) -> Outcome {
    let mut answers = std::collections::VecDeque::new();
    loop {
        let step = run.step();
        let mut direct = None;
        for item in &step.items {
            if let Item::Event(event) = item {
                observe(event);
            }
        }
        // An effect starts once every event of its step was seen (spec R13), and is performed even
        // where the run has ended meanwhile (spec S44).
        for item in step.items {
            let Item::Effect(issued) = item else { continue };
            let Effect::Store { op, direct: first } = &issued.effect;
            let answer = Answer::Store(store.perform(op));
            match first {
                true => direct = Some((issued.id, answer)),
                false => answers.push_back((issued.id, answer)),
            }
        }
        if let Some(outcome) = step.outcome {
            return outcome;
        }
        // A direct effect's answer is the next one taken (spec K205).
        if let Some((id, answer)) = direct.or_else(|| answers.pop_front()) {
            run.answer(id, answer);
        }
    }
}
