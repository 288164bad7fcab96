//! The section VM: the only place that knows Lua (spec part 02).

mod arg;
mod arguments;
mod base;
mod cancel;
mod collection;
mod compile;
mod conversation;
mod convert;
mod data;
mod failure;
mod frames;
mod globals;
mod guard;
mod helpers;
mod host;
mod json;
mod library;
mod object;
mod order;
mod pattern;
mod preempt;
mod prelude;
mod raised;
mod rebase;
mod reply;
mod sealed;
mod state;
mod strings;
mod vm;
mod watch;

pub use arg::{Arg, NotUtf8};
pub use cancel::Cancel;
pub use compile::{Compiled, Compiler, Region, Regions};
pub use conversation::{Conversation, Direct};
pub use convert::NotData;
pub use data::Data;
pub use failure::{Class, Failure, Field, INTERRUPTED, Kind};
pub use host::{Call, Definition, Function, Global, Host, Library, Lookup, Thrown, Written};
pub use json::Look;
pub use object::{Fields, Object, Part};
pub use reply::{Delivery, Reply};
pub use state::State;
pub use vm::{Flow, Seeds, Vm};
pub use watch::Cancelled;

/// The heading reference in a call's first argument: its type is checked here, what it says where
/// it is resolved (spec K12, K13).
///
/// # Errors
/// `section target must be a string, got {type}`, or that it is not UTF-8.
pub fn target<H: Host>(call: &Call<'_, H>) -> Result<String, Failure> {
    call.string(0, "section target")
}
