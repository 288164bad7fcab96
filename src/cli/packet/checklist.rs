//! `runvil packet checklist` (spec P109).

use clap::{Args, Subcommand};
use runvil::packet::{Packet, checklist};

use super::super::status::Status;
use super::place::{Place, config_home};
use super::report;

#[derive(Subcommand)]
pub enum ChecklistCommand {
    /// Write the checklist of every prompt beside it
    Sync(SyncArgs),
}

#[derive(Args)]
#[command(after_help = "\
A checklist shows people what a contract asks. It is written anew each time and never read: the \
contract alone decides.

  runvil packet checklist sync demo")]
pub struct SyncArgs {
    #[command(flatten)]
    place: Place,
}

/// Writes the checklists.
pub fn sync(args: &SyncArgs) -> Status {
    let packet = Packet::load(args.place.folder(), &config_home());
    let packet = match packet {
        Ok(packet) => packet,
        Err(error) => return report::refused(&error),
    };
    let written = match checklist::sync(&packet) {
        Ok(written) => written,
        Err(error) => return report::refused(&error),
    };
    let mut text = String::new();
    for list in &written {
        if list.items == 0 {
            report::warning(&format!(
                "prompt {} ({}) has no verification items",
                list.prompt.id, list.prompt.file
            ));
        }
        text += &format!("wrote {}\n", packet.shown(&list.path));
    }
    if written.is_empty() {
        text += "no prompts\n";
    }
    report::print(&text, Status::Success)
}
