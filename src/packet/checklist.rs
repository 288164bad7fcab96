//! Checklists: what a contract asks, for people to read (spec P109).

use std::path::PathBuf;

use super::command_line::Written;
use super::contract::entry::Entry;
use super::contract::{Clause, Placed, placed};
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
    let entries = placed(prompt.verify.as_ref()).into_iter();
    entries
        .map(|placed| label(packet, prompt, placed))
        .collect()
}

fn label(packet: &Packet, prompt: &Prompt, placed: Placed<'_>) -> String {
    let entry = placed.entry;
    let path = path(entry);
    match placed.clause {
        Clause::FilesExist => format!("file exists: {path}"),
        Clause::FilesAbsent => format!("file absent: {path}"),
        Clause::Contains => format!("contains: {path}"),
        Clause::Matches => format!("matches: {path}"),
        Clause::Doc => {
            let lines = entry.get(&["min_lines"]).and_then(integer);
            let lines = lines.filter(|lines| *lines >= 0).unwrap_or(1);
            format!("doc: {path} (non-blank; {lines} lines advisory)")
        }
        Clause::Yaml => format!("YAML parses: {path}"),
        Clause::Json => format!("JSON contract: {path}"),
        Clause::Glob => format!("glob contract: {path}"),
        Clause::SourceAbsent => format!("forbidden source absent: {path}"),
        Clause::Commands => {
            let repo = entry.text(&["repo"]).map(|repo| format!("{repo}: "));
            let command = Written::of(entry).map(|written| written.text());
            let command = command.unwrap_or_else(|| "(no program)".to_owned());
            format!("command: {}{command}", repo.unwrap_or_default())
        }
        Clause::ChangedPathsOnly => format!("changed path allowed: {path}"),
        Clause::ReposClean => {
            let scope = packet.scope(prompt).repo.map(|repo| repo.name.clone());
            let named = entry.whole().or_else(|| entry.text(&["repo"]));
            let repo = named.or(scope).unwrap_or_else(|| "(unnamed)".to_owned());
            match entry.is_true("pushed") {
                true => format!("repo committed and pushed: {repo}"),
                false => format!("repo committed: {repo}"),
            }
        }
    }
}

/// What an entry is about: its path, with its repo where it names one.
fn path(entry: Entry<'_>) -> String {
    if let Some(whole) = entry.whole() {
        return whole;
    }
    let path = entry.text(&["path"]);
    let path = path.unwrap_or_else(|| "(no path)".to_owned());
    match entry.text(&["repo"]) {
        Some(repo) => format!("{repo}:{path}"),
        None => path,
    }
}

/// A text without line ends, which would end the item it stands in.
fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).collect::<Vec<_>>().join(" ")
}
