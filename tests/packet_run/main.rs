//! Runs of packets: the outcome matrix cell by cell, and whole runs through the real binary with
//! real git (spec part 09, sections 13 to 18, 21, 22 and 24). The cases are data:
//! `spec/cases/09-packets/`.

#![allow(clippy::unwrap_used)]

#[path = "../process/mod.rs"]
mod process;

mod cases;
mod command;
mod commits;
mod crash;
mod examples;
mod figure;
mod fixture;
mod locks;
mod matrix;
mod model;
mod program;
mod signals;
mod stores;
