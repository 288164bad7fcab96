//! What `state.json` holds of one prompt (spec P112, P113).

use serde_json::{Map, Value, json};

use super::super::clock::Instant;
use super::super::status::{AttemptStatus, Mode, PromptStatus};
use super::{Fields, Started, Used};

/// Fields that say how an earlier attempt ended; they go when another one starts (spec P113).
const OUTCOME: [&str; 11] = [
    "reason",
    "failure_class",
    "failure",
    "retry_delay_ms",
    "stage",
    "blocked_by",
    "source",
    "session_ran",
    "last_error",
    "commit_info",
    "contract_fingerprint",
];

/// One prompt's fields, and their text where it is up to date.
#[derive(Debug, Default)]
pub(super) struct Record {
    fields: Fields,
    text: Option<String>,
}

impl Record {
    /// Reads a prompt.
    ///
    /// # Errors
    /// What is not as it should be, to stand behind the prompt's id.
    pub(super) fn read(value: Value) -> Result<Self, String> {
        let Value::Object(fields) = value else {
            return Err(" is not a map".to_owned());
        };
        match fields.get("attempts") {
            None => {}
            Some(Value::Array(attempts)) => {
                if let Some(at) = attempts.iter().position(|attempt| !attempt.is_object()) {
                    return Err(format!(".attempts[{at}] is not a map"));
                }
            }
            Some(_) => return Err(".attempts is not a list".to_owned()),
        }
        Ok(Self { fields, text: None })
    }

    pub(super) fn fields(&self) -> &Fields {
        &self.fields
    }

    /// The fields as one line of JSON.
    pub(super) fn text(&mut self) -> &str {
        let fields = &self.fields;
        self.text
            .get_or_insert_with(|| serde_json::to_string(fields).unwrap_or_default())
    }

    fn attempts(&self) -> &[Value] {
        let attempts = self.fields.get("attempts").and_then(Value::as_array);
        attempts.map(Vec::as_slice).unwrap_or_default()
    }

    /// The attempts, to be changed.
    fn attempts_mut(&mut self) -> Option<&mut Vec<Value>> {
        self.text = None;
        let attempts = self.fields.entry("attempts").or_insert_with(|| json!([]));
        attempts.as_array_mut()
    }

    pub(super) fn used(&self) -> Used {
        let mut used = Used::default();
        for attempt in self.attempts().iter().rev() {
            match attempt["mode"].as_str() {
                Some(mode) if mode == Mode::Retry.name() => used.retries += 1,
                Some(mode) if mode == Mode::Repair.name() => used.repairs += 1,
                _ => {}
            }
            if attempt["attempt"].as_u64() == Some(1) {
                break;
            }
        }
        used
    }

    pub(super) fn start(&mut self, started: Started<'_>, now: Instant) {
        self.forget_outcome(now);
        let now = now.to_string();
        let mut entry = Map::new();
        entry.insert("attempt".to_owned(), json!(started.attempt));
        entry.insert("mode".to_owned(), json!(started.mode.name()));
        entry.insert("prompt_name".to_owned(), json!(started.prompt_name));
        entry.insert("started_at".to_owned(), json!(now));
        entry.insert("status".to_owned(), json!(AttemptStatus::Running.name()));
        if let Some(run_id) = started.run_id {
            entry.insert("run_id".to_owned(), json!(run_id));
        }
        if let Some(attempts) = self.attempts_mut() {
            attempts.push(Value::Object(entry));
        }
        let status = PromptStatus::Running.name();
        self.fields.insert("status".to_owned(), json!(status));
        self.fields
            .insert("last_attempt".to_owned(), json!(started.attempt));
        self.fields.insert("updated_at".to_owned(), json!(now));
    }

    /// Takes away what an earlier outcome said. An attempt of a runner that is gone, and never
    /// ended, was interrupted (spec P123).
    pub(super) fn forget_outcome(&mut self, now: Instant) {
        for key in OUTCOME {
            self.fields.remove(key);
        }
        self.text = None;
        let Some(Value::Array(attempts)) = self.fields.get_mut("attempts") else {
            return;
        };
        for attempt in attempts.iter_mut().filter_map(Value::as_object_mut) {
            if is_running(attempt) {
                let status = AttemptStatus::Interrupted.name();
                attempt.insert("status".to_owned(), json!(status));
                attempt.insert("completed_at".to_owned(), json!(now.to_string()));
            }
        }
    }

    /// Puts a result into the newest running attempt of that number, and into the prompt.
    pub(super) fn end(&mut self, attempt: u64, result: Fields, now: Instant) {
        let mut of_prompt = result.clone();
        // How a session was resumed belongs to the attempt alone.
        of_prompt.remove("resumes");
        of_prompt.remove("recovery_error");
        if let Some(attempts) = self.attempts_mut() {
            let mut entries = attempts.iter_mut().rev().filter_map(Value::as_object_mut);
            let entry = entries.find(|entry| {
                is_running(entry) && entry.get("attempt").and_then(Value::as_u64) == Some(attempt)
            });
            if let Some(entry) = entry {
                entry.extend(result);
                entry.insert("completed_at".to_owned(), json!(now.to_string()));
            }
        }
        self.fields.extend(of_prompt);
    }

    pub(super) fn change(&mut self, status: PromptStatus, fields: Fields, now: Instant) {
        self.text = None;
        self.fields.extend(fields);
        self.fields
            .insert("status".to_owned(), json!(status.name()));
        self.fields
            .insert("updated_at".to_owned(), json!(now.to_string()));
    }
}

fn is_running(attempt: &Fields) -> bool {
    let status = attempt.get("status").and_then(Value::as_str);
    status == Some(AttemptStatus::Running.name())
}
