//! `runvil packet verify` (spec P21, P26).

use clap::Args;
use runvil::harness::CancelToken;
use runvil::packet::contract::{self, Interrupted, Report, Scope};
use runvil::packet::run::Committer;
use runvil::packet::{Packet, Prompt, Selectors, Standing, readiness};
use serde::Serialize;

use super::super::status::Status;
use super::super::{console, interrupt};
use super::place::{PlaceAndIds, config_home};
use super::report;

/// What `--json` prints.
const SCHEMA: &str = "prompt_runner.verify/v1";

#[derive(Args)]
#[command(after_help = "\
Every entry of every contract is checked. Nothing is changed but what the contracts' own commands \
change.

  runvil packet verify demo
  runvil packet verify demo 02 03 --json

What a prompt's contract may ask for, with `app` its first target:

  verify:
    files_exist: [a.txt, 'docs:b.md']         in another repository, REPO:PATH; files_absent too
    contains: [{path: a.txt, text: Hello}]
    matches: [{repo: docs, path: b.md, pattern: '(?m)^# '}]
    doc: [{path: c.md, requires_sections: ['## Use']}]        and no TODO, TBD and the like in it
    commands: [{exec: sh, args: [check.sh], timeout_ms: 60000}]     without a shell; status 0
    changed_paths_only: [a.txt, c.md, 'docs:b.md']            nothing beside in these repositories
    repos_clean: [app]                        nothing uncommitted
    yaml, json, glob, source_absent           data, numbers of files, patterns that are nowhere

Exit status: 0 every contract is met, 1 one is not, 2 nothing was checked (a usage or load error), \
3 one could not be checked, 130 interrupted.")]
pub struct VerifyArgs {
    #[command(flatten)]
    place: PlaceAndIds,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Checks the contracts of prompts.
pub fn verify(args: &VerifyArgs) -> Status {
    let (folder, ids) = args.place.split();
    let packet = match Packet::load(&folder, &config_home()) {
        Ok(packet) => packet,
        Err(error) => return report::refused(&error),
    };
    let selectors = Selectors {
        ids: ids.to_vec(),
        ..Selectors::default()
    };
    let selected = match selectors.select(&packet, &Standing::default()) {
        Ok(selected) => selected,
        Err(error) => return report::refused(&error),
    };
    let cancel = match interrupt::listen() {
        Ok(cancel) => cancel,
        Err(error) => return error.report(args.json, report::style()),
    };
    for repo in readiness::repos(&packet) {
        // Who commits nothing needs no name.
        let errors = repo.errors.iter();
        for error in errors.filter(|error| error.stops_a_run(Committer::Noop)) {
            report::warning(&error.message);
        }
    }
    for prompt in &selected {
        for problem in contract::unknown_clauses(prompt.verify.as_ref()) {
            report::warning(&format!("prompt {}: {problem}", prompt.id));
        }
    }
    let mut reports = Vec::new();
    for prompt in selected {
        let Ok(checked) = check(&packet, prompt, &cancel) else {
            report::error(&Interrupted.to_string());
            return Status::Cancelled;
        };
        if !args.json && (!checked.pass() || checked.items.is_empty()) {
            // Contracts may take their time: what is known is shown.
            let status = report::print(&lines(&checked), Status::Success);
            if status != Status::Success {
                return status;
            }
        }
        reports.push(checked);
    }
    let found = Found::of(reports);
    let status = found.status();
    match args.json {
        true => console::status_of(console::print_json(&found), status, report::style()),
        false => report::print(&found.sum(), status),
    }
}

fn check(packet: &Packet, prompt: &Prompt, cancel: &CancelToken) -> Result<Report, Interrupted> {
    let scope = Scope::of(packet, prompt);
    contract::evaluate(&scope, prompt.id.as_str(), prompt.verify.as_ref(), cancel)
}

/// A line for each item of a report that does not hold; for a report without items that it has
/// none.
fn lines(report: &Report) -> String {
    if report.items.is_empty() {
        return format!("  {} has no contract: nothing to check\n", report.prompt_id);
    }
    let lines = report.failures().map(|item| {
        let (kind, subject, summary) = (item.kind, item.subject(), item.summary());
        format!("  {} {kind} {subject}: {summary}\n", report.prompt_id)
    });
    lines.collect()
}

/// What all contracts came to.
#[derive(Serialize)]
struct Found {
    schema: &'static str,
    #[serde(rename = "pass?")]
    pass: bool,
    /// How many were checked.
    prompts: usize,
    /// How many are not met, those with a fault aside.
    failures: usize,
    /// How many could not be checked.
    faults: usize,
    /// How many have no contract, and so nothing that could be unmet.
    without_contract: usize,
    reports: Vec<Report>,
}

impl Found {
    fn of(reports: Vec<Report>) -> Self {
        let faults = reports.iter().filter(|report| report.has_fault()).count();
        let unmet = reports.iter().filter(|report| !report.pass()).count();
        Self {
            schema: SCHEMA,
            pass: unmet == 0,
            prompts: reports.len(),
            failures: unmet - faults,
            faults,
            without_contract: reports.iter().filter(|it| it.items.is_empty()).count(),
            reports,
        }
    }

    fn status(&self) -> Status {
        match (self.faults, self.failures) {
            (0, 0) => Status::Success,
            (0, _) => Status::Failed,
            _ => Status::Fault,
        }
    }

    fn sum(&self) -> String {
        let Self {
            prompts,
            failures,
            faults,
            without_contract,
            ..
        } = self;
        let noun = if *prompts == 1 { "prompt" } else { "prompts" };
        let sum = format!("{prompts} {noun} checked: {failures} failed, {faults} faulted");
        match without_contract {
            0 => sum + "\n",
            without => format!("{sum}, {without} without a contract\n"),
        }
    }
}
