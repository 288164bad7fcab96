//! In which form a report is printed (spec P21).

use std::io::{self, IsTerminal};

use clap::Args;
use serde::Serialize;

use super::super::console;
use super::super::status::Status;
use super::report;

/// The form of what is JSON unless a person reads it.
#[derive(Args)]
pub struct FormFlags {
    /// Print JSON on one line, on a terminal too; it is JSON elsewhere anyway
    #[arg(long, conflicts_with = "text")]
    json: bool,

    /// Print text for a person, elsewhere than on a terminal too
    #[arg(long)]
    text: bool,
}

impl FormFlags {
    /// Whether a person is to read it.
    pub fn is_text(&self) -> bool {
        self.text || (!self.json && io::stdout().is_terminal())
    }

    /// Prints a value as JSON, on one line where that is asked for.
    pub fn print_json(&self, value: &impl Serialize, status: Status) -> Status {
        match self.json {
            true => console::status_of(console::print_json(value), status, report::style()),
            false => report::print_json(value, status),
        }
    }
}
