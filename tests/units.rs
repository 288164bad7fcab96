//! Units as a host has them: at prepare, in the requirements notice, and when they are called (spec
//! part 06, sections 3, 4 and 14).

#![allow(clippy::unwrap_used)]

#[path = "units/calls.rs"]
mod calls;
#[path = "units/fake.rs"]
mod fake;
#[path = "units/operator.rs"]
mod operator;
#[path = "units/packs.rs"]
mod packs;
#[path = "units/plugins.rs"]
mod plugins;
#[path = "units/waiting.rs"]
mod waiting;
