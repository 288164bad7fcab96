//! The gateway's client against a server on this machine that can misbehave at every stage (spec
//! part 05, sections 10 and 11).

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "gateway/ask.rs"]
mod ask;
#[path = "gateway/limits.rs"]
mod limits;
#[path = "gateway/server.rs"]
mod server;
#[path = "gateway/stages.rs"]
mod stages;
#[path = "gateway/statuses.rs"]
mod statuses;
