//! `runvil packet run` (spec P22, P25, P33).

use std::io::{self, IsTerminal};

use clap::Args;
use runvil::packet::run::{self, Committer, RunError, RunOutcome, RunReport, RunRequest};
use runvil::packet::{FailurePolicy, Mapping, Packet, PacketError};

use super::super::console;
use super::super::status::Status;
use super::flags::{RunFlags, RunOnlyFlags};
use super::place::{PlaceAndIds, config_home};
use super::plan::NOTHING_REMAINING;
use super::providers::providers;
use super::show::Show;
use super::signals::Listener;
use super::{closing, dry_run, report};

/// What is said where nothing was selected in another way than by `--remaining`.
const NOTHING_SELECTED: &str = "Nothing selected: no prompt of this packet is meant.";

#[derive(Args)]
#[command(after_help = "\
Each prompt is sent to its provider, and its contract is checked; what is unmet is repaired, what \
may be a passing failure is tried again, within the bounds of `recovery:`. What is done is committed.

  runvil packet run demo --remaining
  runvil packet run demo 02 03
  runvil packet run demo --from 04 --keep-going
  runvil packet run demo --dry-run

Exit status: 0 all prompts are completed, 1 a prompt failed or the packet is not ready, 2 nothing \
ran (a usage, load or configuration error), 3 a contract could not be checked, 4 refused because of \
what earlier runs left, 129, 130 or 143 ended by a signal.")]
pub struct RunArgs {
    #[command(flatten)]
    place: PlaceAndIds,

    #[command(flatten)]
    flags: RunFlags,
}

/// Runs prompts.
pub fn run(args: &RunArgs) -> Status {
    let (folder, ids) = args.place.split();
    let selectors = args.flags.selection.selectors(ids);
    let flags = args.flags.options.keys();
    let only = &args.flags.run;
    let packet = match Packet::load(&folder, &config_home()) {
        Ok(packet) => packet,
        Err(error) => return report::refused(&error),
    };
    if only.dry_run {
        return match dry_run::text(&packet, &flags, &selectors, only.no_commit) {
            Ok(Some(text)) => report::print(&text, Status::Success),
            Ok(None) => report::print(nothing(selectors.needs_progress()), Status::Success),
            Err(error) => report::refused(&error),
        };
    }
    let request = RunRequest {
        packet: &packet,
        flags: &flags,
        selectors: &selectors,
        new_run: only.new_run,
        verify_first: match (only.verify_first, only.no_verify_first) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        },
        committer: committer(only),
        skip_readiness: only.skip_preflight,
    };
    let providers = match providers(&args.flags.host) {
        Ok(providers) => providers,
        Err(error) => return report::unready(&error),
    };
    perform(
        &packet,
        &flags,
        selectors.needs_progress(),
        |observer, listener| run::run(request, &providers, observer, &listener.interrupt),
    )
}

fn committer(only: &RunOnlyFlags) -> Committer {
    match (only.no_commit, only.committer.as_str()) {
        (true, _) => Committer::Sessions,
        (_, "noop") => Committer::Noop,
        _ => Committer::Git,
    }
}

/// Does what runs prompts, shows it, and says how it ended.
pub fn perform(
    packet: &Packet,
    flags: &Mapping,
    only_remaining: bool,
    deed: impl FnOnce(&mut Show, &Listener) -> Result<RunReport, RunError>,
) -> Status {
    let options = match packet.options(None, flags) {
        Ok(options) => options,
        Err(error) => return report::refused(&error),
    };
    let listener = match Listener::start() {
        Ok(listener) => listener,
        Err(error) => {
            report::error(&format!("cannot listen for signals: {error}"));
            return Status::Setup;
        }
    };
    let mut show = Show::new(&options);
    let outcome = deed(&mut show, &listener);
    let status = match &outcome {
        Ok(found) => {
            let keeps_going = options.failure_policy == FailurePolicy::ContinueIndependent;
            close(&mut show, found, keeps_going, only_remaining);
            match found.outcome {
                RunOutcome::Nothing | RunOutcome::Completed => Status::Success,
                RunOutcome::Failed => Status::Failed,
                RunOutcome::Fault => Status::Fault,
                RunOutcome::Interrupted => listener.status(),
            }
        }
        Err(_) => Status::Failed,
    };
    let printed = show.end();
    match outcome {
        Ok(_) => console::status_of(printed, status, report::style()),
        Err(error) => refused(&error),
    }
}

/// Says how a run ended.
fn close(show: &mut Show, found: &RunReport, keeps_going: bool, only_remaining: bool) {
    if found.outcome == RunOutcome::Nothing {
        return show.line(nothing(only_remaining));
    }
    match io::stdout().is_terminal() {
        true => show.line(&closing::table(found)),
        false => show.line(&closing::count(found)),
    }
    if keeps_going && found.failed().next().is_some() {
        show.complain(&closing::failures(found));
    }
}

fn nothing(only_remaining: bool) -> &'static str {
    match only_remaining {
        true => NOTHING_REMAINING,
        false => NOTHING_SELECTED,
    }
}

/// Says why nothing was run, or no further.
pub fn refused(error: &RunError) -> Status {
    match error {
        RunError::Packet(error) => return report::refused(error),
        RunError::NotReady(errors) => {
            for error in errors {
                report::error(&error.message);
            }
        }
        other => report::error(&other.to_string()),
    }
    match error {
        RunError::NotReady(_) | RunError::Broken(_) => Status::Failed,
        RunError::State(_) => Status::Refused,
        RunError::Packet(PacketError::Progress { .. } | PacketError::State(_)) => Status::Refused,
        RunError::Packet(_) | RunError::PromptNotFound(_) => Status::Setup,
    }
}
