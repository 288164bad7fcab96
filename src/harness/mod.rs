//! The outside of a run: prepare, the store's backends, cancel, and the loop that performs a run's
//! effects (spec R7).

mod launch;
mod store;

pub use launch::{CancelToken, Launch, Limits, Report, Seed, StartedAt};
pub use store::{Backend, BackendError, Directory, EntryKind, Memory, Store};

use crate::engine::Event;

/// Runs prompts: draws what a run needs from outside, performs its effects and reports its outcome.
#[derive(Default)]
pub struct Harness {}

impl Harness {
    /// Runs one prompt file to its outcome. `observe` sees every event as it is reported.
    pub fn run(&self, source: &str, launch: Launch, observe: &mut dyn FnMut(&Event)) -> Report {
        let _ = (source, launch, observe);
        unreachable!("the engine is not connected yet")
    }
}
