//! Run generations: what a run set out to do, and what became of it (spec P117).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::clock;
use super::error::StateError;
use super::folder::StateFolder;
use super::journal::Journal;
use super::read;
use super::replace::replace;

/// The schema of a snapshot.
const SCHEMA: &str = "prompt_runner.run/v1";

/// The random bytes of a run's id.
const ID_BYTES: usize = 18;

/// The states of a run that has nothing left to do (spec P117).
const ENDED: [&str; 3] = ["completed", "blocked", "superseded"];

/// What a run is to be.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// What the packet is (spec P117).
    pub fingerprint: &'a str,
    /// The selected prompts, in run order.
    pub targets: &'a [String],
    /// What selected them, as recorded.
    pub selectors: &'a Value,
    /// Whether a run that has not ended is to be given up.
    pub new_run: bool,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// All its prompts are done.
    Completed,
    /// A prompt failed, or could not be judged.
    Failed,
    /// It was interrupted.
    Interrupted,
}

impl RunEnd {
    fn state(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// The run of a packet that is under way.
#[derive(Debug)]
pub struct Generation {
    folder: PathBuf,
    current: PathBuf,
    snapshot: Snapshot,
    journal: Journal,
    targets: Vec<String>,
}

/// What is kept of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Snapshot {
    schema: String,
    run_id: String,
    state: String,
    packet_fingerprint: String,
    selection: Selection,
    created_at: String,
    updated_at: String,
    last_seq: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    snapshot_path: Option<String>,
}

/// The prompts of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Selection {
    targets: Vec<String>,
    #[serde(default)]
    upper_fence: Option<String>,
    #[serde(default)]
    selectors: Value,
}

impl Generation {
    /// Opens the run of a packet, whose lock is held: resumes the one that has not ended, or begins
    /// another.
    ///
    /// # Errors
    /// A run that has not ended and is of another packet or of other prompts, files that are not
    /// what they should be, and files that cannot be written.
    pub fn open(folder: &StateFolder, opening: Opening<'_>) -> Result<Self, StateError> {
        let runs = folder.runs();
        let Some(old) = read(&runs.join("current.json"))? else {
            return Self::begin(&runs, opening);
        };
        if ENDED.contains(&old.state.as_str()) {
            return Self::begin(&runs, opening);
        }
        if opening.new_run {
            let mut old = Self::of(&runs, old)?;
            let new = new_id()?;
            let data = json!({
                "reason": "explicit_new_run",
                "new_run_id": new,
                "new_packet_fingerprint": opening.fingerprint,
            });
            old.enter("superseded", "run_superseded", &data)?;
            return Self::begin_as(&runs, opening, new);
        }
        Self::resume(&runs, old, opening)
    }

    fn resume(runs: &Path, old: Snapshot, opening: Opening<'_>) -> Result<Self, StateError> {
        let run_id = old.run_id.clone();
        if old.packet_fingerprint != opening.fingerprint {
            return Err(StateError::PacketChanged { run_id });
        }
        let known: BTreeSet<&String> = old.selection.targets.iter().collect();
        let is_new = |id: &&String| !known.contains(id);
        let ids: Vec<String> = opening.targets.iter().filter(is_new).cloned().collect();
        if !ids.is_empty() {
            return Err(StateError::SelectionAdds { run_id, ids });
        }
        let selected: BTreeSet<&String> = opening.targets.iter().collect();
        let mut run = Self::of(runs, old)?;
        run.targets.retain(|id| selected.contains(id));
        let data = json!({"targets": run.targets, "selectors": opening.selectors});
        run.enter("running", "run_resumed", &data)?;
        Ok(run)
    }

    fn begin(runs: &Path, opening: Opening<'_>) -> Result<Self, StateError> {
        Self::begin_as(runs, opening, new_id()?)
    }

    fn begin_as(runs: &Path, opening: Opening<'_>, run_id: String) -> Result<Self, StateError> {
        let folder = runs.join(&run_id);
        fs::create_dir_all(&folder).map_err(|error| StateError::file("make", &folder, &error))?;
        let now = clock::now().to_string();
        let snapshot = Snapshot {
            schema: SCHEMA.to_owned(),
            run_id,
            state: "starting".to_owned(),
            packet_fingerprint: opening.fingerprint.to_owned(),
            selection: Selection {
                targets: opening.targets.to_vec(),
                upper_fence: opening.targets.last().cloned(),
                selectors: opening.selectors.clone(),
            },
            created_at: now.clone(),
            updated_at: now,
            last_seq: 0,
            snapshot_path: None,
        };
        let mut run = Self::of(runs, snapshot)?;
        let data = json!({"targets": run.targets, "selectors": opening.selectors});
        run.enter("starting", "run_created", &data)?;
        run.enter("running", "run_running", &json!({}))?;
        Ok(run)
    }

