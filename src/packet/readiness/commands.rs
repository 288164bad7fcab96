//! Whether the programs that contracts run are there (spec P35, P63).

use std::path::Path;

use super::ReadinessError;
use crate::packet::command_line::Written;
use crate::packet::contract::{Clause, placed};
use crate::packet::packet::Packet;
use crate::packet::program::{self, NotFound};
use crate::packet::prompt::Prompt;

/// The kind of an error about such a program.
pub(super) const COMMAND_NOT_FOUND: &str = "command_not_found";

/// The program that runs a shell's text.
const SHELL: &str = "bash";

/// Programs without which a contract cannot be checked. Of several prompts that want one, the first
/// is named.
pub(super) fn survey(packet: &Packet) -> Vec<ReadinessError> {
    let mut errors: Vec<ReadinessError> = Vec::new();
    let mut looked_for: Vec<String> = Vec::new();
    for prompt in &packet.prompts {
        for name in programs(prompt) {
            if looked_for.contains(&name) {
                continue;
            }
            errors.extend(missing(packet, prompt, &name));
            looked_for.push(name);
        }
    }
    errors
}

fn programs(prompt: &Prompt) -> impl Iterator<Item = String> {
    let entries = placed(prompt.verify.as_ref()).into_iter();
    let commands = entries.filter(|placed| placed.clause == Clause::Commands);
    commands.filter_map(|placed| match Written::of(placed.entry)? {
        Written::Structured(words) => words.into_iter().next(),
        Written::Legacy(_) => Some(SHELL.to_owned()),
    })
}

/// A program that is the machine's own business and is not there. One that is named by a path in a
/// repository may be what a prompt makes.
fn missing(packet: &Packet, prompt: &Prompt, name: &str) -> Option<ReadinessError> {
    let may_be_made = match name.contains('/') {
        true => !Path::new(name).is_absolute() || is_inside(packet, Path::new(name)),
        false => false,
    };
    if may_be_made {
        return None;
    }
    let details = match program::find(name, &packet.root).err()? {
        NotFound::OnPath => format!("executable not found on PATH: {name}"),
        NotFound::At(file) => format!("executable not found: {}", file.display()),
    };
    Some(ReadinessError {
        scope: "prompt",
        name: prompt.id.to_string(),
        path: Some(prompt.path.clone()),
        kind: COMMAND_NOT_FOUND,
        message: format!(
            "prompt {}: the contract cannot be checked: {details}",
            prompt.id
        ),
    })
}

fn is_inside(packet: &Packet, path: &Path) -> bool {
    let repos = packet.repos.iter().filter_map(|repo| repo.path.as_deref());
    let mut folders = repos.chain([packet.root.as_path()]);
    folders.any(|folder| path.starts_with(folder))
}
