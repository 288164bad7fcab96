//! `runvil completions`.

use clap::CommandFactory;
use clap_complete::Shell;

use super::args::Cli;
use super::console;
use super::status::Status;
use super::style::Style;

/// Prints the completion script of a shell.
pub fn completions(shell: Shell) -> Status {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "runvil", &mut script);
    let printed = console::print(&String::from_utf8_lossy(&script));
    console::status_of(printed, Status::Success, Style::new(false))
}
