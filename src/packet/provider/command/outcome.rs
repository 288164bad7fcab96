//! What the end of a program means (spec P137).

use serde_json::json;

use super::settings::{Form, Settings};
use crate::packet::failure::{Failure, FailureClass};
use crate::packet::process::{Cut, Exit, Streamed};
use crate::packet::provider::{Deadline, Ended};

/// What was heard of a program, as far as its outcome rests on it.
pub(super) struct Heard {
    /// The failure that it reported first.
    pub(super) error: Option<Failure>,
    /// Whether it said that it was done.
    pub(super) is_done: bool,
    /// The end of its standard error.
    pub(super) stderr: Option<String>,
    /// The end of its standard output.
    pub(super) stdout: Option<String>,
}

/// How a session ended, but for the confirmation of its model.
pub(super) fn outcome(
    settings: &Settings,
    deadline: &Deadline,
    streamed: Streamed,
    heard: Heard,
) -> Ended {
    let stderr = heard.stderr.clone();
    let failure = match failure(settings, deadline, streamed, heard) {
        Ok(None) => return Ended::Succeeded,
        Ok(Some(failure)) => failure,
        Err(Interrupted) => return Ended::Interrupted,
    };
    Ended::Failed(with_stderr(failure, stderr))
}

/// The run was interrupted.
struct Interrupted;

fn failure(
    settings: &Settings,
    deadline: &Deadline,
    streamed: Streamed,
    heard: Heard,
) -> Result<Option<Failure>, Interrupted> {
    if streamed.cut == Some(Cut::Interrupted) {
        return Err(Interrupted);
    }
    if heard.error.is_some() {
        return Ok(heard.error);
    }
    let cut = match streamed.cut {
        None | Some(Cut::Interrupted) => None,
        Some(Cut::Late) => Some(deadline.failure()),
        Some(Cut::Idle) => {
            let ms = settings.idle.unwrap_or_default().as_millis();
            let message = format!("no output for {ms} ms");
            Some(Failure::new(FailureClass::TRANSPORT_TIMEOUT, message))
        }
        Some(Cut::Flooded) => {
            let message = format!("more than {} bytes of output", settings.most_output);
            Some(Failure::new(FailureClass::PROTOCOL_ERROR, message))
        }
    };
    if cut.is_some() {
        return Ok(cut);
    }
    let code = match streamed.exit {
        Exit::Signal(signal) => {
            let message = format!("provider killed by signal {signal}");
            let class = FailureClass::TRANSPORT_DISCONNECT;
            return Ok(Some(Failure::new(class, message)));
        }
        Exit::Code(code) => code,
    };
    let mapped = settings.exit_codes.get(&code);
    let is_unfinished = settings.form == Form::JsonLines && settings.require_done && !heard.is_done;
    Ok(match mapped {
        Some(None) => None,
        Some(Some(class)) => Some(Failure::new(class.clone(), exited(code, &heard))),
        None if code == 0 && is_unfinished => Some(Failure::new(
            FailureClass::PROTOCOL_ERROR,
            "stream ended without a final event",
        )),
        None if code == 0 => None,
        None => Some(Failure::inferred(None, exited(code, &heard))),
    })
}

/// What is said of an exit status: with the end of what the program wrote.
fn exited(code: i32, heard: &Heard) -> String {
    match heard.stderr.as_ref().or(heard.stdout.as_ref()) {
        Some(tail) => format!("exit {code}: {tail}"),
        None => format!("exit {code}"),
    }
}

/// A failure that says what the program wrote to its standard error.
fn with_stderr(mut failure: Failure, stderr: Option<String>) -> Failure {
    if let Some(stderr) = stderr {
        let raw = failure.raw.get_or_insert_with(|| json!({}));
        if let Some(raw) = raw.as_object_mut() {
            raw.insert("stderr".to_owned(), json!(stderr));
        }
    }
    failure
}
