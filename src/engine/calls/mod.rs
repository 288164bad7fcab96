//! The functions that Lua calls: each checks its arguments, then answers or asks.

pub(super) mod built_in;
pub(super) mod control;
pub(super) mod conversation;
pub(super) mod data;
pub(super) mod local_tools;
pub(super) mod log;
pub(super) mod models;
pub(super) mod offers;
pub(super) mod store;
pub(super) mod tasks;
pub(super) mod tools;
