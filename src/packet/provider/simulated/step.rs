//! The script of the simulated provider (spec P129, P130).

use std::time::Duration;

use serde_json::{Map, Value};
use serde_yaml::Mapping;

use crate::packet::scalar::{is_truthy, natural};

/// A script.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    attempts: Vec<Value>,
    resume: Value,
}

/// What one attempt or one resume does.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Step {
    pub(super) writes: Vec<Write>,
    pub(super) deletes: Vec<Place>,
    pub(super) commit: Option<Commit>,
    pub(super) delay: Duration,
    pub(super) label: Option<String>,
    pub(super) messages: Vec<String>,
    pub(super) error: Option<StepError>,
}

/// A file, in a repo or in the working folder.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) repo: Option<String>,
    pub(super) path: String,
}

/// A file to be written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Write {
    pub(super) place: Place,
    pub(super) text: String,
    pub(super) append: bool,
}

/// A commit of all that a repo has.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Commit {
    pub(super) repo: Option<String>,
    pub(super) message: String,
}

/// How a session fails.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StepError {
    pub(super) kind: Option<String>,
    pub(super) message: String,
    pub(super) recovery: Option<Map<String, Value>>,
    /// The error as the script has it.
    pub(super) raw: Value,
}

impl Script {
    /// Reads a prompt's `simulate`; without one every step is empty.
    pub(super) fn read(simulate: Option<&Mapping>) -> Self {
        let json = simulate.and_then(|script| serde_json::to_value(script).ok());
        let json = json.unwrap_or_default();
        Self {
            attempts: list(&json["attempts"]).to_vec(),
            resume: json["resume"].clone(),
        }
    }

    /// The step of an attempt, counted from 1.
    pub(super) fn attempt(&self, number: u64) -> Step {
        let at = usize::try_from(number)
            .ok()
            .and_then(|at| at.checked_sub(1));
        let step = at.and_then(|at| self.attempts.get(at));
        step.map(Step::read).unwrap_or_default()
    }

    /// The step of a resume, counted from 0: of a list its own, else the one that there is.
    pub(super) fn resume(&self, number: u64) -> Step {
        let step = match &self.resume {
            Value::Array(steps) => usize::try_from(number).ok().and_then(|at| steps.get(at)),
            step => Some(step),
        };
        step.map(Step::read).unwrap_or_default()
    }
}

impl Step {
    fn read(step: &Value) -> Self {
        Self {
            writes: list(&step["writes"]).iter().map(Write::read).collect(),
            deletes: list(&step["deletes"]).iter().map(Place::read).collect(),
            commit: Commit::read(&step["commit"]),
            delay: Duration::from_millis(natural(&step["delay_ms"]).unwrap_or(0)),
            label: text(&step["label"]),
            messages: list(&step["messages"]).iter().filter_map(text).collect(),
            error: StepError::read(&step["error"]),
        }
    }
}

impl Place {
    /// Reads a path, or a map that has one.
    fn read(value: &Value) -> Self {
        Self {
            repo: text(&value["repo"]),
            path: text(value)
                .or_else(|| text(&value["path"]))
                .unwrap_or_else(|| "simulated.out".to_owned()),
        }
    }
}

impl Write {
    fn read(value: &Value) -> Self {
        Self {
            place: Place::read(value),
            text: text(&value["text"]).unwrap_or_default(),
            append: is_truthy(&value["append"]),
        }
    }
}

impl Commit {
    fn read(value: &Value) -> Option<Self> {
        if value.is_null() {
            return None;
        }
        let message = text(value).or_else(|| text(&value["message"]));
        Some(Self {
            repo: text(&value["repo"]),
            message: message.unwrap_or_else(|| "simulated commit".to_owned()),
        })
    }
}

impl StepError {
    fn read(value: &Value) -> Option<Self> {
        if value.is_null() {
            return None;
        }
        let recovery = value["recovery"].as_object();
        Some(Self {
            kind: text(value).or_else(|| text(&value["kind"])),
            message: text(&value["message"]).unwrap_or_else(|| "simulated failure".to_owned()),
            recovery: recovery.filter(|map| !map.is_empty()).cloned(),
            raw: value.clone(),
        })
    }
}

/// A list; a single value is a list of it, a null an empty one.
fn list(value: &Value) -> &[Value] {
    match value {
        Value::Null => &[],
        Value::Array(items) => items,
        one => std::slice::from_ref(one),
    }
}

/// A scalar as text.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}
