//! The command line's words and options (spec part 08).

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use runvil::harness::{Limits, Seed, StartedAt};
use runvil::prompt::Dialect;

use super::config::Bytes;
use super::packet::PacketArgs;

/// Runs prompts: Markdown files that are programs.
#[derive(Parser)]
#[command(name = "runvil", version, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Run one prompt to its outcome
    Run(Box<RunArgs>),
    /// Run a recorded run again from its record, and compare; do nothing outside
    Replay(ReplayArgs),
    /// Go on with a run that was cut off, from its record
    Resume(Box<ResumeArgs>),
    /// Parse prompts and report what is wrong with them; run nothing
    Check(CheckArgs),
    /// Show what a recorded run did
    Show(ShowArgs),
    /// List the models that the host has
    Models(ModelsArgs),
    /// List the packs that the host has, and why those cannot serve that cannot
    Packs(PacksArgs),
    /// Work on packets: folders of prompts, each done once its contract holds
    Packet(PacketArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell to complete for
        shell: Shell,
    },
}

#[derive(Args)]
#[command(after_help = "\
Exit status: 0 completed, 1 failed, 2 nothing ran (a usage error, a file that cannot be read, or a \
model that cannot be had), 130 cancelled.

Where a prompt asks its operator, the answer is typed on the terminal; Ctrl-D gives none, and Ctrl-C \
cancels the run. Ctrl-\\ (SIGQUIT) only stops what it waits for: a model's reply, a tool, a wait with \
a timeout.

A gateway is a server that speaks OpenAI's protocol for chat completions. Its URL stands in the \
configuration or in RUNVIL_GATEWAY_URL, its key in RUNVIL_GATEWAY_API_KEY.")]
pub struct RunArgs {
    /// The prompt file; `-` reads it from standard input
    pub file: PathBuf,

    /// The argument string, its words joined with one space; `--` goes before words that begin
    /// with `-`
    #[arg(value_name = "TEXT", conflicts_with = "args")]
    pub text: Vec<String>,

    /// The argument string, exactly; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub args: Option<String>,

    /// Input text for the file that the prompt's `input:` declares; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,

    /// Where to write the file that the prompt's `output:` declares, once the run completed
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// A folder that is there, as the run's store; in memory by default
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,

    #[command(flatten)]
    pub host: HostArgs,

    /// An answer for the prompt's operator, instead of asking on the terminal; the first is for the
    /// first question, and so on
    #[arg(long = "answer", value_name = "TEXT", allow_hyphen_values = true)]
    pub answers: Vec<String>,

    #[command(flatten)]
    pub record: RecordArgs,

    /// A fixed seed: 64 hex digits, or a number below 2^64
    #[arg(long, value_name = "N")]
    pub seed: Option<Seed>,

    /// A fixed start instant
    #[arg(long, value_name = "RFC3339")]
    pub started_at: Option<StartedAt>,

    /// The run's name; by default the prompt's name and a short id
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    #[command(flatten)]
    pub show: ReportArgs,

    #[command(flatten)]
    pub look: Look,

    #[command(flatten)]
    pub limits: LimitArgs,
}

/// What is shown of a run.
#[derive(Args)]
pub struct ReportArgs {
    /// Print one JSON object instead of the result text
    #[arg(long)]
    pub json: bool,

    /// Print every event as a JSON line on standard error
    #[arg(long)]
    pub events: bool,

    /// Among the events, each model request and its reply as they are on the wire, in lines without
    /// a number; no record holds them
    #[arg(long, requires = "events")]
    pub debug: bool,

    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// Where a run's record goes.
#[derive(Args)]
pub struct RecordArgs {
    /// Write the run's record to this file, from which it can be replayed and resumed
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,

    /// Write the record over a file that is there
    #[arg(long, requires = "record")]
    pub force: bool,

    /// Have every line of the record on the disk before the effects that it announces start
    #[arg(long, requires = "record")]
    pub durable: bool,
}

#[derive(Args)]
#[command(after_help = "\
Exit status: 0 no difference, 1 a difference, 2 a record that cannot be read.")]
pub struct ReplayArgs {
    /// The record; `-` reads it from standard input
    pub record: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    /// When to use colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    pub color: ColorChoice,
}

#[derive(Args)]
#[command(after_help = "\
Exit status: as of `run`; 2 where the run cannot be resumed, and then its record is as it was.

What the run was started with is in its record. What serves it is given as it was given to `run`: the \
configuration, the script, and the folder of its store. Answers of its operator that are in the \
record are not given again.")]
pub struct ResumeArgs {
    /// The record, which the run goes on writing
    pub record: PathBuf,

    /// Where to write the file that the prompt's `output:` declares, once the run completed
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// The folder that was the run's store
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,

    /// The host configuration, as for `run`
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Answer model rounds from this file, instead of a gateway
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,

