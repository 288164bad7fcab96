//! Units that are MCP servers (spec part 06, section 16), against a server that can misbehave in
//! every way and against real ones.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "mcp/active.rs"]
mod active;
#[path = "mcp/calls.rs"]
mod calls;
#[path = "mcp/end.rs"]
mod end;
#[path = "mcp/kiln.rs"]
mod kiln;
#[path = "mcp/real.rs"]
mod real;
#[path = "mcp/start.rs"]
mod start;
#[path = "mcp/stub.rs"]
mod stub;

/// The server that the other tests start: this very program, told by its environment. Without that
/// there is nothing to do.
#[test]
fn the_stub_server() {
    if let Ok(role) = std::env::var(stub::ROLE) {
        // The test runner may have begun a line.
        println!();
        stub::serve(&role);
    }
}
