//! `runvil packet` (spec P21): one file for each subcommand.

mod board;
mod checklist;
mod closing;
mod doctor;
mod dry_run;
mod explain;
mod flags;
mod form;
mod host;
mod lint;
mod list;
mod new;
mod place;
mod plan;
mod profile;
mod prompt;
mod providers;
mod repair;
mod repo;
mod report;
mod run;
mod show;
mod signals;
mod state;
mod template;
mod verify;
mod watch;

use clap::{Args, Subcommand};

use super::status::Status;

#[derive(Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
A packet is a folder with a manifest, prompt_runner_packet.md, and prompts in prompts/. Each prompt \
is run by a provider; the contract in its `verify:` decides whether it is done.

  runvil packet new demo --repo app=../app     make one; paths are relative to the packet
  cd demo
  runvil packet prompt new 01 --name 'First step'
  runvil packet lint                           what would not mean what it says
  runvil packet preflight                      whether it can be run
  runvil packet plan --remaining               what would run, and in which order
  runvil packet run --remaining                run it

Exit status: 0 success, 1 a prompt failed, or lint or readiness errors, 2 a usage, load or \
configuration error, 3 a contract could not be checked, 4 refused because of what earlier runs \
left, 129, 130 or 143 ended by a signal."
)]
pub struct PacketArgs {
    #[command(subcommand)]
    pub command: PacketCommand,
}

#[derive(Subcommand)]
pub enum PacketCommand {
    /// Make a packet
    New(Box<new::NewArgs>),
    /// Work on the repositories of a packet
    #[command(subcommand, arg_required_else_help = true)]
    Repo(repo::RepoCommand),
    /// Work on the prompts of a packet
    #[command(subcommand, arg_required_else_help = true)]
    Prompt(prompt::PromptCommand),
    /// Work on the checklists beside the prompts
    #[command(subcommand, arg_required_else_help = true)]
    Checklist(checklist::ChecklistCommand),
    /// Print what a packet comes to: paths, repos, phases and options, as JSON
    Explain(explain::ExplainArgs),
    /// Report what loads and runs but means something else
    Lint(lint::LintArgs),
    /// Report what is missing and what is unfinished
    Doctor(Box<doctor::DoctorArgs>),
    /// As `doctor`, and fail unless the packet can be run
    Preflight(Box<doctor::PreflightArgs>),
    /// List the prompts with their recorded status
    List(list::ListArgs),
    /// Show which prompts would run, in which order and by whom; run nothing
    Plan(Box<plan::PlanArgs>),
    /// Run prompts until their contracts hold
    Run(Box<run::RunArgs>),
    /// Give one prompt another attempt at what its contract still asks for
    Repair(Box<repair::RepairArgs>),
    /// Print what is recorded of every prompt
    Status(state::StateArgs),
    /// Show from outside, again and again, how a run is getting on
    Watch(watch::WatchArgs),
    /// Check the contracts of prompts; start no provider and write nothing
    Verify(verify::VerifyArgs),
    /// Work on templates of prompts
    #[command(subcommand, arg_required_else_help = true)]
    Template(template::TemplateCommand),
    /// Work on profiles
    #[command(subcommand, arg_required_else_help = true)]
    Profile(profile::ProfileCommand),
}

/// Runs a subcommand.
pub fn packet(command: &PacketCommand) -> Status {
    match command {
        PacketCommand::New(args) => new::new(args),
        PacketCommand::Repo(repo::RepoCommand::Add(args)) => repo::add(args),
        PacketCommand::Prompt(prompt::PromptCommand::New(args)) => prompt::new(args),
        PacketCommand::Checklist(checklist::ChecklistCommand::Sync(args)) => checklist::sync(args),
        PacketCommand::Explain(args) => explain::explain(args),
        PacketCommand::Lint(args) => lint::lint(args),
        PacketCommand::Doctor(args) => doctor::doctor(args),
        PacketCommand::Preflight(args) => doctor::preflight(args),
        PacketCommand::List(args) => list::list(args),
        PacketCommand::Plan(args) => plan::plan(args),
        PacketCommand::Run(args) => run::run(args),
        PacketCommand::Repair(args) => repair::repair(args),
        PacketCommand::Status(args) => state::status(args),
        PacketCommand::Watch(args) => watch::watch(args),
        PacketCommand::Verify(args) => verify::verify(args),
        PacketCommand::Template(template::TemplateCommand::List(args)) => template::list(args),
        PacketCommand::Profile(profile::ProfileCommand::List) => profile::list(),
    }
}
