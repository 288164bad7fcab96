//! Keys inside the maps of a manifest and of a prompt that nothing reads (spec P107).

use serde_yaml::{Mapping, Value};

use super::findings::Findings;
use crate::packet::contract::Placed;
use crate::packet::contract::entry::list;
use crate::packet::options::default_recovery;

/// The keys that a map may have, each with those of the maps under it; none where any may be there.
/// A list is looked at map by map.
struct Shape(&'static [(&'static str, &'static Shape)]);

const ANY: Shape = Shape(&[]);

const REPO: Shape = Shape(&[("name", &ANY), ("path", &ANY), ("default", &ANY)]);

const SIMULATE: Shape = Shape(&[("attempts", &STEP), ("resume", &STEP)]);

const STEP: Shape = Shape(&[
    ("writes", &WRITE),
    ("deletes", &Shape(&[("path", &ANY), ("repo", &ANY)])),
    ("commit", &Shape(&[("repo", &ANY), ("message", &ANY)])),
    ("delay_ms", &ANY),
    ("label", &ANY),
    ("messages", &ANY),
    ("error", &ERROR),
]);

const WRITE: Shape = Shape(&[
    ("path", &ANY),
    ("text", &ANY),
    ("append", &ANY),
    ("repo", &ANY),
]);

const ERROR: Shape = Shape(&[
    ("kind", &ANY),
    ("message", &ANY),
    ("stderr", &ANY),
    ("recovery", &CLAIM),
]);

const CLAIM: Shape = Shape(&[
    ("class", &ANY),
    ("retryable", &ANY),
    ("retryable?", &ANY),
    ("repairable", &ANY),
    ("repairable?", &ANY),
    ("resumeable", &ANY),
    ("resumeable?", &ANY),
    ("remote_claim", &ANY),
    ("remote_claim?", &ANY),
    ("local_deterministic", &ANY),
    ("local_deterministic?", &ANY),
    ("severity", &ANY),
    ("phase", &ANY),
    ("provider_code", &ANY),
    ("suggested_delay_ms", &ANY),
    ("suggested_max_attempts", &ANY),
]);

/// Settings of `recovery` that are none, in a manifest or a prompt.
pub(super) fn recovery(keys: &Mapping, findings: &mut Findings<'_>) {
    if let Some(Value::Mapping(recovery)) = keys.get("recovery") {
        settings(recovery, default_recovery(), "recovery", findings);
    }
}

/// Settings beside the known ones, all of which have a default.
fn settings(map: &Mapping, known: &Mapping, path: &str, findings: &mut Findings<'_>) {
    for (key, value) in map {
        let Some(name) = key.as_str() else { continue };
        let path = format!("{path}.{name}");
        match (known.get(key), value) {
            (None, _) => unread(&path, findings),
            // Any class of failures may have a number of its own.
            (Some(_), _) if name == "class_attempts" => {}
            (Some(Value::Mapping(known)), Value::Mapping(map)) => {
                settings(map, known, &path, findings);
            }
            _ => {}
        }
    }
}

/// Keys of repos that nothing reads.
pub(super) fn repos(manifest: &Mapping, findings: &mut Findings<'_>) {
    match manifest.get("repos") {
        Some(Value::Mapping(repos)) => {
            for (name, repo) in repos {
                let name = name.as_str().unwrap_or_default();
                shaped(repo, &REPO, &format!("repos.{name}"), findings);
            }
        }
        Some(repos) => shaped(repos, &REPO, "repos", findings),
        None => {}
    }
}

/// Keys of the script for the simulated provider that nothing reads.
pub(super) fn simulate(prompt: &Mapping, findings: &mut Findings<'_>) {
    if let Some(script) = prompt.get("simulate") {
        shaped(script, &SIMULATE, "simulate", findings);
    }
}

fn shaped(value: &Value, shape: &Shape, path: &str, findings: &mut Findings<'_>) {
    if shape.0.is_empty() {
        return;
    }
    for map in list(Some(value)).iter().filter_map(Value::as_mapping) {
        for (key, value) in map {
            let Some(name) = key.as_str() else { continue };
            let path = format!("{path}.{name}");
            match shape.0.iter().find(|(known, _)| *known == name) {
                Some((_, shape)) => shaped(value, shape, &path, findings),
                None => unread(&path, findings),
            }
        }
    }
}

/// Keys of a contract's entry that its clause does not read.
pub(super) fn entry(placed: Placed<'_>, findings: &mut Findings<'_>) {
    let known = placed.clause.entry_keys();
    let keys = placed.entry.0.as_mapping();
    let keys = keys.into_iter().flat_map(Mapping::keys);
    let unknown = keys
        .filter_map(Value::as_str)
        .filter(|key| !known.contains(key));
    let place = format!("verify.{} entry {}", placed.clause.key(), placed.number);
    for key in unknown {
        let message = format!("{place}: key {key:?} has no effect");
        findings.about_key("unsupported_key", key, message);
    }
    let matches = list(placed.entry.get(&["array_none_match"])).iter();
    for (key, _) in matches.filter_map(Value::as_mapping).flatten() {
        let Some(key) = key.as_str() else { continue };
        if !["path", "field", "equals"].contains(&key) {
            let path = format!("array_none_match.{key}");
            let message = format!("{place}: key {path:?} has no effect");
            findings.about_key("unsupported_key", &path, message);
        }
    }
}

fn unread(path: &str, findings: &mut Findings<'_>) {
    findings.about_key(
        "unsupported_key",
        path,
        format!("key {path:?} has no effect"),
    );
}
