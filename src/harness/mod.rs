//! The outside of a run: prepare, the store's backends, cancel, and the loop that performs a run's
//! effects (spec R7).

pub mod gateway;
pub mod http;
mod launch;
pub mod model;
mod perform;
mod pool;
mod prepare;
mod script;
mod seed;
mod started_at;
mod store;
pub mod unit;
pub mod web;
pub mod yaml;

pub use launch::{CancelToken, Launch, Limits, Report, StopToken};
pub use pool::Pool;
pub use script::Script;
pub use seed::{Seed, SeedError};
pub use started_at::{StartedAt, StartedAtError};
pub use store::{Backend, BackendError, Directory, EntryKind, Memory, Store};

use crate::engine::Event;
use prepare::{Prepared, prepare};

/// Runs prompts: draws what a run needs from outside, performs its effects and reports its outcome.
#[derive(Debug, Default)]
pub struct Harness {}

impl Harness {
    /// Runs one prompt file to its outcome. `observe` sees every event as it is reported.
    pub fn run(&self, source: &str, launch: Launch, observe: &mut dyn FnMut(&Event)) -> Report {
        let (cancel, limits) = (launch.cancel.clone(), launch.limits);
        let (broker, show, stop) = (
            launch.broker.clone(),
            launch.show.clone(),
            launch.stop.clone(),
        );
        let Prepared {
            mut report,
            run,
            parse_events,
        } = prepare(source, launch);
        for event in &parse_events {
            observe(event);
        }
        if let Ok(run) = run {
            let outside = perform::Outside {
                store: &report.store,
                broker: broker.as_deref(),
                show,
                limits,
                cancel: &cancel,
                stop: &stop,
            };
            report.outcome = perform::perform(run, &outside, observe);
        }
        report
    }
}
