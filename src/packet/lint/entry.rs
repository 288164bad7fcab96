//! What an entry of a contract must have and lacks, or has of a wrong type.

use serde_yaml::Value;

use super::findings::Findings;
use crate::packet::command_line::{Written, word};
use crate::packet::contract::entry::{Entry, list};
use crate::packet::contract::{Clause, Placed};
use crate::packet::environment::is_variable;
use crate::packet::keys::scalar;

pub(super) fn look(placed: Placed<'_>, findings: &mut Findings<'_>) {
    let Placed {
        clause,
        number,
        entry,
    } = placed;
    let place = format!("verify.{} entry {number}", clause.key());
    for key in lacks(clause, entry) {
        findings.error("incomplete_verify_entry", format!("{place} lacks {key}"));
    }
    for (key, what) in wrong_types(clause, entry) {
        let message = format!("{place}: {key} is not {what}");
        findings.error("incomplete_verify_entry", message);
    }
}

fn lacks(clause: Clause, entry: Entry<'_>) -> Vec<&'static str> {
    let is_empty = |keys: &[&str]| entry.text(keys).is_none_or(|text| text.is_empty());
    let mut lacks = Vec::new();
    match clause {
        Clause::Commands if Written::of(entry).is_none() => lacks.push("exec"),
        Clause::Commands | Clause::ReposClean => {}
        _ if entry.whole().is_none() && is_empty(&["path"]) => lacks.push("path"),
        _ => {}
    }
    match clause {
        Clause::Contains if is_empty(&["text", "contains"]) => lacks.push("text"),
        Clause::Matches if is_empty(&["pattern", "matches"]) => lacks.push("pattern"),
        Clause::SourceAbsent if entry.texts(&["patterns", "pattern"]).is_empty() => {
            lacks.push("patterns");
        }
        _ => {}
    }
    lacks
}

fn wrong_types(clause: Clause, entry: Entry<'_>) -> Vec<(&'static str, &'static str)> {
    let mut wrong = Vec::new();
    let is_entry = entry.whole().is_some() || matches!(entry.0, Value::Mapping(_));
    match clause {
        Clause::ReposClean if !is_entry => wrong.push(("it", "a map or the name of a repo")),
        Clause::Commands => {
            let is_scalar = |value: &Value| scalar(value).is_some();
            let all = |keys: &[&str], is: fn(&Value) -> bool| list(entry.get(keys)).iter().all(is);
            if !all(&["args", "argv"], is_scalar) {
                wrong.push(("args", "a list of texts"));
            }
            if !all(&["regenerates"], is_scalar) {
                wrong.push(("regenerates", "a list of paths"));
            }
            let is_code = |value: &Value| value.as_u64().is_some_and(|code| code <= 255);
            if !all(&["fault_exit_codes"], is_code) {
                wrong.push(("fault_exit_codes", "a list of numbers from 0 to 255"));
            }
            let is_env = |value: &Value| {
                let map = value.as_mapping();
                map.is_some_and(|map| map.values().all(is_scalar))
            };
            let is_set = |value: &Value| {
                let mut pairs = value.as_mapping().into_iter().flatten();
                pairs.all(|(name, value)| is_variable(&word(name), &word(value)))
            };
            if !entry.get(&["env"]).is_none_or(is_env) {
                wrong.push(("env", "a map of texts"));
            } else if !entry.get(&["env"]).is_none_or(is_set) {
                wrong.push((
                    "env",
                    "a map of names without = or NUL to texts without NUL",
                ));
            }
        }
        _ => {}
    }
    wrong
}
