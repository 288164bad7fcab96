//! The cases that are data: `spec/cases/09-packets/life-*.yaml`. `life.md` beside them explains
//! their keys.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::fixture::{MANIFEST, Packet};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    about: String,
    rules: Vec<String>,
    #[serde(default)]
    manifest: Map<String, Value>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    repos: Vec<String>,
    prompts: Vec<Map<String, Value>>,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Step {
    write: BTreeMap<String, String>,
    shell: Option<String>,
    packet: Option<Vec<String>>,
    /// The exit status; 0 by default.
    status: i32,
    stdout: Vec<String>,
    stdout_lacks: Vec<String>,
    stderr: Vec<String>,
    /// `run: failed; retry: completed` for each prompt that is named.
    attempts: BTreeMap<String, String>,
    /// What `state.json` holds of prompts: maps may hold more, a null stands for nothing.
    state: BTreeMap<String, Value>,
    /// The lines of `progress.log` without times, hashes as `SHA`.
    progress: Option<Vec<String>>,
    /// What the newest run's snapshot holds.
    run: Option<Value>,
    /// Files after the step, null for none.
    files: BTreeMap<String, Option<String>>,
    /// The commits of `app`.
    commits: Option<usize>,
    /// Whether `app` holds nothing that is not committed.
    clean: Option<bool>,
}

#[test]
fn every_case_runs_as_it_says() {
    let chosen = std::env::var("CASE").unwrap_or_default();
    let mut wrong = String::new();
    let (mut ran, mut failed) = (0, 0);
    let cases = all();
    let ids: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids.len(), cases.len(), "two cases share an id");
    for case in cases.iter().filter(|case| case.id.starts_with(&chosen)) {
        ran += 1;
        let found = case.run();
        if !found.is_empty() {
            failed += 1;
            let rules = case.rules.join(", ");
            wrong += &format!("\n{} ({rules}): {}\n{found}", case.id, case.about);
        }
    }
    println!("09-packets-life: {} passed, {failed} failed", ran - failed);
    assert!(wrong.is_empty(), "{failed} of {ran} cases failed:\n{wrong}");
}

fn all() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("spec/cases/09-packets");
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("life-") && name.ends_with(".yaml")
    };
    let mut files: Vec<PathBuf> = entries.filter(is_ours).collect();
    files.sort();
    let read = |path: &PathBuf| -> Vec<Case> {
        let text = fs::read_to_string(path).unwrap();
        serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    files.iter().flat_map(read).collect()
}

impl Case {
    /// Runs the case; what is wrong, or nothing.
    fn run(&self) -> String {
        let packet = Packet::new(&[]);
        let mut keys: Map<String, Value> =
            serde_yaml::from_str(MANIFEST.trim_matches(['-', '\n'])).unwrap();
        lay(&mut keys, &self.manifest);
        packet.write("prompt_runner_packet.md", &document(&keys, ""));
        for repo in &self.repos {
            packet.repo(repo);
        }
        for (path, text) in &self.files {
            packet.write(path, text);
        }
        for keys in &self.prompts {
            let mut keys = keys.clone();
            let text = |value: Option<Value>, usual: &str| match value {
                Some(Value::String(text)) => text,
                _ => usual.to_owned(),
            };
            let body = text(keys.remove("body"), "# B\n");
            let file = text(keys.remove("file"), "01_step.prompt.md");
            let mut whole = Map::new();
            let id = file.split('_').next().unwrap().to_owned();
            whole.insert("id".to_owned(), json!(id));
            whole.insert("targets".to_owned(), json!(["app"]));
            whole.insert("commit".to_owned(), json!("chore: step"));
            for (key, field) in [("script", "attempts"), ("resume", "resume")] {
                if let Some(Value::String(script)) = keys.remove(key) {
                    let steps: Vec<Value> = script.split(" / ").map(step).collect();
                    whole.entry("simulate").or_insert_with(|| json!({}))[field] = json!(steps);
                }
            }
            lay(&mut whole, &keys);
            packet.write(&format!("prompts/{file}"), &document(&whole, &body));
        }
        let mut wrong = String::new();
        if self.steps.is_empty() {
            wrong += "  no steps\n";
        }
        for (at, step) in self.steps.iter().enumerate() {
            let found = step.take(&packet);
            if !found.is_empty() {
                wrong += &format!("  step {}:\n{found}", at + 1);
            }
        }
        wrong
    }
}