    fn of(runs: &Path, snapshot: Snapshot) -> Result<Self, StateError> {
        let folder = runs.join(&snapshot.run_id);
        fs::create_dir_all(&folder).map_err(|error| StateError::file("make", &folder, &error))?;
        let journal = Journal::open(folder.join("journal.jsonl"), &snapshot.run_id)?;
        Ok(Self {
            current: runs.join("current.json"),
            targets: snapshot.selection.targets.clone(),
            folder,
            snapshot,
            journal,
        })
    }

    /// The run's id.
    pub fn run_id(&self) -> &str {
        &self.snapshot.run_id
    }

    /// The prompts to run, in order: the run's own, cut to what is selected now.
    pub fn targets(&self) -> &[String] {
        &self.targets
    }

    /// Records how the run ended.
    ///
    /// # Errors
    /// Files that cannot be written.
    pub fn end(mut self, end: RunEnd) -> Result<(), StateError> {
        let state = end.state();
        self.enter(state, &format!("run_{state}"), &json!({}))
    }

    /// Notes a step in the journal, then in both snapshots. A crash in between leaves the earlier
    /// state, from which the run is resumed.
    fn enter(&mut self, state: &str, kind: &str, data: &Value) -> Result<(), StateError> {
        self.journal.append(kind, data)?;
        self.snapshot.state = state.to_owned();
        self.snapshot.updated_at = clock::now().to_string();
        self.snapshot.last_seq = self.journal.last_seq();
        let own = self.folder.join("current.json");
        self.snapshot.snapshot_path = None;
        write(&own, &self.snapshot)?;
        self.snapshot.snapshot_path = Some(own.to_string_lossy().into_owned());
        write(&self.current, &self.snapshot)
    }
}

fn read(path: &Path) -> Result<Option<Snapshot>, StateError> {
    let invalid = |cause: String| StateError::Generation {
        path: path.to_owned(),
        cause,
    };
    let Some(bytes) = read::read(path).map_err(|error| invalid(error.to_string()))? else {
        return Ok(None);
    };
    let parsed = serde_json::from_slice::<Value>(&bytes);
    let value = parsed.map_err(|error| invalid(error.to_string()))?;
    // First what a file of another version says, which is of another shape too.
    let schema = &value["schema"];
    if schema != SCHEMA {
        return Err(invalid(format!("schema {schema} is not {SCHEMA:?}")));
    }
    let snapshot: Snapshot =
        serde_json::from_value(value).map_err(|error| invalid(error.to_string()))?;
    // The id names a folder.
    let is_id = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if snapshot.run_id.is_empty() || !snapshot.run_id.bytes().all(is_id) {
        return Err(invalid(format!("run_id {:?} is none", snapshot.run_id)));
    }
    Ok(Some(snapshot))
}

fn write(path: &Path, snapshot: &Snapshot) -> Result<(), StateError> {
    let text = serde_json::to_string_pretty(snapshot).unwrap_or_default() + "\n";
    replace(path, text.as_bytes()).map_err(|error| StateError::write(path, &error))
}

/// A fresh id: 18 random bytes in base64url.
fn new_id() -> Result<String, StateError> {
    let mut bytes = [0; ID_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| StateError::Generation {
        path: PathBuf::from("/dev/urandom"),
        cause: error.to_string(),
    })?;
    Ok(base64url(&bytes))
}

fn base64url(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let mut group = [0; 3];
        for (to, from) in group.iter_mut().zip(chunk) {
            *to = *from;
        }
        let number = u32::from_be_bytes([0, group[0], group[1], group[2]]);
        for place in 0..=chunk.len() {
            let at = number >> (18 - 6 * place) & 63;
            let at = usize::try_from(at).unwrap_or_default();
            out.extend(LETTERS.get(at).copied().map(char::from));
        }
    }
    out
}

#[cfg(test)]
mod tests;
