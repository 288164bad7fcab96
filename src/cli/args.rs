//! The command line's words and options (spec part 08).

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use runvil::harness::{Limits, Seed, StartedAt};
use runvil::prompt::Dialect;

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
    /// Parse prompts and report what is wrong with them; run nothing
    Check(CheckArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell to complete for
        shell: Shell,
    },
}

#[derive(Args)]
#[command(after_help = "\
Exit status: 0 completed, 1 failed, 2 nothing ran (a usage error, or a file that cannot be read), \
130 cancelled.

The limits of models, --max-rounds, --response-cap and --receive-timeout, are accepted, and have \
no effect before there are models.")]
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

    /// A fixed seed: 64 hex digits, or a number below 2^64
    #[arg(long, value_name = "N")]
    pub seed: Option<Seed>,

    /// A fixed start instant
    #[arg(long, value_name = "RFC3339")]
    pub started_at: Option<StartedAt>,

    /// The run's name; by default the prompt's name and a short id
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// Print one JSON object instead of the result text
    #[arg(long)]
    pub json: bool,

    /// Print every event as a JSON line on standard error
    #[arg(long)]
    pub events: bool,

    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,

    #[command(flatten)]
    pub look: Look,

    #[command(flatten)]
    pub limits: LimitArgs,
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

/// The six limits of a run (spec C2). Those of models are taken and not shown, until there are any.
#[derive(Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Tasks that may run at once
    #[arg(long, value_name = "N", default_value_t = Limits::default().concurrency,
        value_parser = clap::value_parser!(u32).range(1..))]
    concurrency: u32,

    /// Rounds of one model loop, where the prompt sets no cap
    #[arg(long, hide = true, value_name = "N", default_value_t = Limits::default().max_rounds,
        value_parser = clap::value_parser!(u32).range(1..))]
    max_rounds: u32,

    /// Lua heap of each section; `64M` is 64 times 1024 times 1024
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().memory,
        value_parser = bytes)]
    memory: usize,

    /// `log` calls of each section
    #[arg(long, value_name = "N", default_value_t = Limits::default().log_events)]
    log_events: u32,

    /// Size of one model reply
    #[arg(long, hide = true, value_name = "BYTES", default_value_t = Limits::default().response_cap,
        value_parser = clap::value_parser!(u64).range(1..))]
    response_cap: u64,

    /// How long a model may stay silent
    #[arg(long, hide = true, value_name = "SECONDS", default_value_t = Limits::default().receive_timeout,
        value_parser = clap::value_parser!(u64).range(1..))]
    receive_timeout: u64,
}

impl From<&LimitArgs> for Limits {
    fn from(args: &LimitArgs) -> Self {
        Self {
            concurrency: args.concurrency,
            memory: args.memory,
            log_events: args.log_events,
            response_cap: args.response_cap,
            receive_timeout: args.receive_timeout,
            max_rounds: args.max_rounds,
        }
    }
}

/// Reads a number of bytes. Lua takes a heap of none for one without a ceiling, so there must be
/// some.
fn bytes(text: &str) -> Result<usize, String> {
    let (number, unit) = match text.char_indices().last() {
        Some((at, 'K' | 'k')) => (text.get(..at), 1 << 10),
        Some((at, 'M' | 'm')) => (text.get(..at), 1 << 20),
        Some((at, 'G' | 'g')) => (text.get(..at), 1 << 30),
        _ => (Some(text), 1),
    };
    number
        .and_then(|number| number.parse::<usize>().ok()?.checked_mul(unit))
        .filter(|&bytes| bytes > 0)
        .ok_or_else(|| "expected a number of bytes above 0, such as 67108864 or 64M".to_owned())
}
