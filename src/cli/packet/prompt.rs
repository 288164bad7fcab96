//! `runvil packet prompt` (spec P24).

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use runvil::packet::authoring::{NewPrompt, new_prompt};
use runvil::packet::{Packet, PacketError};

use super::super::status::Status;
use super::place::config_home;
use super::report;

#[derive(Subcommand)]
pub enum PromptCommand {
    /// Make a prompt from a template
    New(NewArgs),
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  runvil packet prompt new 01 --name 'Read the ground'
  runvil packet prompt new 02 --name 'Write it up' --targets app,docs --phase 2
  runvil packet prompt new 03 --name 'Carry out ADR 7' --template from-adr

`runvil packet template list` names the templates.")]
pub struct NewArgs {
    /// Its id, a number; prompts run in the order of their numbers
    id: String,

    /// What it is called
    #[arg(long, value_name = "NAME", default_value = "New Prompt")]
    name: String,

    /// Its phase
    #[arg(long, value_name = "N", default_value_t = 1)]
    phase: i64,

    /// The repos it works on; by default the packet's default repo
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    targets: Option<Vec<String>>,

    /// Its commit message; by default made of its name
    #[arg(long, value_name = "TEXT")]
    commit: Option<String>,

    /// Its template: a name, or a file
    #[arg(long, value_name = "NAME")]
    template: Option<String>,

    /// The packet's folder
    #[arg(long, value_name = "DIR", default_value = ".")]
    packet: PathBuf,
}

/// Makes a prompt.
pub fn new(args: &NewArgs) -> Status {
    let Ok(id) = args.id.parse() else {
        report::error(&format!("prompt id {:?} is not a number", args.id));
        return Status::Setup;
    };
    let new = NewPrompt {
        id,
        phase: args.phase,
        name: args.name.clone(),
        targets: args.targets.clone(),
        commit: args.commit.clone(),
        template: args.template.clone(),
    };
    match make(&new, args) {
        Ok(text) => report::print(&text, Status::Success),
        Err(error) => report::refused(&error),
    }
}

fn make(new: &NewPrompt, args: &NewArgs) -> Result<String, PacketError> {
    let home = config_home();
    let packet = Packet::load(&args.packet, &home)?;
    let path = new_prompt(&packet, new, Path::new("."), &home)?;
    for target in new.targets.iter().flatten() {
        if packet.repos.get(target).is_none() {
            report::warning(&format!("target {target:?} is not a repo of the manifest"));
        }
    }
    let shown = packet.shown(&path);
    let shown = match args.packet == Path::new(".") {
        true => PathBuf::from(shown),
        false => args.packet.join(shown),
    };
    let made = format!("Made prompt {} in {}\n", new.id, shown.display());
    Ok(match packet.prompts.is_empty() {
        true => made + "Next: write its body and its `verify:`, then runvil packet lint\n",
        false => made,
    })
}
