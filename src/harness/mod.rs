//! The outside of a run: prepare, the store's backends, cancel, and the loop that performs a run's
//! effects (spec R7).

pub mod gateway;
pub(crate) mod group;
mod host;
pub mod http;
mod launch;
mod line;
mod log;
pub mod mcp;
pub mod model;
pub(crate) mod pattern;
mod perform;
mod pool;
mod prepare;
pub mod record;
pub(crate) mod regular;
mod replay;
mod requirements;
mod resume;
mod script;
mod seed;
mod shown;
mod started_at;
mod store;
mod tools;
pub mod unit;
pub mod web;
mod workers;
pub mod yaml;

pub use launch::{CancelToken, Launch, Limits, Report, StopToken};
pub use log::Log;
pub use pool::Pool;
pub use replay::{Difference, Instead, ReplayError, Replayed, replay, replay_cancellable};
pub use requirements::{MissingService, Requirements, UnavailablePack};
pub use resume::{Resume, ResumeError};
pub use script::Script;
pub use seed::{Seed, SeedError};
pub use started_at::{StartedAt, StartedAtError};
pub use store::{Backend, BackendError, Directory, EntryKind, Memory, Store};

use std::sync::Arc;

use crate::engine::Event;
use crate::engine::packs::PackEntry;
use crate::prompt::Dialect;
use host::Host;
use prepare::{Prepared, prepare, survey};
use record::Journal;
use unit::{Operator, SEARCH_PROVIDER, Unit};
use web::Web;
use workers::Workers;

/// Runs prompts: draws what a run needs from outside, performs its effects and reports its outcome.
///
/// It holds what all runs of a Host share: its units and services, and the threads that do what
/// blocks. They live as long as it does.
#[derive(Debug, Default)]
pub struct Harness {
    host: Host,
    workers: Workers,
}

impl Harness {
    /// Has what is amiss with units logged, from here on.
    pub fn with_log(mut self, log: Log) -> Self {
        self.host.log = log;
        self
    }

    /// Adds a unit: a Plugin to prompts of the one dialect, a Pack to those of the other. It takes
    /// the place of one with the same id. One that could not be built is logged (spec T34).
    pub fn with_unit(mut self, unit: impl Unit + 'static) -> Self {
        self.host.add(Arc::new(unit));
        self
    }

    /// Adds the web unit, and with it the search that it needs (spec T129).
    pub fn with_web(self, web: Web) -> Self {
        self.with_service(SEARCH_PROVIDER).with_unit(web)
    }

    /// Provides a service to the runs, by its id; of those of spec T23 in either dialect.
    pub fn with_service(mut self, id: &str) -> Self {
        self.host.provide(id);
        self
    }

    /// The units of the Host, each as a run of this dialect that declares it would have it: its
    /// tools, or the reason why it cannot serve. Waits until each is ready, or `cancel` is set off.
    pub fn units(
        &self,
        dialect: Dialect,
        operator: Option<Arc<dyn Operator>>,
        cancel: &CancelToken,
    ) -> Vec<PackEntry> {
        survey(&self.host, dialect, operator, cancel)
    }

    /// Runs one prompt file to its outcome. `observe` sees every event as it is reported.
    pub fn run(&self, source: &str, launch: Launch, observe: &mut dyn FnMut(&Event)) -> Report {
        let (cancel, limits) = (launch.cancel.clone(), launch.limits);
        let (broker, show, debug, stop, recorder) = (
            launch.broker.clone(),
            launch.show.clone(),
            launch.debug.clone(),
            launch.stop.clone(),
            launch.record.clone(),
        );
        let Prepared {
            mut report,
            run,
            head,
            parse_events,
        } = prepare(source, launch, &self.host);
        // A setup error has no record (spec R17).
        let recorder = recorder.filter(|_| !report.is_setup_error());
        let begun = Journal::begin(recorder.as_ref(), &head, &parse_events);
        parse_events.iter().for_each(&mut *observe);
        drop((head, parse_events));
        let mut journal = match begun {
            Ok(journal) => journal,
            Err(error) => {
                report.outcome = perform::unrecorded(&error);
                return report;
            }
        };
        report.outcome = match run {
            Some((run, tools)) => {
                let outside = perform::Outside {
                    store: &report.store,
                    broker: broker.as_deref(),
                    tools: &tools,
                    show,
                    debug,
                    limits,
                    cancel: &cancel,
                    stop: &stop,
                    workers: &self.workers,
                };
                perform::perform(run, &outside, &mut journal, None, observe)
            }
            None => journal
                .refused(&report.outcome)
                .map_or_else(|error| perform::unrecorded(&error), |()| report.outcome),
        };
        report
    }
}
