//! Hazards of one prompt's contract.

use serde_yaml::Value;

use super::findings::Findings;
use crate::packet::clause::{CLAUSES, Entry, entries};
use crate::packet::command_line::Written;
use crate::packet::contract::pattern::{self, BadPattern};
use crate::packet::keys::{items, scalar, shown};
use crate::packet::name::PACKET;
use crate::packet::packet::Packet;
use crate::packet::prompt::Prompt;

/// The clauses that look into what was written.
const CONTENT: &[&str] = &["commands", "contains", "matches", "doc"];

pub(super) fn look(packet: &Packet, prompt: &Prompt, findings: &mut Findings<'_>) {
    let contract = prompt.verify.as_ref();
    let keys = contract.into_iter().flat_map(|contract| contract.keys());
    for key in keys.filter_map(Value::as_str) {
        if key == "changed_paths_only" {
            findings.warning(
                "changed_paths_only_vacuous",
                "changed_paths_only sees uncommitted work only: right when the runner commits, \
                 empty under --no-commit, committer noop, or a session that commits (then use \
                 repos_clean)",
            );
        } else if !CLAUSES.contains(&key) {
            let message = format!(
                "verify clause {key:?} is not known and never evaluated (known: {})",
                CLAUSES.join(", ")
            );
            findings.error("unknown_verify_clause", message);
        }
    }
    let entries = entries(contract);
    if entries.is_empty() {
        findings.warning(
            "prompt_without_verify",
            "no contract: completion rests on the provider's own word",
        );
    } else if !entries.iter().any(|entry| CONTENT.contains(&entry.clause)) {
        findings.warning(
            "contract_without_commands",
            "no command and no content check (contains, matches, doc): an empty file may satisfy \
             this contract",
        );
    }
    for entry in entries {
        shape(entry, findings);
        patterns(entry, findings);
        repos(packet, entry, findings);
        if entry.clause == "commands" {
            command(entry, findings);
        }
    }
}

/// What an entry must have and lacks, or has of a wrong type.
fn shape(entry: Entry<'_>, findings: &mut Findings<'_>) {
    let Entry { clause, number, .. } = entry;
    let mut lacks = |key: &str| {
        let message = format!("verify.{clause} entry {number} lacks {key}");
        findings.error("incomplete_verify_entry", message);
    };
    let is_text = matches!(entry.value, Value::String(text) if !text.is_empty());
    match clause {
        "commands" if matches!(Written::of(entry), Written::Nothing) => lacks("exec"),
        "commands" | "repos_clean" => {}
        _ if !is_text && entry.text(&["path"]).is_none() => lacks("path"),
        _ => {}
    }
    match clause {
        "contains" if entry.text(&["text", "contains"]).is_none() => lacks("text"),
        "matches" if entry.text(&["pattern", "matches"]).is_none() => lacks("pattern"),
        "source_absent" if pattern_list(entry).is_empty() => lacks("patterns"),
        _ => {}
    }
    let mut is_no = |key: &str, what: &str| {
        let message = format!("verify.{clause} entry {number}: {key} is not {what}");
        findings.error("incomplete_verify_entry", message);
    };
    match (clause, entry.value) {
        ("commands" | "repos_clean", Value::String(_) | Value::Mapping(_)) => {}
        ("commands", _) => is_no("it", "a map or text"),
        ("repos_clean", _) => is_no("it", "a map or the name of a repo"),
        _ => {}
    }
    if clause != "commands" {
        return;
    }
    let all = |key: &[&str], check: fn(&Value) -> bool| {
        let value = entry.get(key);
        value.is_none_or(|value| items(value).iter().all(check))
    };
    let is_scalar = |value: &Value| scalar(value).is_some();
    if !all(&["args", "argv"], is_scalar) {
        is_no("args", "a list of texts");
    }
    if !all(&["regenerates"], is_scalar) {
        is_no("regenerates", "a list of paths");
    }
    let is_code = |value: &Value| value.as_u64().is_some_and(|code| code <= 255);
    if !all(&["fault_exit_codes"], is_code) {
        is_no("fault_exit_codes", "a list of numbers from 0 to 255");
    }
    let env = entry.get(&["env"]);
    let is_env = |value: &Value| {
        let map = value.as_mapping();
        map.is_some_and(|map| map.values().all(is_scalar))
    };
    if !env.is_none_or(is_env) {
        is_no("env", "a map of texts");
    }
}

