//! The limits of a configuration (spec C9), which stand under those of the command line.

use std::num::{NonZeroU32, NonZeroU64};

use runvil::harness::Limits;
use serde::Deserialize;

use super::bytes::Bytes;

/// Limits, as far as they are set.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a map")]
pub struct LimitEntries {
    concurrency: Option<NonZeroU32>,
    memory: Option<Bytes>,
    log_events: Option<u32>,
    response_cap: Option<Bytes>,
    receive_timeout: Option<NonZeroU64>,
    max_rounds: Option<NonZeroU32>,
}

impl LimitEntries {
    /// The limits of a run, where the command line says nothing else.
    pub fn limits(&self) -> Limits {
        let usual = Limits::default();
        Limits {
            concurrency: self.concurrency.map_or(usual.concurrency, NonZeroU32::get),
            memory: self.memory.map_or(usual.memory, Bytes::size),
            log_events: self.log_events.unwrap_or(usual.log_events),
            response_cap: self.response_cap.map_or(usual.response_cap, Bytes::get),
            receive_timeout: self
                .receive_timeout
                .map_or(usual.receive_timeout, NonZeroU64::get),
            max_rounds: self.max_rounds.map_or(usual.max_rounds, NonZeroU32::get),
        }
    }
}
