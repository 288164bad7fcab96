//! How a command ends (spec C4).

use std::process::ExitCode;

use super::console;
use super::json::RunObject;
use super::style::Style;

/// The exit status of a command (spec C4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The run completed, or every file is in order.
    Success,
    /// The run failed, or a file is not in order.
    Failed,
    /// Nothing ran.
    Setup,
    /// Nothing ran, because of what earlier runs left (spec P25).
    Refused,
    /// The run was cancelled.
    Cancelled,
    /// A contract could not be checked (spec P25).
    Fault,
    /// A signal of this number ended the run (spec P25).
    Signal(u8),
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(match status {
            Status::Success => 0,
            Status::Failed => 1,
            Status::Setup => 2,
            Status::Refused => 4,
            Status::Cancelled => 130,
            Status::Fault => 3,
            Status::Signal(number) => 128_u8.saturating_add(number),
        })
    }
}

/// Why nothing ran: the person has to change the command, a file or the configuration.
#[derive(Debug)]
pub struct SetupError(pub String);

/// Why nothing ran.
#[derive(Debug)]
pub enum Unready {
    /// Something has to be changed first.
    Setup(SetupError),
    /// Ctrl-C came before anything did.
    Cancelled,
}

impl From<SetupError> for Unready {
    fn from(error: SetupError) -> Self {
        Self::Setup(error)
    }
}

impl Unready {
    /// Says why nothing ran, as [`SetupError::report`] does.
    pub fn report(&self, json: bool, style: Style) -> Status {
        match self {
            Self::Setup(error) => error.report(json, style),
            Self::Cancelled => cancelled("cancelled before the run began", None, json, style),
        }
    }
}

/// Says that Ctrl-C came before anything was done: as an object on standard output where `--json`
/// was given (spec C5), with the name of the run where it has one, else as a text on standard error.
pub fn cancelled(text: &str, run: Option<&str>, json: bool, style: Style) -> Status {
    if json {
        let printed = console::print_json(&RunObject::Cancelled { run });
        return console::status_of(printed, Status::Cancelled, style);
    }
    console::log(text);
    Status::Cancelled
}

impl SetupError {
    /// Says why nothing ran: as an object on standard output where `--json` was given (spec C5),
    /// else on standard error.
    pub fn report(&self, json: bool, style: Style) -> Status {
        if json {
            let printed = console::print_json(&RunObject::Error { message: &self.0 });
            return console::status_of(printed, Status::Setup, style);
        }
        console::log_error(&self.0, style);
        Status::Setup
    }
}
