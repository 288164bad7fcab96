//! `runvil packet status` (spec P21).

use clap::Args;
use runvil::packet::state::{StateFolder, StateStore, live_owner};
use runvil::packet::{Mark, Packet, PacketError, Prompt, Standing};
use serde_json::Value;

use super::super::cell;
use super::super::status::Status;
use super::super::table::aligned;
use super::form::FormFlags;
use super::place::{Place, config_home};
use super::report;

/// The widest name that the table shows.
const NAME: usize = 40;

/// The most characters of a reason.
const REASON: usize = 160;

#[derive(Args)]
#[command(after_help = "\
On a terminal it is a table, elsewhere the recorded state as JSON.

  runvil packet status demo
  runvil packet status demo --json | jq '.prompts | map_values(.status)'

Exit status: 0, 2 the packet does not load, 4 what is recorded cannot be read.")]
pub struct StateArgs {
    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    form: FormFlags,
}

/// Prints what is recorded.
pub fn status(args: &StateArgs) -> Status {
    if args.form.is_text() {
        return match text(&args.place) {
            Ok(text) => report::print(&text, Status::Success),
            Err(error) => report::refused(&error),
        };
    }
    let packet = match Packet::open(args.place.folder(), &config_home()) {
        Ok(packet) => packet,
        Err(error) => return report::refused(&error),
    };
    match StateStore::show(&StateFolder::of(&packet.root)) {
        Ok(state) => args.form.print_json(&state, Status::Success),
        Err(error) => report::refused(&PacketError::State(error)),
    }
}

/// The same for a person: a row for each prompt, and under it why it is not done.
fn text(place: &Place) -> Result<String, PacketError> {
    let packet = Packet::survey(place.folder(), &config_home())?;
    let folder = StateFolder::of(&packet.root);
    let state = StateStore::show(&folder).map_err(PacketError::State)?;
    let standing = Standing::read(&packet.root)?;
    let mut text = format!("{} {}\n", packet.name, packet.root.display());
    for fault in &packet.faults {
        report::warning(&fault.error.to_string());
    }
    let prompts = packet.prompts.iter();
    let told: Vec<([String; 5], Option<String>)> = prompts
        .map(|prompt| {
            let kept = &state["prompts"][prompt.id.as_str()];
            (
                row(prompt, &standing, kept),
                reason(prompt, &standing, kept),
            )
        })
        .collect();
    let rows: Vec<[String; 5]> = told.iter().map(|(row, _)| row.clone()).collect();
    for (line, (_, reason)) in aligned(&rows).lines().zip(&told) {
        text += &format!("  {line}\n");
        if let Some(reason) = reason {
            text += &format!("      {reason}\n");
        }
    }
    let done = packet.prompts.iter();
    let done = done.filter(|prompt| standing.is_completed(&prompt.id));
    text += &format!("{}/{} completed", done.count(), packet.prompts.len());
    Ok(match live_owner(&folder) {
        Some(pid) => text + &format!(", a run is under way: pid {pid}\n"),
        None => text + "\n",
    })
}

fn row(prompt: &Prompt, standing: &Standing, kept: &Value) -> [String; 5] {
    let status = match (standing.detail(&prompt.id), standing.mark(&prompt.id)) {
        (Some(status), _) => status,
        (None, Mark::Completed) => "completed",
        (None, Mark::Failed) => "failed",
        (None, Mark::Open) => "not begun",
    };
    let changed = match standing.has_other_contract(prompt) {
        true => ", contract changed",
        false => "",
    };
    let attempts = match kept["attempts"].as_array().map_or(0, Vec::len) {
        0 => String::new(),
        1 => "1 attempt".to_owned(),
        many => format!("{many} attempts"),
    };
    [
        prompt.id.to_string(),
        cell::start_of(&prompt.name, NAME),
        format!("{status}{changed}"),
        attempts,
        kept["updated_at"]
            .as_str()
            .map(to_the_second)
            .unwrap_or_default(),
    ]
}

/// Why a prompt is not done, in one line.
fn reason(prompt: &Prompt, standing: &Standing, kept: &Value) -> Option<String> {
    if standing.is_completed(&prompt.id) {
        return None;
    }
    let blocked = kept["blocked_by"].as_array().map(|ids| {
        let ids: Vec<&str> = ids.iter().filter_map(Value::as_str).collect();
        format!("blocked by {}", ids.join(", "))
    });
    let reason = || Some(kept["reason"].as_str()?.lines().next()?.to_owned());
    Some(cell::start_of(&blocked.or_else(reason)?, REASON))
}

/// A moment without the parts of its second.
fn to_the_second(moment: &str) -> String {
    match moment.split_once('.') {
        Some((whole, _)) => format!("{whole}Z"),
        None => moment.to_owned(),
    }
}
