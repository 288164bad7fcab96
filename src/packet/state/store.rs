//! `state.json`: the attempts and the status of every prompt (spec P112, P113).

mod record;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use self::record::Record;
use super::clock::{self, Instant};
use super::error::StateError;
use super::folder::StateFolder;
use super::read::read;
use super::replace::replace;
use super::status::{Mode, PromptStatus};

/// The version of the file that is read and written.
const VERSION: u64 = 1;

/// Fields of a prompt or an attempt.
pub type Fields = Map<String, Value>;

/// An attempt that starts.
#[derive(Clone, Copy, Debug)]
pub struct Started<'a> {
    /// Its number in this invocation, from 1.
    pub attempt: u64,
    /// What it is.
    pub mode: Mode,
    /// The prompt's name.
    pub prompt_name: &'a str,
    /// The run that it belongs to; a `repair` has none.
    pub run_id: Option<&'a str>,
}

/// How much of a prompt's budgets is used (spec P81).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Attempts of mode `retry`.
    pub retries: u64,
    /// Attempts of mode `repair`.
    pub repairs: u64,
}

/// The state of all prompts, in memory and on disk. Each change is on disk when it returns.
#[derive(Debug)]
pub struct StateStore {
    path: PathBuf,
    /// Keys beside those that are known, kept as they are.
    others: Fields,
    prompts: BTreeMap<String, Record>,
}

impl StateStore {
    /// Reads the state; a packet without a file has an empty one.
    ///
    /// # Errors
    /// [`StateError::Store`]: a file that cannot be read, does not parse, is of another version, or
    /// is not built as P112 says.
    pub fn open(folder: &StateFolder) -> Result<Self, StateError> {
        let path = folder.state();
        match read(&path) {
            Ok(Some(bytes)) => Self::parse(path, &bytes),
            Ok(None) => Ok(Self::empty(path)),
            Err(error) => Err(StateError::Store {
                path,
                cause: error.to_string(),
            }),
        }
    }

