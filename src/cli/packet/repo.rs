//! `runvil packet repo` (spec P21).

use std::path::PathBuf;

use clap::{Args, Subcommand};
use runvil::packet::authoring::add_repo;
use runvil::packet::{Packet, PacketError};

use super::super::status::Status;
use super::new::repo_line;
use super::place::config_home;
use super::report;

#[derive(Subcommand)]
pub enum RepoCommand {
    /// Add a repository to the manifest
    Add(AddArgs),
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  runvil packet repo add docs ../docs
  runvil packet repo add app ../app --default --packet demo")]
pub struct AddArgs {
    /// What prompts call it
    name: String,

    /// Its folder, absolute or relative to the packet's
    path: String,

    /// Make it the repo of prompts that name none; the first repo is it anyway
    #[arg(long)]
    default: bool,

    /// The packet's folder
    #[arg(long, value_name = "DIR", default_value = ".")]
    packet: PathBuf,
}

/// Adds a repo.
pub fn add(args: &AddArgs) -> Status {
    match try_add(args) {
        Ok(text) => report::print(&text, Status::Success),
        Err(error) => report::refused(&error),
    }
}

fn try_add(args: &AddArgs) -> Result<String, PacketError> {
    let home = config_home();
    let packet = Packet::open(&args.packet, &home)?;
    add_repo(&packet, &args.name, &args.path, args.default)?;
    let packet = Packet::open(&args.packet, &home)?;
    let added = packet.repos.get(&args.name);
    Ok(format!(
        "Added to packet {}\n{}",
        packet.name,
        added.map(repo_line).unwrap_or_default()
    ))
}
