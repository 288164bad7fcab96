//! `runvil packet repair` (spec P100).

use std::path::PathBuf;

use clap::Args;
use runvil::packet::Packet;
use runvil::packet::run::{self, Committer, RepairRequest};

use super::super::status::Status;
use super::flags::OptionFlags;
use super::host::HostFlags;
use super::place::config_home;
use super::providers::providers;
use super::{report, run::perform};

#[derive(Args)]
#[command(after_help = "\
The prompt is sent again with what its contract found unmet the last time. What follows on that \
attempt is decided as in a run.

  runvil packet repair demo 02

Exit status: as for `run`.")]
pub struct RepairArgs {
    /// The prompt's id, behind the packet's folder where that is not the current one
    #[arg(value_name = "[DIR] ID", required = true, num_args = 1..=2)]
    words: Vec<String>,

    /// The packet's folder, said explicitly
    #[arg(long, value_name = "DIR")]
    packet: Option<PathBuf>,

    /// Commit nothing: the session does
    #[arg(long)]
    no_commit: bool,

    #[command(flatten)]
    options: OptionFlags,

    #[command(flatten)]
    host: HostFlags,
}

/// Repairs a prompt.
pub fn repair(args: &RepairArgs) -> Status {
    let (folder, id) = match (&args.packet, args.words.as_slice()) {
        (Some(folder), [id]) => (folder.clone(), id),
        (None, [id]) => (PathBuf::from("."), id),
        (None, [folder, id]) => (PathBuf::from(folder), id),
        _ => {
            report::error("one prompt's id is wanted");
            return Status::Setup;
        }
    };
    let flags = args.options.keys();
    let packet = match Packet::load(&folder, &config_home()) {
        Ok(packet) => packet,
        Err(error) => return report::refused(&error),
    };
    let request = RepairRequest {
        packet: &packet,
        flags: &flags,
        id,
        committer: match args.no_commit {
            true => Committer::Sessions,
            false => Committer::Git,
        },
    };
    let providers = match providers(&args.host) {
        Ok(providers) => providers,
        Err(error) => return report::unready(&error),
    };
    perform(&packet, &flags, false, |observer, listener| {
        run::repair(request, &providers, observer, &listener.interrupt)
    })
}