    /// The state that the bytes of a file say; `path` is where it is written.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn parse(path: PathBuf, bytes: &[u8]) -> Result<Self, StateError> {
        let refused = |cause: String| StateError::Store {
            path: path.clone(),
            cause,
        };
        let mut others: Fields =
            serde_json::from_slice(bytes).map_err(|error| refused(error.to_string()))?;
        let version = others.remove("version").unwrap_or_default();
        if version.as_u64() != Some(VERSION) {
            return Err(refused(format!("version {version} is not {VERSION}")));
        }
        let prompts = match others.remove("prompts") {
            None => Map::new(),
            Some(Value::Object(prompts)) => prompts,
            Some(_) => return Err(refused("prompts is not a map".to_owned())),
        };
        let mut records = BTreeMap::new();
        for (id, prompt) in prompts {
            let record = Record::read(prompt);
            let record = record.map_err(|what| refused(format!("prompts.{id}{what}")))?;
            records.insert(id, record);
        }
        for ours in ["state_path", "updated_at"] {
            others.remove(ours);
        }
        Ok(Self {
            path,
            others,
            prompts: records,
        })
    }

    fn empty(path: PathBuf) -> Self {
        Self {
            path,
            others: Map::new(),
            prompts: BTreeMap::new(),
        }
    }

    /// The file as it is, checked; a packet without one has an empty state.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn show(folder: &StateFolder) -> Result<Value, StateError> {
        let path = folder.state();
        let refused = |cause: String| StateError::Store {
            path: path.clone(),
            cause,
        };
        match read(&path) {
            Ok(Some(bytes)) => {
                Self::parse(path.clone(), &bytes)?;
                serde_json::from_slice(&bytes).map_err(|error| refused(error.to_string()))
            }
            Ok(None) => Ok(json!({
                "version": VERSION,
                "state_path": path.to_string_lossy(),
                "prompts": {},
            })),
            Err(error) => Err(refused(error.to_string())),
        }
    }

    /// Where it is written.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A prompt's fields, its `attempts` among them.
    pub fn prompt(&self, id: &str) -> Option<&Fields> {
        self.prompts.get(id).map(Record::fields)
    }

    /// All prompts with their fields, by id.
    pub fn prompts(&self) -> impl Iterator<Item = (&str, &Fields)> {
        let prompts = self.prompts.iter();
        prompts.map(|(id, record)| (id.as_str(), record.fields()))
    }

    /// A prompt's status, if it has one.
    pub fn status(&self, id: &str) -> Option<&str> {
        self.prompt(id)?.get("status")?.as_str()
    }

    /// What a prompt has used of its budgets: the attempts from its newest one numbered 1 on
    /// (spec P81).
    pub fn used(&self, id: &str) -> Used {
        self.prompts.get(id).map(Record::used).unwrap_or_default()
    }

    /// Records that an attempt starts (spec P113): an earlier one that was never ended is
    /// `interrupted` (spec P123), and what an earlier outcome said is taken away.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn start_attempt(&mut self, id: &str, started: Started<'_>) -> Result<(), StateError> {
        let record = self.prompts.entry(id.to_owned()).or_default();
        record.start(started, clock::now());
        self.write()
    }

    /// Records the result of the attempt under way, in the attempt and in the prompt, and then
    /// where that leaves the prompt (spec P113). Both are in the file at once.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn end_attempt(
        &mut self,
        id: &str,
        attempt: u64,
        result: Fields,
        status: PromptStatus,
        fields: Fields,
    ) -> Result<(), StateError> {
        let record = self.prompts.entry(id.to_owned()).or_default();
        let now = clock::now();
        record.end(attempt, result, now);
        record.change(status, fields, now);
        self.write()
    }

    /// Records where a prompt stands.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn change(
        &mut self,
        id: &str,
        status: PromptStatus,
        fields: Fields,
    ) -> Result<(), StateError> {
        let record = self.prompts.entry(id.to_owned()).or_default();
        record.change(status, fields, clock::now());
        self.write()
    }

    /// Records that a prompt starts without an attempt of its own: what an earlier outcome said is
    /// taken away, and then as [`change`](Self::change).
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn restate(
        &mut self,
        id: &str,
        status: PromptStatus,
        fields: Fields,
    ) -> Result<(), StateError> {
        let record = self.prompts.entry(id.to_owned()).or_default();
        let now = clock::now();
        record.forget_outcome(now);
        record.change(status, fields, now);
        self.write()
    }

    /// The whole state as one value (spec P112).
    pub fn to_json(&self, now: Instant) -> Value {
        let prompts = self.prompts.iter();
        let prompts: Map<String, Value> = prompts
            .map(|(id, record)| (id.clone(), Value::Object(record.fields().clone())))
            .collect();
        let mut out = self.others.clone();
        out.insert("version".to_owned(), json!(VERSION));
        out.insert("state_path".to_owned(), json!(self.path.to_string_lossy()));
        out.insert("updated_at".to_owned(), json!(now.to_string()));
        out.insert("prompts".to_owned(), Value::Object(prompts));
        Value::Object(out)
    }

    /// The text of the file: a line for each prompt. Of a change only that line is made anew.
    pub fn render(&mut self, now: Instant) -> String {
        let mut out = format!("{{\n\"version\": {VERSION},\n");
        out += &format!("\"state_path\": {},\n", json!(self.path.to_string_lossy()));
        out += &format!("\"updated_at\": {},\n", json!(now.to_string()));
        for (key, value) in &self.others {
            out += &format!("{}: {value},\n", json!(key));
        }
        out += "\"prompts\": {";
        let mut comma = "\n";
        for (id, record) in &mut self.prompts {
            out += comma;
            out += &json!(id).to_string();
            out += ": ";
            out += record.text();
            comma = ",\n";
        }
        out += "\n}\n}\n";
        out
    }

    fn write(&mut self) -> Result<(), StateError> {
        let text = self.render(clock::now());
        replace(&self.path, text.as_bytes()).map_err(|error| StateError::write(&self.path, &error))
    }
}

#[cfg(test)]
mod tests;
