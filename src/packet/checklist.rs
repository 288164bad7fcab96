//! Checklists: what a contract asks, for people to read (spec P109).

use std::path::PathBuf;

use serde_yaml::Value;

use super::clause::{Entry, entries};
use super::command_line::Written;
use super::error::PacketError;
use super::keys::integer;
use super::packet::Packet;
use super::prompt::Prompt;
use super::write::write;

/// A checklist that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Checklist<'p> {
    /// The prompt it is of.
    pub prompt: &'p Prompt,
    /// Its file.
    pub path: PathBuf,
    /// How many items it has.
    pub items: usize,
}

/// Writes the checklist of every prompt beside it, whatever is there.
///
/// # Errors
/// The first file that cannot be written.
pub fn sync(packet: &Packet) -> Result<Vec<Checklist<'_>>, PacketError> {
    let mut written = Vec::new();
    for prompt in &packet.prompts {
        let labels = labels(packet, prompt);
        let path = file(prompt);
        write(&path, &render(prompt, &labels), &packet.shown(&path))?;
        written.push(Checklist {
            prompt,
            path,
            items: labels.len(),
        });
    }
    Ok(written)
}

/// The checklist's file: the prompt's, with `.checklist.md` for `.md`.
fn file(prompt: &Prompt) -> PathBuf {
    let name = prompt.file_name();
    let stem = name.strip_suffix(".md").unwrap_or(&name);
    prompt.path.with_file_name(format!("{stem}.checklist.md"))
}

fn render(prompt: &Prompt, labels: &[String]) -> String {
    let mut out = format!(
        "# Checklist {}: {}\n\nGenerated from {} by `runvil packet checklist sync`: edit the prompt's \
         `verify`, not this file.\n\n## Verification Items\n\n",
        prompt.id,
        one_line(&prompt.name),
        prompt.file_name()
    );
    for label in labels {
        out += &format!("- [ ] {}\n", one_line(label));
    }
    if labels.is_empty() {
        out += "There are none yet.\n";
    }
    out
}

/// The label of every entry of a prompt's contract, in clause order.
#[must_use]
pub fn labels(packet: &Packet, prompt: &Prompt) -> Vec<String> {
    let entries = entries(prompt.verify.as_ref()).into_iter();
    entries.map(|entry| label(packet, prompt, entry)).collect()
}

fn label(packet: &Packet, prompt: &Prompt, entry: Entry<'_>) -> String {
    let path = path(entry);
    match entry.clause {
        "files_exist" => format!("file exists: {path}"),
        "files_absent" => format!("file absent: {path}"),
        "contains" => format!("contains: {path}"),
        "matches" => format!("matches: {path}"),
        "doc" => {
            let lines = entry.get(&["min_lines"]).and_then(integer);
            let lines = lines.filter(|lines| *lines >= 0).unwrap_or(1);
            format!("doc: {path} (non-blank; {lines} lines advisory)")
        }
        "yaml" => format!("YAML parses: {path}"),
        "json" => format!("JSON contract: {path}"),
        "glob" => format!("glob contract: {path}"),
        "source_absent" => format!("forbidden source absent: {path}"),
        "commands" => {
            let repo = entry.repo().map(|repo| format!("{repo}: "));
            let command = Written::of(entry).text();
            format!("command: {}{command}", repo.unwrap_or_default())
        }
        "changed_paths_only" => format!("changed path allowed: {path}"),
        _ => {
            let scope = packet.scope(prompt).repo.map(|repo| repo.name.as_str());
            let repo = entry.repo().or(scope).unwrap_or("(unnamed)");
            match entry.get(&["pushed"]) {
                Some(Value::Bool(true)) => format!("repo committed and pushed: {repo}"),
                _ => format!("repo committed: {repo}"),
            }
        }
    }
}

/// What an entry is about: its path, with its repo where it names one.
fn path(entry: Entry<'_>) -> String {
    let path = match entry.value {
        Value::String(text) => text,
        _ => entry.text(&["path"]).unwrap_or("(no path)"),
    };
    match entry.repo() {
        Some(repo) => format!("{repo}:{path}"),
        None => path.to_owned(),
    }
}

/// A text without line ends, which would end the item it stands in.
fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).collect::<Vec<_>>().join(" ")
}
