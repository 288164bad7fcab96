//! The JSON objects of the command line (spec C5, C7).

use runvil::engine::{Outcome, RunError};
use runvil::harness::Report;
use runvil::prompt::Location;
use serde::Serialize;

/// What `--json` prints about a run, or about a command that ran nothing (spec C5).
#[derive(Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum RunObject<'a> {
    Completed {
        result: &'a str,
        run: &'a str,
        seed: String,
        started_at: String,
    },
    Cancelled {
        /// `None` where nothing ran.
        #[serde(skip_serializing_if = "Option::is_none")]
        run: Option<&'a str>,
    },
    Failed {
        kind: &'static str,
        #[serde(flatten)]
        failure: Failure<'a>,
        run: &'a str,
    },
    Error {
        message: &'a str,
    },
}

/// What is known about a failure (spec C5).
#[derive(Serialize)]
pub struct Failure<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    parse_kind: Option<&'static str>,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<&'a Location>,
}

impl<'a> RunObject<'a> {
    /// The object of a run that took place.
    pub fn new(report: &'a Report) -> Self {
        let run = report.run.as_str();
        match &report.outcome {
            Outcome::Completed(result) => Self::Completed {
                result,
                run,
                seed: report.seed.to_string(),
                started_at: report.started_at.to_string(),
            },
            Outcome::Cancelled => Self::Cancelled { run: Some(run) },
            Outcome::Failed(error) => Self::Failed {
                kind: error.kind.name(),
                failure: Failure::new(error),
                run,
            },
        }
    }
}

impl<'a> Failure<'a> {
    /// What a run error says.
    pub fn new(error: &'a RunError) -> Self {
        Self {
            parse_kind: error.parse_kind.map(|kind| kind.name()),
            message: &error.message,
            location: error
                .location
                .as_ref()
                .filter(|location| location.is_known()),
        }
    }

    /// A failure that is only a message.
    pub fn message(message: &'a str) -> Self {
        Self {
            parse_kind: None,
            message,
            location: None,
        }
    }
}
