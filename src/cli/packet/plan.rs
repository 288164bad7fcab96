//! `runvil packet plan` (spec P22, P26).

use clap::Args;
use runvil::packet::{Options, Packet, PacketError, Standing, dependencies};

use super::super::status::Status;
use super::flags::RunFlags;
use super::place::{PlaceAndIds, config_home};
use super::report;

/// What is said where nothing is left (spec P31).
pub const NOTHING_REMAINING: &str = "Nothing remaining: every prompt of this packet is completed.";

#[derive(Args)]
#[command(after_help = "\
Examples:
  runvil packet plan demo
  runvil packet plan demo --remaining --through 04
  runvil packet plan demo 02 03 --provider simulated

It takes the flags of `run`, and ignores those that only a run has a use for.")]
pub struct PlanArgs {
    #[command(flatten)]
    place: PlaceAndIds,

    #[command(flatten)]
    flags: RunFlags,
}

/// Shows what would be run.
pub fn plan(args: &PlanArgs) -> Status {
    match text(args) {
        Ok(text) => report::print(&text, Status::Success),
        Err(error) => report::refused(&error),
    }
}

fn text(args: &PlanArgs) -> Result<String, PacketError> {
    let (folder, ids) = args.place.split();
    let flags = args.flags.options.keys();
    let packet = Packet::load(&folder, &config_home())?;
    packet.refuse_agent_control()?;
    let whole = packet.options(None, &flags)?;
    dependencies::check(&packet)?;
    let selectors = args.flags.selection.selectors(ids);
    let recorded = match selectors.needs_progress() {
        true => Standing::read(&packet.root)?,
        false => Standing::default(),
    };
    let selected = selectors.select(&packet, &recorded)?;
    if selected.is_empty() && selectors.needs_progress() {
        return Ok(NOTHING_REMAINING.to_owned());
    }
    let ids: Vec<&str> = selected.iter().map(|prompt| prompt.id.as_str()).collect();
    let mut text = format!(
        "Packet: {}\nPrompts: {}\nSelected: {} ({})\nProvider: {}\nModel: {}\n",
        packet.root.display(),
        packet.prompts.len(),
        ids.len(),
        ids.join(", "),
        provider(&whole),
        model(&whole)
    );
    for prompt in dependencies::run_order(&selected) {
        let options = packet.options(Some(prompt), &flags)?;
        options.provider()?;
        text += &format!(
            "  {} - {} ({}, {})\n",
            prompt.id,
            prompt.name,
            provider(&options),
            model(&options)
        );
    }
    Ok(text)
}

/// A provider's name, and what an alias stands for.
fn provider(options: &Options) -> String {
    let Some(provider) = &options.provider else {
        return "none".to_owned();
    };
    match provider.kind {
        Some(kind) if kind.word() == provider.name => provider.name.clone(),
        Some(kind) => format!("{} = {}", provider.name, kind.word()),
        None => format!("{}, which is not known", provider.name),
    }
}

fn model(options: &Options) -> &str {
    options.model.as_deref().unwrap_or("no model")
}
