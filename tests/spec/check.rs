//! Compares what a run showed with what its case expects.

use std::sync::Arc;

use runvil::engine::model::Round;
use runvil::engine::{Outcome, RunError};
use runvil::prompt::Prompt;
use serde_json::Value;

use crate::case::Case;
use crate::observe::Observed;
use crate::pattern::{BlockPattern, EventPattern};

/// The differences found so far, each a readable text.
#[derive(Default)]
pub struct Differences(pub Vec<String>);

impl Differences {
    fn add(&mut self, what: &str, expected: impl std::fmt::Debug, got: impl std::fmt::Debug) {
        self.0.push(format!(
            "{what}\n    expected: {expected:?}\n    got:      {got:?}"
        ));
    }

    fn require(
        &mut self,
        holds: bool,
        what: &str,
        expected: impl std::fmt::Debug,
        got: impl std::fmt::Debug,
    ) {
        if !holds {
            self.add(what, expected, got);
        }
    }
}

/// Checks what the case says of the parsed file.
pub fn tree(case: &Case, prompt: &Prompt, differences: &mut Differences) {
    if let Some(title) = &case.title {
        differences.require(prompt.title == *title, "title", title, &prompt.title);
    }
    if let Some(text) = &case.description_text {
        let found = prompt.description_text();
        differences.require(found == *text, "description text", text, &found);
    }
    if let Some(blocks) = &case.h1 {
        differences.require(
            BlockPattern::all_match(blocks, &prompt.h1),
            "H1 blocks",
            blocks,
            &prompt.h1,
        );
    }
    if let Some(sections) = &case.sections {
        let same = sections.len() == prompt.sections.len()
            && sections
                .iter()
                .zip(&prompt.sections)
                .all(|(pattern, section)| pattern.matches(section));
        differences.require(same, "sections", sections, &prompt.sections);
    }
}

/// Checks what the case says of the rounds that were asked.
fn rounds(case: &Case, rounds: &[Arc<Round>], differences: &mut Differences) {
    let count = case.rounds.or(case.sent.as_ref().map(Vec::len));
    if let Some(wanted) = count {
        differences.require(rounds.len() == wanted, "rounds", wanted, rounds);
    }
    let pairs = case.sent.iter().flatten().zip(rounds).enumerate();
    for (index, (wanted, round)) in pairs {
        for got in wanted.differences(round) {
            differences.add(&format!("round {}", index + 1), wanted, got);
        }
    }
}

/// Checks what the case says of the Host's units and its operator.
fn units(case: &Case, seen: &Observed, differences: &mut Differences) {
    if let Some(gaps) = &case.gaps {
        differences.require(seen.gaps == *gaps, "gaps", gaps, &seen.gaps);
    }
    if let Some(calls) = &case.called {
        let same = calls.len() == seen.called.len()
            && calls
                .iter()
                .zip(&seen.called)
                .all(|(wanted, call)| wanted.matches(call, case.dialect.into()));
        differences.require(same, "calls of units' tools", calls, &seen.called);
    }
    if let Some(units) = &case.activated {
        let same = units.len() == seen.activated.len()
            && units
                .iter()
                .zip(&seen.activated)
                .all(|(wanted, unit)| wanted.matches(unit));
        differences.require(same, "units activated", units, &seen.activated);
    }
    if let Some(tasks) = &case.asked {
        differences.require(seen.asked == *tasks, "questions", tasks, &seen.asked);
    }
    if let Some(lines) = &case.host_log {
        let found = &seen.host_log;
        let same = lines.len() == found.len()
            && lines
                .iter()
                .zip(found)
                .all(|(part, line)| line.contains(part.as_str()));
        differences.require(same, "lines of the host log", lines, found);
    }
}

/// Checks what the case says of the run.
pub fn run(case: &Case, source: &str, seen: &Observed, differences: &mut Differences) {
    outcome(case, source, &seen.outcome, differences);
    events(case, &seen.events, differences);
    rounds(case, &seen.rounds, differences);
    if let Some(pieces) = &case.shown {
        differences.require(seen.shown == *pieces, "pieces shown", pieces, &seen.shown);
    }
    if let Some(roles) = &case.unmet_roles {
        let found = &seen.unmet_roles;
        differences.require(found == roles, "unmet roles", roles, found);
    }
    units(case, seen, differences);
    for (path, wanted) in &case.files {
        let found = seen.files.get(path).cloned().flatten();
        let same = wanted.as_ref().map(String::as_bytes) == found.as_deref();
        let shown = found.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        differences.require(same, &format!("file {path}"), wanted, shown);
    }
    if let Some(name) = &case.run_name {
        differences.require(seen.run == *name, "run name", name, &seen.run);
    }
    if let Some(seed) = &case.run_seed {
        differences.require(seen.seed == *seed, "run seed", seed, &seen.seed);
    }
}

