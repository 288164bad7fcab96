//! What is static about packets, through the real binary (spec part 09). The cases are data:
//! `spec/cases/09-packets/static-*.yaml`.

#![allow(clippy::unwrap_used)]

mod case;
mod git_calls;
#[path = "../process/mod.rs"]
mod process;
mod properties;
mod rules;
mod shapes;
mod size;

#[test]
fn cases() {
    case::run_all();
}
