//! `runvil packet doctor` and `preflight` (spec P33 to P37).

use clap::Args;
use runvil::packet::readiness::{self, ReadinessReport};
use runvil::packet::{Mapping, Packet, PacketError};

use super::super::status::Status;
use super::place::{Place, config_home};
use super::providers;
use super::report;

#[derive(Args)]
#[command(after_help = "\
  runvil packet doctor demo
  runvil packet doctor demo | jq .authoring_warnings

Exit status: 0 whatever is missing, 2 where the packet does not load.")]
pub struct DoctorArgs {
    #[command(flatten)]
    place: Place,
}

#[derive(Args)]
#[command(after_help = "\
  runvil packet preflight demo

Exit status: 0 the packet can be run, 1 it cannot, 2 it does not load.")]
pub struct PreflightArgs {
    #[command(flatten)]
    place: Place,
}

/// Reports what is missing and unfinished.
pub fn doctor(args: &DoctorArgs) -> Status {
    match survey(&args.place) {
        Ok(found) => report::print_json(&found, Status::Success),
        Err(error) => report::refused(&error),
    }
}

/// Reports the same, and fails unless the packet can be run.
pub fn preflight(args: &PreflightArgs) -> Status {
    let found = match survey(&args.place) {
        Ok(found) => found,
        Err(error) => return report::refused(&error),
    };
    for error in &found.readiness_errors {
        report::error(&error.message);
    }
    let status = match found.is_runtime_ready {
        true => Status::Success,
        false => Status::Failed,
    };
    report::print_json(&found, status)
}

fn survey(place: &Place) -> Result<ReadinessReport, PacketError> {
    let packet = Packet::load(place.folder(), &config_home())?;
    let providers = providers::usual();
    let probe =
        |packet: &_, prompt: Option<&_>, options: &_| providers.problems(packet, prompt, options);
    readiness::survey(&packet, &Mapping::new(), &probe)
}
