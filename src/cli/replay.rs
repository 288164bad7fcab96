//! `runvil replay` (spec R15, C4).

use std::io::{self, BufReader};

use runvil::engine::Outcome;
use runvil::harness::{Difference, ReplayError, Replayed, replay as replayed};
use serde::Serialize;

use super::args::ReplayArgs;
use super::console;
use super::escape::escape;
use super::record::{open, unreadable};
use super::source::is_stdin;
use super::status::Status;
use super::style::Style;

/// How much of a line is shown around what differs, in characters.
const SHOWN: usize = 300;

/// What `--json` prints.
#[derive(Serialize)]
#[serde(untagged)]
enum Found<'a> {
    Same {
        same: bool,
        lines: u64,
        /// `null` where the record ends before.
        outcome: Option<&'static str>,
    },
    Differs {
        same: bool,
        line: u64,
        recorded: &'a str,
        new: String,
    },
}

/// Runs a record again and says whether there is a difference.
pub fn replay(args: &ReplayArgs) -> Status {
    let style = console::error_style(args.color);
    let result = match is_stdin(&args.record) {
        true => Ok(replayed(io::stdin().lock(), &mut |_| {})),
        false => open(&args.record)
            .map(|record| replayed(BufReader::with_capacity(1 << 16, record), &mut |_| {})),
    };
    let error = match result {
        Ok(Ok(found)) => return no_difference(args, &found, style),
        Ok(Err(ReplayError::Differs(difference))) => {
            return difference_found(args, &difference, style);
        }
        Ok(Err(error)) => unreadable(&args.record, error),
        Err(error) => error,
    };
    error.report(args.json, style)
}

fn no_difference(args: &ReplayArgs, found: &Replayed, style: Style) -> Status {
    let outcome = found.outcome.as_ref().map(|outcome| match outcome {
        Outcome::Completed(_) => "completed",
        Outcome::Cancelled => "cancelled",
        Outcome::Failed(_) => "failed",
    });
    let lines = found.lines;
    let printed = if args.json {
        console::print_json(&Found::Same {
            same: true,
            lines,
            outcome,
        })
    } else {
        let ended = outcome.map_or(String::new(), |outcome| format!("; the run {outcome}"));
        let ended = ended.replace("the run cancelled", "the run was cancelled");
        console::print(&format!("no difference in {lines} lines{ended}\n"))
    };
    if outcome.is_none() {
        let torn = match found.is_torn {
            true => ", in the middle of a line",
            false => "",
        };
        console::log(&format!("the record ends before the run's outcome{torn}"));
    }
    console::status_of(printed, Status::Success, style)
}

fn difference_found(args: &ReplayArgs, difference: &Difference, style: Style) -> Status {
    let Difference {
        line,
        recorded,
        new,
    } = difference;
    let new = new.to_string();
    if args.json {
        let printed = console::print_json(&Found::Differs {
            same: false,
            line: *line,
            recorded,
            new,
        });
        return console::status_of(printed, Status::Failed, style);
    }
    console::log_error(&format!("line {line} differs"), style);
    console::log_raw(&shown(recorded, &new));
    Status::Failed
}

/// The two lines around what differs first.
pub fn shown(recorded: &str, new: &str) -> String {
    let pairs = recorded.chars().zip(new.chars());
    let same = pairs.take_while(|(one, other)| one == other).count();
    let start = match same.checked_sub(SHOWN / 2) {
        // What all lines begin with says of what kind they are.
        Some(start) if recorded.chars().count().max(new.chars().count()) > SHOWN => start,
        _ => 0,
    };
    let part = |text: &str| {
        let mut rest = text.chars().skip(start);
        let part: String = rest.by_ref().take(SHOWN).collect();
        let before = if start > 0 { "…" } else { "" };
        let after = if rest.next().is_some() { "…" } else { "" };
        escape(&format!("{before}{part}{after}")).into_owned()
    };
    format!("recorded: {}\nnew:      {}\n", part(recorded), part(new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_around_what_differs() {
        assert_eq!(shown("ab", "ac"), "recorded: ab\nnew:      ac\n");
        let long = "x".repeat(1000);
        let (one, other) = (format!("{long}a{long}"), format!("{long}b{long}"));
        let text = shown(&one, &other);
        let half = "x".repeat(150);
        assert!(text.starts_with(&format!("recorded: …{half}ax")), "{text}");
        assert!(text.contains(&format!("new:      …{half}bx")), "{text}");
        assert_eq!(text.matches('…').count(), 4);
    }
}
