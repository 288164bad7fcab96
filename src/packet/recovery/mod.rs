//! What follows on an attempt: how often, after how long, and with which words (spec P79 to P100).

mod decide;
mod repair;
mod settings;

pub use decide::{Action, Decision, Row, Situation, Trigger, Verdict, decide};
pub use repair::{RepairBlock, failure_block};
pub use settings::{RecoverySettings, retry_delay};
