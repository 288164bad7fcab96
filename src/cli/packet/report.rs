//! What the subcommands print (spec P25).

use runvil::packet::PacketError;
use serde::Serialize;

use super::super::args::ColorChoice;
use super::super::console;
use super::super::escape::{escape, escape_json};
use super::super::status::{SetupError, Status};
use super::super::style::Style;

/// The style of standard error.
pub fn style() -> Style {
    console::error_style(ColorChoice::Auto)
}

/// Says why nothing was done.
pub fn refused(error: &PacketError) -> Status {
    self::error(&error.to_string());
    match error {
        PacketError::Progress { .. } | PacketError::State(_) => Status::Refused,
        _ => Status::Setup,
    }
}

/// Says why the host is not ready, so that nothing ran.
pub fn unready(SetupError(why): &SetupError) -> Status {
    error(why);
    Status::Setup
}

/// Says on standard error what is wrong.
pub fn error(message: &str) {
    let head = style().error("ERROR");
    console::log_raw(&format!("{head}: {}\n", escape(message)));
}

/// Says on standard error what is odd.
pub fn warning(message: &str) {
    let head = style().warning("WARNING");
    console::log_raw(&format!("{head}: {}\n", escape(message)));
}

/// Prints text, escaped, and ends with this status.
pub fn print(text: &str, status: Status) -> Status {
    console::status_of(console::print(&console::lines(text)), status, style())
}

/// Prints a value as JSON on several lines, and ends with this status.
pub fn print_json(value: &impl Serialize, status: Status) -> Status {
    let json = serde_json::to_string_pretty(value);
    let printed = json
        .map_err(std::io::Error::from)
        .and_then(|json| console::print(&format!("{}\n", escape_json(&json))));
    console::status_of(printed, status, style())
}
