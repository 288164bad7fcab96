//! `runvil packet status` (spec P21).

use clap::Args;
use runvil::packet::Packet;
use runvil::packet::state::{StateFolder, StateStore};

use super::super::console;
use super::super::status::Status;
use super::place::{Place, config_home};
use super::report;

#[derive(Args)]
#[command(after_help = "\
  runvil packet status demo
  runvil packet status demo --json | jq '.prompts | map_values(.status)'

Exit status: 0, 2 the packet does not load, 4 what is recorded cannot be read.")]
pub struct StateArgs {
    #[command(flatten)]
    place: Place,

    /// Print one line
    #[arg(long)]
    json: bool,
}

/// Prints what is recorded.
pub fn status(args: &StateArgs) -> Status {
    let packet = match Packet::open(args.place.folder(), &config_home()) {
        Ok(packet) => packet,
        Err(error) => return report::refused(&error),
    };
    match StateStore::show(&StateFolder::of(&packet.root)) {
        Ok(state) if args.json => {
            let printed = console::print_json(&state);
            console::status_of(printed, Status::Success, report::style())
        }
        Ok(state) => report::print_json(&state, Status::Success),
        Err(error) => {
            report::error(&error.to_string());
            Status::Refused
        }
    }
}
