//! Standard output and standard error (spec C3, C5, C6).

use std::env;
use std::io::{self, ErrorKind, IsTerminal, Write};

use serde::Serialize;

use super::args::ColorChoice;
use super::escape::{escape, escape_alone, escape_json};
use super::status::Status;
use super::style::Style;

/// Prints a text to standard output as it is.
pub fn print(text: &str) -> io::Result<()> {
    forgive_closed_pipe(write_stdout(text))
}

/// Prints a run's result (spec C3): untouched into a file or a pipe; on a terminal escaped, and
/// ended by a newline.
pub fn print_result(text: &str) -> io::Result<()> {
    if !io::stdout().is_terminal() {
        return print(text);
    }
    print(&whole_lines(escape_alone(text).into_owned()))
}

/// Prints a value as one line of JSON to standard output.
pub fn print_json(value: &impl Serialize) -> io::Result<()> {
    print(&json_line(value)?)
}

/// Prints a value as one line of JSON to standard error. Standard error that takes nothing is no
/// reason to end a run.
pub fn log_json(value: &impl Serialize) {
    if let Ok(line) = json_line(value) {
        log_raw(&line);
    }
}

/// Prints a text to standard error, escaped, as one or more whole lines.
pub fn log(text: &str) {
    log_raw(&lines(text));
}

/// A text, escaped, as one or more whole lines.
pub fn lines(text: &str) -> String {
    whole_lines(escape(text).into_owned())
}

fn whole_lines(mut shown: String) -> String {
    if !shown.ends_with('\n') {
        shown.push('\n');
    }
    shown
}

/// Prints a text to standard error that holds terminal sequences of our own.
pub fn log_raw(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Says on standard error what went wrong outside any prompt.
pub fn log_error(message: &str, style: Style) {
    log_raw(&format!("{}: {}\n", style.error("error"), escape(message)));
}

/// The status of a command that printed something: failed, with a word on standard error, where
/// standard output could not take it.
pub fn status_of(printed: io::Result<()>, status: Status, style: Style) -> Status {
    match printed {
        Ok(()) => status,
        Err(error) => {
            log_error(&format!("cannot write standard output: {error}"), style);
            Status::Failed
        }
    }
}

/// The style of errors under a `--color` choice (spec C2).
pub fn error_style(choice: ColorChoice) -> Style {
    style(choice, stderr_is_capable())
}

/// The style of what is printed to standard output under a `--color` choice (spec C2).
pub fn output_style(choice: ColorChoice) -> Style {
    style(choice, is_capable(&io::stdout()))
}

fn style(choice: ColorChoice, is_capable: bool) -> Style {
    Style::new(match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            let no_color = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            !no_color && is_capable
        }
    })
}

/// Whether standard error is a terminal that understands sequences.
pub fn stderr_is_capable() -> bool {
    is_capable(&io::stderr())
}

fn is_capable(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn json_line(value: &impl Serialize) -> io::Result<String> {
    let json = serde_json::to_string(value)?;
    Ok(format!("{}\n", escape_json(&json)))
}

fn write_stdout(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// A reader that went away had enough; that is its right.
fn forgive_closed_pipe(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