/// The patterns of a `source_absent` entry.
fn pattern_list(entry: Entry<'_>) -> Vec<&str> {
    let value = entry.get(&["patterns", "pattern"]);
    let patterns = value.map_or(&[][..], items).iter();
    patterns.filter_map(Value::as_str).collect()
}

fn patterns(entry: Entry<'_>, findings: &mut Findings<'_>) {
    let patterns = match entry.clause {
        "matches" => entry.text(&["pattern", "matches"]).into_iter().collect(),
        "source_absent" => pattern_list(entry),
        "commands" => entry.text(&["stdout_matches"]).into_iter().collect(),
        _ => Vec::new(),
    };
    for pattern in patterns {
        if let Err(BadPattern(cause)) = pattern::compile(pattern) {
            let message = format!(
                "verify.{} entry {}: invalid pattern {pattern:?}: {cause}",
                entry.clause, entry.number
            );
            findings.error("invalid_regex", message);
        }
    }
}

/// The repos that an entry names and the manifest does not have.
fn repos(packet: &Packet, entry: Entry<'_>, findings: &mut Findings<'_>) {
    let mut named: Vec<String> = Vec::new();
    match entry.get(&["repo"]) {
        Some(value) => named.push(scalar(value).unwrap_or_else(|| shown(value))),
        None => named.extend(entry.repo().map(str::to_owned)),
    }
    if entry.clause == "commands"
        && let Written::Structured { exec, args } = Written::of(entry)
    {
        let words = std::iter::once(exec).chain(args.iter().map(String::as_str));
        let references = words.filter_map(|word| {
            let reference = word.strip_prefix("@repo:")?;
            Some(reference.split('/').next().unwrap_or(reference).to_owned())
        });
        named.extend(references);
    }
    named.sort();
    named.dedup();
    for name in named {
        if name == PACKET || packet.repos.get(&name).is_some() {
            continue;
        }
        let mut known = packet.repos.names();
        known.push(PACKET);
        let message = format!(
            "verify.{} names repo {name:?}, which the manifest does not have (known: {})",
            entry.clause,
            known.join(", ")
        );
        findings.error("unknown_verify_repo", message);
    }
}

fn command(entry: Entry<'_>, findings: &mut Findings<'_>) {
    let written = Written::of(entry);
    let has_timeout = entry
        .get(&["timeout_ms"])
        .and_then(Value::as_u64)
        .is_some_and(|timeout| timeout > 0);
    let is_bounded = match &written {
        Written::Structured { .. } => has_timeout,
        Written::Legacy(text) => has_timeout || bounds_itself(text),
        Written::Nothing => return,
    };
    let number = entry.number;
    if matches!(written, Written::Legacy(_)) {
        let message = format!("command {number} is a shell string: use exec and args");
        findings.warning("legacy_shell_command", message);
    }
    if !is_bounded {
        let message = format!("command {number} has no timeout: {:?}", written.text());
        findings.warning("verify_command_without_timeout", message);
    }
}

/// Whether a segment of a shell's text begins with `timeout`.
fn bounds_itself(text: &str) -> bool {
    let segments = text.split("&&").flat_map(|part| part.split(['|', ';']));
    let mut firsts = segments.filter_map(|segment| segment.split_whitespace().next());
    firsts.any(|word| word == "timeout" || word.ends_with("/timeout"))
}
