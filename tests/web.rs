//! The web unit against servers on this machine that misbehave in every way, on a network in which
//! names lead wherever a test says (spec part 06, section 15).

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "web/aborts.rs"]
mod aborts;
#[path = "mcp/active.rs"]
mod active;
#[path = "web/addresses.rs"]
mod addresses;
#[path = "web/admission.rs"]
mod admission;
#[path = "web/ask.rs"]
mod ask;
#[path = "web/bodies.rs"]
mod bodies;
#[path = "web/content.rs"]
mod content;
#[path = "web/failures.rs"]
mod failures;
#[path = "web/html.rs"]
mod html;
#[path = "web/model.rs"]
mod model;
#[path = "web/network.rs"]
mod network;
#[path = "web/providers.rs"]
mod providers;
#[path = "web/redirects.rs"]
mod redirects;
#[path = "web/search.rs"]
mod search;
#[allow(dead_code)]
#[path = "gateway/server.rs"]
mod server;
#[path = "web/tls.rs"]
mod tls;
