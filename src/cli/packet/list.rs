//! `runvil packet list` (spec P26).

use clap::Args;
use runvil::packet::{Mark, Packet, PacketError, Recorded, Standing};

use super::super::status::Status;
use super::place::{Place, config_home};
use super::report;

#[derive(Args)]
#[command(after_help = "\
[x] is completed, [!] failed, [ ] neither. Behind a prompt stand the commit that it left, and its \
status where that says more: a turn that was interrupted, or a contract that could not be checked. A \
prompt that was done, and whose newest turn has not ended, is not done. `contract changed`: it was \
completed under another contract.

  runvil packet list demo")]
pub struct ListArgs {
    #[command(flatten)]
    place: Place,
}

/// Lists prompts with their recorded status.
pub fn list(args: &ListArgs) -> Status {
    match text(args) {
        Ok(text) => report::print(&text, Status::Success),
        Err(error) => report::refused(&error),
    }
}

fn text(args: &ListArgs) -> Result<String, PacketError> {
    let packet = Packet::load(args.place.folder(), &config_home())?;
    let standing = Standing::read(&packet.root)?;
    let mut text = String::new();
    let mut phase = None;
    let mut done = 0;
    for prompt in &packet.prompts {
        if phase != Some(prompt.phase) {
            phase = Some(prompt.phase);
            text += &heading(&packet, prompt.phase);
        }
        let recorded = standing.recorded(&prompt.id);
        let mark = match standing.mark(&prompt.id) {
            Mark::Completed => 'x',
            Mark::Failed => '!',
            Mark::Open => ' ',
        };
        done += usize::from(mark == 'x');
        text += &format!(
            "  [{mark}] {} - {} ({} SP)",
            prompt.id, prompt.name, prompt.sp
        );
        if !prompt.targets.is_empty() {
            text += &format!(" [{}]", prompt.targets.join(", "));
        }
        if let Some(suffix) = recorded.and_then(commit) {
            text += &format!(" ({suffix})");
        }
        if let Some(status) = standing.detail(&prompt.id) {
            text += &format!(" ({status})");
        }
        if standing.has_other_contract(prompt) {
            text += " (contract changed)";
        }
        text.push('\n');
    }
    text += &format!("{done}/{} completed\n", packet.prompts.len());
    Ok(text)
}

/// The heading of a phase; in a packet that names no phase it is the number alone.
fn heading(packet: &Packet, phase: i64) -> String {
    match packet.phases.get(&phase) {
        Some(name) => format!("Phase {phase}: {name}\n"),
        None if packet.phases.is_empty() => format!("Phase {phase}\n"),
        None => format!("Phase {phase}: Unknown\n"),
    }
}

/// What became of a prompt's commit.
fn commit(recorded: &Recorded) -> Option<String> {
    let suffix = recorded.suffix.as_deref()?;
    Some(if suffix.contains('=') {
        match suffix.split(',').count() {
            1 => "1 repo".to_owned(),
            repos => format!("{repos} repos"),
        }
    } else if suffix.contains('_') || suffix == "noop" {
        suffix.to_owned()
    } else {
        format!("sha {}", suffix.get(..8).unwrap_or(suffix))
    })
}
