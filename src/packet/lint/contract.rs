//! Hazards of one prompt's contract.

use serde_yaml::Value;

use super::findings::Findings;
use crate::packet::command_line::Written;
use crate::packet::contract::wildcard::Wildcard;
use crate::packet::contract::{Clause, Placed, pattern, placed};
use crate::packet::name::PACKET;
use crate::packet::packet::Packet;
use crate::packet::prompt::Prompt;

pub(super) fn look(packet: &Packet, prompt: &Prompt, findings: &mut Findings<'_>) {
    let contract = prompt.verify.as_ref();
    let keys = contract.into_iter().flat_map(|contract| contract.keys());
    for key in keys.filter_map(Value::as_str) {
        clause(key, findings);
    }
    let entries = placed(contract);
    let looks_inside = |placed: &Placed<'_>| {
        matches!(
            placed.clause,
            Clause::Commands | Clause::Contains | Clause::Matches | Clause::Doc
        )
    };
    if entries.is_empty() {
        findings.warning(
            "prompt_without_verify",
            "no contract: completion rests on the provider's own word",
        );
    } else if !entries.iter().any(looks_inside) {
        findings.warning(
            "contract_without_commands",
            "no command and no content check (contains, matches, doc): an empty file may satisfy \
             this contract",
        );
    }
    for entry in entries {
        super::entry::look(entry, findings);
        super::nested::entry(entry, findings);
        patterns(entry, findings);
        glob(packet, entry, findings);
        repos(packet, entry, findings);
        if entry.clause == Clause::Commands {
            command(entry, findings);
        }
    }
}

/// A key of the contract.
fn clause(key: &str, findings: &mut Findings<'_>) {
    if key == Clause::ChangedPathsOnly.key() {
        findings.warning(
            "changed_paths_only_vacuous",
            "changed_paths_only sees uncommitted work only: right when the runner commits, empty \
             under --no-commit, committer noop, or a session that commits (then use repos_clean)",
        );
    } else if !Clause::ALL.iter().any(|clause| clause.key() == key) {
        let message = format!(
            "verify clause {key:?} is not known and never evaluated (known: {})",
            Clause::ALL.map(Clause::key).join(", ")
        );
        findings.error("unknown_verify_clause", message);
    }
}

/// Patterns that do not compile.
fn patterns(placed: Placed<'_>, findings: &mut Findings<'_>) {
    let entry = placed.entry;
    let (patterns, is_caseless) = match placed.clause {
        Clause::Matches => (entry.texts(&["pattern", "matches"]), false),
        Clause::SourceAbsent => (entry.texts(&["patterns", "pattern"]), false),
        Clause::Commands => (entry.texts(&["stdout_matches"]), true),
        _ => return,
    };
    for text in patterns {
        let compiled = match is_caseless {
            true => pattern::compile_caseless(&text),
            false => pattern::compile(&text),
        };
        if let Err(pattern::BadPattern(cause)) = compiled {
            let message = format!(
                "verify.{} entry {}: invalid pattern {text:?}: {cause}",
                placed.clause.key(),
                placed.number
            );
            findings.error("invalid_regex", message);
        }
    }
}

/// A pattern for paths that is none.
fn glob(packet: &Packet, placed: Placed<'_>, findings: &mut Findings<'_>) {
    if placed.clause != Clause::Glob {
        return;
    }
    let whole = placed.entry.whole();
    let in_repo = whole.as_deref().and_then(|text| {
        let (name, path) = text.split_once(':')?;
        (name == PACKET || packet.repos.get(name).is_some()).then(|| path.to_owned())
    });
    let Some(text) = in_repo.or(whole).or_else(|| placed.entry.text(&["path"])) else {
        return;
    };
    if let Err(pattern::BadPattern(cause)) = Wildcard::new(&text) {
        let number = placed.number;
        let message = format!("verify.glob entry {number}: invalid pattern {text:?}: {cause}");
        findings.error("invalid_glob", message);
    }
}

/// The repos that an entry names and the manifest does not have.
fn repos(packet: &Packet, placed: Placed<'_>, findings: &mut Findings<'_>) {
    let entry = placed.entry;
    let mut named: Vec<String> = entry.text(&["repo"]).into_iter().collect();
    if placed.clause == Clause::ReposClean {
        named.extend(entry.whole());
    }
    if placed.clause == Clause::Commands
        && let Some(Written::Structured(words)) = Written::of(entry)
    {
        let references = words.iter().filter_map(|word| {
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
            placed.clause.key(),
            known.join(", ")
        );
        findings.error("unknown_verify_repo", message);
    }
}

fn command(placed: Placed<'_>, findings: &mut Findings<'_>) {
    let Some(written) = Written::of(placed.entry) else {
        return;
    };
    let has_timeout = placed
        .entry
        .natural(&["timeout_ms"])
        .is_some_and(|ms| ms > 0);
    let number = placed.number;
    let is_bounded = match &written {
        Written::Structured(_) => has_timeout,
        Written::Legacy(text) => {
            let message = format!("command {number} is a shell string: use exec and args");
            findings.warning("legacy_shell_command", message);
            has_timeout || bounds_itself(text)
        }
    };
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
