//! Records, replay and resume (spec part 07, R13 to R17, R21, R22).

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod process;

#[path = "records/cancelled.rs"]
mod cancelled;
#[path = "records/command.rs"]
mod command;
#[path = "records/cut.rs"]
mod cut;
#[path = "records/debug.rs"]
mod debug;
#[path = "records/edited.rs"]
mod edited;
#[path = "records/forms.rs"]
mod forms;
#[cfg(unix)]
#[path = "records/killed.rs"]
mod killed;
#[path = "records/made.rs"]
mod made;
#[cfg(unix)]
#[path = "records/refused.rs"]
mod refused;
