//! What is shown at the end of a packet's run.

use runvil::packet::run::{End, PromptReport, RunReport};

use super::super::cell;
use super::super::table::aligned;
use super::board::span;

/// The widest name that the table shows.
const NAME: usize = 40;

/// A table of the prompts whose turn came.
pub fn table(report: &RunReport) -> String {
    let rows: Vec<[String; 5]> = report.prompts.iter().map(row).collect();
    format!("{}{}", aligned(&rows), count(report))
}

/// How many prompts are done.
pub fn count(report: &RunReport) -> String {
    let is_done = |prompt: &&PromptReport| matches!(prompt.end, End::Completed { .. });
    let done = report.prompts.iter().filter(is_done).count();
    let noun = if report.selected == 1 {
        "prompt"
    } else {
        "prompts"
    };
    format!("{done} of {} {noun} completed\n", report.selected)
}

/// The failed prompts and why (spec P30).
pub fn failures(report: &RunReport) -> String {
    let failed: Vec<String> = report
        .failed()
        .map(|prompt| format!("  {}: {}\n", prompt.id, reason(&prompt.end)))
        .collect();
    format!(
        "{} selected prompts failed:\n{}",
        failed.len(),
        failed.concat()
    )
}

fn reason(end: &End) -> String {
    match end {
        End::Failed { reason } => reason.lines().next().unwrap_or_default().to_owned(),
        End::Blocked { by } => format!("blocked by {}", by.join(", ")),
        End::Completed { .. } | End::Fault | End::Interrupted => String::new(),
    }
}

fn row(prompt: &PromptReport) -> [String; 5] {
    let result = match &prompt.end {
        End::Completed { commit } => format!("completed ({})", short(commit)),
        End::Failed { .. } => "failed".to_owned(),
        End::Blocked { by } => format!("blocked by {}", by.join(", ")),
        End::Fault => "contract not checked".to_owned(),
        End::Interrupted => "interrupted".to_owned(),
    };
    let attempts = match prompt.attempts {
        0 => "no session".to_owned(),
        1 => "1 attempt".to_owned(),
        more => format!("{more} attempts"),
    };
    let name = cell::start_of(&prompt.name, NAME);
    [
        prompt.id.clone(),
        name,
        result,
        attempts,
        span(prompt.elapsed),
    ]
}

/// What a commit came to, with short hashes.
pub fn short(commit: &str) -> String {
    let one = |part: &str| {
        let (repo, sha) = part
            .split_once('=')
            .map_or(("", part), |(repo, sha)| (repo, sha));
        let is_sha = sha.len() >= 40 && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
        let sha = if is_sha {
            sha.get(..8).unwrap_or(sha)
        } else {
            sha
        };
        match repo {
            "" => sha.to_owned(),
            repo => format!("{repo}={sha}"),
        }
    };
    commit.split(',').map(one).collect::<Vec<_>>().join(", ")
}