/// A step of a script in the notation of P133.
fn step(text: &str) -> Value {
    let mut writes = Vec::new();
    let mut error = Value::Null;
    for part in text.split(" + ").filter(|part| *part != "empty") {
        let (deed, what) = part.trim().trim_end_matches(')').split_once('(').unwrap();
        match deed {
            "W" => writes.push(json!({"path": what, "text": "ok"})),
            "E" => error = json!({"kind": what}),
            _ => panic!("{part}"),
        }
    }
    json!({"writes": writes, "error": error})
}

/// Lays keys over others, maps deeply.
fn lay(base: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => lay(below, above),
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

fn document(keys: &Map<String, Value>, body: &str) -> String {
    format!("---\n{}---\n{body}", serde_yaml::to_string(keys).unwrap())
}

impl Step {
    fn take(&self, packet: &Packet) -> String {
        for (path, text) in &self.write {
            packet.write(path, text);
        }
        let mut wrong = Wrong(String::new());
        if let Some(script) = &self.shell
            && let Err(what) = packet.try_shell(script)
        {
            wrong.add(what);
        }
        let expected = [&self.stdout, &self.stdout_lacks, &self.stderr];
        let is_expected = self.status != 0 || expected.iter().any(|texts| !texts.is_empty());
        wrong.unless(self.packet.is_some() || !is_expected, || {
            "what a command says is expected, and there is none".to_owned()
        });
        if let Some(words) = &self.packet {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let finished = packet.run(&words);
            let root = packet.root().display().to_string();
            let stdout = finished.stdout.replace(&root, "{root}");
            let stderr = finished.stderr.replace(&root, "{root}");
            if finished.status != Some(self.status) {
                let (stdout, stderr) = (&finished.stdout, &finished.stderr);
                wrong.add(format!(
                    "status {:?}, not {}\nstdout:\n{stdout}stderr:\n{stderr}",
                    finished.status, self.status
                ));
            }
            for text in &self.stdout {
                wrong.unless(stdout.contains(text), || {
                    format!("no {text:?} in stdout:\n{stdout}")
                });
            }
            for text in &self.stdout_lacks {
                wrong.unless(!stdout.contains(text), || {
                    format!("{text:?} in stdout:\n{stdout}")
                });
            }
            let is_silent = self.status == 0 && self.stderr.is_empty();
            wrong.unless(!is_silent || stderr.is_empty(), || {
                format!("stderr:\n{stderr}")
            });
            for text in &self.stderr {
                wrong.unless(stderr.contains(text), || {
                    format!("no {text:?} in stderr:\n{stderr}")
                });
            }
        }
        for (id, expected) in &self.attempts {
            let found = packet.attempts(id);
            wrong.unless(found == *expected, || format!("attempts of {id}: {found}"));
        }
        for (id, expected) in &self.state {
            let found = packet.prompt(id);
            wrong.unless(holds(&found, expected), || {
                format!("state of {id}: {found}")
            });
        }
        if let Some(expected) = &self.progress {
            let found = packet.progress();
            wrong.unless(found == *expected, || format!("progress: {found:?}"));
        }
        if let Some(expected) = &self.run {
            let found = packet.generation();
            wrong.unless(holds(&found, expected), || format!("run: {found}"));
        }
        for (path, expected) in &self.files {
            let found = packet.read(path);
            wrong.unless(found == *expected, || format!("{path}: {found:?}"));
        }
        if let Some(expected) = self.commits {
            let found = packet.shell("git -C app rev-list --count HEAD");
            wrong.unless(found.trim() == expected.to_string(), || {
                format!("commits: {found}")
            });
        }
        if let Some(expected) = self.clean {
            let found = packet.shell("git -C app status --porcelain");
            wrong.unless(found.is_empty() == expected, || {
                format!("status of app: {found}")
            });
        }
        wrong.0
    }
}

struct Wrong(String);

impl Wrong {
    fn add(&mut self, what: String) {
        self.0 += &format!("    {}\n", what.trim_end().replace('\n', "\n    "));
    }

    fn unless(&mut self, fine: bool, what: impl FnOnce() -> String) {
        if !fine {
            self.add(what());
        }
    }
}

/// Whether a value holds all that is expected of it.
fn holds(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            expected.iter().all(|(key, value)| match found.get(key) {
                Some(found) => holds(found, value),
                None => value.is_null(),
            })
        }
        (Value::Array(found), Value::Array(expected)) => {
            found.len() == expected.len()
                && found
                    .iter()
                    .zip(expected)
                    .all(|(found, expected)| holds(found, expected))
        }
        // A hash is any.
        (Value::String(found), Value::String(expected)) if expected == "SHA" => found.len() == 40,
        (found, expected) => found == expected,
    }
}