fn outcome(case: &Case, source: &str, outcome: &Outcome, differences: &mut Differences) {
    if case.names_result() {
        match outcome {
            Outcome::Completed(text) => result(case, text, differences),
            other => differences.add("outcome", "completed", other),
        }
    } else if case.failed.is_some() || case.parse.is_some() {
        match outcome {
            Outcome::Failed(error) => failure(case, source, error, differences),
            other => differences.add("outcome", "failed", other),
        }
    } else if case.cancelled && *outcome != Outcome::Cancelled {
        differences.add("outcome", "cancelled", outcome);
    }
}

fn result(case: &Case, text: &str, differences: &mut Differences) {
    if let Some(wanted) = &case.result {
        differences.require(text == wanted, "result", wanted, text);
    }
    if let Some(wanted) = &case.result_starts {
        differences.require(
            text.starts_with(wanted.as_str()),
            "start of the result",
            wanted,
            text,
        );
    }
    if let Some(wanted) = &case.result_ends {
        differences.require(
            text.ends_with(wanted.as_str()),
            "end of the result",
            wanted,
            text,
        );
    }
    for wanted in case.result_contains.iter().flat_map(|texts| texts.iter()) {
        differences.require(text.contains(wanted), "part of the result", wanted, text);
    }
}

fn failure(case: &Case, source: &str, error: &RunError, differences: &mut Differences) {
    let kind = if case.parse.is_some() {
        Some("Parse")
    } else {
        case.failed.as_deref()
    };
    if let Some(kind) = kind {
        let found = (error.kind.name(), error.message.as_str());
        differences.require(error.kind.name() == kind, "run error kind", kind, found);
    }
    if let Some(wanted) = &case.parse {
        let found = error.parse_kind.map(|kind| kind.name());
        differences.require(
            found == Some(wanted.as_str()),
            "parse error kind",
            wanted,
            found,
        );
    }
    let message = error.message.as_str();
    if let Some(wanted) = &case.message {
        differences.require(message == wanted, "message", wanted, message);
    }
    if let Some(wanted) = &case.message_starts {
        differences.require(
            message.starts_with(wanted.as_str()),
            "start of the message",
            wanted,
            message,
        );
    }
    if let Some(wanted) = &case.message_ends {
        differences.require(
            message.ends_with(wanted.as_str()),
            "end of the message",
            wanted,
            message,
        );
    }
    for wanted in case.message_contains.iter().flat_map(|texts| texts.iter()) {
        differences.require(
            message.contains(wanted),
            "part of the message",
            wanted,
            message,
        );
    }
    for unwanted in case.message_lacks.iter().flat_map(|texts| texts.iter()) {
        differences.require(
            !message.contains(unwanted),
            "message without",
            unwanted,
            message,
        );
    }
    if let Some(wanted) = &case.first_line {
        let found = message.lines().next().unwrap_or_default();
        differences.require(
            found == wanted,
            "first line of the message",
            wanted,
            message,
        );
    }
    if let Some(wanted) = &case.location {
        let same = wanted.matches(error.location.as_ref(), source);
        differences.require(same, "location", wanted, &error.location);
    }
}

fn events(case: &Case, events: &[Value], differences: &mut Differences) {
    if let Some(wanted) = &case.log {
        let found: Vec<&str> = events
            .iter()
            .filter(|event| event["kind"] == "lua")
            .map(|event| event["message"].as_str().unwrap_or_default())
            .collect();
        differences.require(found == *wanted, "log", wanted, &found);
    }
    if let Some(wanted) = &case.events {
        let same = wanted.len() == events.len() && pairwise(wanted, events);
        differences.require(same, "events", wanted, shown(events));
    }
    if let Some(wanted) = &case.events_contain {
        let mut rest = events.iter();
        let all = wanted
            .iter()
            .all(|pattern| rest.any(|event| pattern.matches(event)));
        differences.require(all, "events in this order among", wanted, shown(events));
    }
    if let Some(wanted) = &case.events_end {
        let start = events.len().checked_sub(wanted.len());
        let same = start
            .and_then(|start| events.get(start..))
            .is_some_and(|end| pairwise(wanted, end));
        differences.require(same, "last events", wanted, shown(events));
    }
    for unwanted in case.events_lack.iter().flatten() {
        let found = events.iter().find(|event| unwanted.matches(event));
        differences.require(found.is_none(), "no event", unwanted, found);
    }
    for (kind, wanted) in case.event_count.iter().flatten() {
        let found = events
            .iter()
            .filter(|event| event["kind"] == kind.as_str())
            .count();
        differences.require(
            found == *wanted,
            &format!("number of {kind}"),
            wanted,
            found,
        );
    }
}

fn pairwise(wanted: &[EventPattern], events: &[Value]) -> bool {
    wanted
        .iter()
        .zip(events)
        .all(|(pattern, event)| pattern.matches(event))
}

/// Events as lines that can be read.
fn shown(events: &[Value]) -> Vec<String> {
    events
        .iter()
        .map(|event| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let place = &event["provenance"];
            format!(
                "{} {} {}.{}",
                text(&event["kind"]),
                text(&event["section"]),
                text(&place["task"]),
                place["seq"]
            )
        })
        .collect()
}
