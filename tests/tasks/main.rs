//! Tasks, fanout, waits and claims, as whole runs (spec part 03, sections 7 to 18, and part 04,
//! sections 12 to 15).

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod cancel;
mod drive;
mod hostile;
mod plan;
mod properties;
#[path = "../store/slow.rs"]
#[allow(dead_code)]
mod slow;
mod steps;
mod talk;
mod trace;
