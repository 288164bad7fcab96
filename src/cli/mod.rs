//! The command line: the Host that owns the terminal and the files (spec part 08).

mod args;
mod cell;
mod check;
mod completions;
mod config;
mod console;
mod diagnostic;
mod escape;
mod failure;
mod help;
mod interrupt;
mod json;
mod live;
mod models;
mod operator;
mod output;
mod packet;
mod packs;
mod provider;
mod quote;
mod record;
mod regions;
mod replay;
mod resume;
mod run;
mod show;
mod source;
mod status;
mod style;
mod table;
mod tree;
mod units;
mod web;

use std::env;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue};

use self::args::{Cli, Command};
use self::status::{SetupError, Status};
use self::style::Style;

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let status = match Cli::try_parse() {
        Ok(cli) => match cli.command {
            Command::Run(args) => run::run(&args),
            Command::Replay(args) => replay::replay(&args),
            Command::Resume(args) => resume::resume(&args),
            Command::Check(args) => check::check(&args),
            Command::Show(args) => show::show(&args),
            Command::Models(args) => models::models(&args),
            Command::Packs(args) => packs::packs(&args),
            Command::Packet(args) => packet::packet(&args.command),
            Command::Completions { shell } => completions::completions(shell),
        },
        Err(error) => explain(&error),
    };
    status.into()
}

/// Shows help to who asked for it, and what is wrong with the words to who did not.
fn explain(error: &clap::Error) -> Status {
    let style = Style::new(false);
    let text = prompt_for_command(error).unwrap_or_else(|| error.render().to_string());
    if !error.use_stderr() {
        return console::status_of(console::print(&text), Status::Success, style);
    }
    if json_was_asked_for() {
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        let message = text.split("\n\n").next().unwrap_or(text);
        return SetupError(message.to_owned()).report(true, style);
    }
    console::log(&text);
    Status::Setup
}

/// What to say where a prompt file stands in the place of the command.
fn prompt_for_command(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let is_prompt = word.ends_with(".md") || Path::new(word).is_file();
    is_prompt
        .then(|| format!("error: `{word}` is no command\n\n  tip: to run it: runvil run {word}\n"))
}

/// Whether `--json` is among the words, although they do not make a command.
fn json_was_asked_for() -> bool {
    env::args_os()
        .take_while(|word| word != "--")
        .any(|word| word == "--json")
}
