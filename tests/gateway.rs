//! The gateway's client against a server on this machine that can misbehave at every stage (spec
//! part 05, sections 10 and 11).

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "gateway/aborts.rs"]
mod aborts;
#[path = "gateway/ask.rs"]
mod ask;
#[path = "gateway/catalog.rs"]
mod catalog;
#[path = "gateway/debug.rs"]
mod debug;
#[path = "gateway/framing.rs"]
mod framing;
#[path = "gateway/limits.rs"]
mod limits;
#[path = "gateway/malformed.rs"]
mod malformed;
#[path = "gateway/plain.rs"]
mod plain;
#[path = "gateway/proxy.rs"]
mod proxy;
#[path = "gateway/requests.rs"]
mod requests;
#[path = "gateway/reuse.rs"]
mod reuse;
#[path = "gateway/server.rs"]
mod server;
#[path = "gateway/stages.rs"]
mod stages;
#[path = "gateway/statuses.rs"]
mod statuses;
#[path = "gateway/streams.rs"]
mod streams;
#[path = "gateway/tls.rs"]
mod tls;