    /// An answer for the prompt's operator, instead of asking on the terminal; the first is for the
    /// first question that the record has no answer to
    #[arg(long = "answer", value_name = "TEXT", allow_hyphen_values = true)]
    pub answers: Vec<String>,

    /// Have every line of the record on the disk before the effects that it announces start
    #[arg(long)]
    pub durable: bool,

    #[command(flatten)]
    pub show: ReportArgs,

    /// When to use colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    pub color: ColorChoice,
}

/// What the host is made of.
#[derive(Args)]
pub struct HostArgs {
    /// The host configuration; by default `runvil.yaml` in this folder if there, else
    /// `runvil/config.yaml` among the user's configurations
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// The current model, by its id in the catalog
    #[arg(long, value_name = "ID")]
    pub model: Option<String>,

    /// Answer model rounds from this file, instead of a gateway
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
Exit status: 0 shown, whatever became of the run; 2 where the record cannot be read, or a file cannot be \
written that is there already.

A trace opens in https://ui.perfetto.dev and in chrome://tracing. The page needs nothing but a browser.")]
pub struct ShowArgs {
    /// The record, as `run --record` writes it; `-` reads it from standard input
    pub record: PathBuf,

    /// Leave nothing out
    #[arg(long)]
    pub all: bool,

    /// Print one JSON object
    #[arg(long, conflicts_with_all = ["trace", "html"])]
    pub json: bool,

    /// Write a trace in Chrome's JSON form
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,

    /// Write a page with the timeline and every message
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Write over a file that is there
    #[arg(long)]
    pub force: bool,

    /// When to use colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    pub color: ColorChoice,
}

#[derive(Args)]
pub struct ModelsArgs {
    #[command(flatten)]
    pub host: HostArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    /// When to use colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    pub color: ColorChoice,
}

#[derive(Args)]
#[command(after_help = "\
`user-input` needs somebody to ask: a terminal, or in `run` an `--answer`.")]
pub struct PacksArgs {
    /// The host configuration, as for `run`
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    /// When to use colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    pub color: ColorChoice,
}

#[derive(Args)]
pub struct CheckArgs {
    /// The prompt files; `-` reads one from standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Show the tree of sections and blocks
    #[arg(long, short)]
    pub verbose: bool,

    /// Print one JSON line for each file
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub look: Look,
}

/// How a file is read and an error shown.
#[derive(Args)]
pub struct Look {
    /// When to use colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    pub color: ColorChoice,

    /// The dialect to read a file in that has no version key; such a file can be checked, not run
    #[arg(long, value_enum, value_name = "NAME", default_value_t = DialectName::Runvil)]
    pub dialect: DialectName,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum DialectName {
    Runvil,
    Promptforge,
}

impl From<DialectName> for Dialect {
    fn from(name: DialectName) -> Self {
        match name {
            DialectName::Runvil => Self::Runvil,
            DialectName::Promptforge => Self::PromptForge,
        }
    }
}

/// The six limits of a run (spec C2), where they are not those of the configuration.
#[derive(Args)]
#[command(next_help_heading = "Limits (they go before the configuration's)")]
pub struct LimitArgs {
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..),
        help = usual("Tasks that may run at once", Limits::default().concurrency))]
    concurrency: Option<u32>,

    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..),
        help = usual("Rounds of one model loop, where the prompt sets no cap", Limits::default().max_rounds))]
    max_rounds: Option<u32>,

    #[arg(long, value_name = "BYTES",
        help = usual("Lua heap of each section; `64M` is 64 times 1024 times 1024", Limits::default().memory))]
    memory: Option<Bytes>,

    #[arg(long, value_name = "N",
        help = usual("`log` calls of each section", Limits::default().log_events))]
    log_events: Option<u32>,

    #[arg(long, value_name = "BYTES",
        help = usual("Size of one model reply", Limits::default().response_cap))]
    response_cap: Option<Bytes>,

    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..),
        help = usual("How long a model may stay silent", Limits::default().receive_timeout))]
    receive_timeout: Option<u64>,
}

/// What a limit's help says.
fn usual(what: &str, value: impl std::fmt::Display) -> String {
    format!("{what} [default: {value}]")
}

impl LimitArgs {
    /// These limits, where they are given, over those.
    pub fn over(&self, limits: Limits) -> Limits {
        Limits {
            concurrency: self.concurrency.unwrap_or(limits.concurrency),
            memory: self.memory.map_or(limits.memory, Bytes::size),
            log_events: self.log_events.unwrap_or(limits.log_events),
            response_cap: self.response_cap.map_or(limits.response_cap, Bytes::get),
            receive_timeout: self.receive_timeout.unwrap_or(limits.receive_timeout),
            max_rounds: self.max_rounds.unwrap_or(limits.max_rounds),
        }
    }
}
