//! Units that are servers of the Model Context Protocol: a process of its own, spoken to over its
//! standard streams (spec section 16 of part 06).
//!
//! A [`McpUnit`] is built from a [`McpConfig`], in which everything is resolved already; what
//! resolving takes is here too: [`find_command`], [`expand`], [`inherited`] and [`read_prelude`],
//! and [`BuildError`], what goes wrong with it.
//!
//! Beneath it, each can be had without a process: the lines of a stream ([`Lines`]), the messages
//! in a line ([`Message`]), how a server gets ready ([`Handshake`]), and what a result says
//! ([`output`]).

mod build;
mod catalog;
mod config;
mod handshake;
mod lines;
mod message;
mod outbox;
mod output;
mod process;
mod reader;
mod session;
mod unit;

pub use build::{BuildError, expand, find_command, inherited, read_prelude};
pub use config::{McpConfig, McpTool};
pub use handshake::{Handshake, Listed, Listing, Step};
pub use lines::{LINE_CAP, LineError, Lines};
pub use message::{Message, Outcome, RpcError};
pub use output::output;
pub use unit::McpUnit;

use std::time::{Duration, Instant};

/// The instant so long after another; `None` for one that no clock reaches.
fn deadline(from: Instant, span: Duration) -> Option<Instant> {
    from.checked_add(span)
}

/// How long it is until then, and `most` at the most.
fn left(deadline: Option<Instant>, most: Duration) -> Duration {
    deadline.map_or(most, |deadline| {
        deadline.saturating_duration_since(Instant::now()).min(most)
    })
}

/// A span in seconds, as messages name it.
fn seconds(span: Duration) -> String {
    span.as_secs_f64().to_string()
}
