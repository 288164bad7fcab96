//! `runvil packet list` (spec P26).

use clap::Args;
use runvil::packet::{Packet, PacketError, Progress, Recorded};

use super::super::status::Status;
use super::place::{Place, config_home};
use super::report;

#[derive(Args)]
#[command(after_help = "\
[x] is completed, [!] failed, [ ] neither.

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
    let progress = Progress::read(&packet.root)?;
    let mut text = String::new();
    let mut phase = None;
    let mut done = 0;
    for prompt in &packet.prompts {
        if phase != Some(prompt.phase) {
            phase = Some(prompt.phase);
            let name = packet.phases.get(&prompt.phase).map(String::as_str);
            text += &format!("Phase {}: {}\n", prompt.phase, name.unwrap_or("Unknown"));
        }
        let recorded = progress.get(&prompt.id);
        let mark = match recorded {
            Some(recorded) if recorded.is_completed() => 'x',
            Some(recorded) if recorded.is_failed() => '!',
            _ => ' ',
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
        text.push('\n');
    }
    text += &format!("{done}/{} completed\n", packet.prompts.len());
    Ok(text)
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
