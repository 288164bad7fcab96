//! Cases of what is static as data; `spec/cases/09-packets/README.md` explains their keys.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use serde::Deserialize;
use serde_json::Value;

use crate::process::{Finished, finish, runvil};

/// The manifest of a case that has none of its own.
const MANIFEST: &str = "\
name: p
repos:
  app: {path: ../app, default: true}
provider: simulated
";

/// One case; its keys are explained beside the data.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub id: String,
    about: String,
    #[serde(default)]
    pub rules: Vec<String>,
    manifest: Option<String>,
    more: Option<String>,
    prompt: Option<String>,
    #[serde(default)]
    prompts: BTreeMap<String, String>,
    #[serde(default)]
    files: BTreeMap<String, Option<String>>,
    #[serde(default)]
    bytes: BTreeMap<String, String>,
    #[serde(default)]
    folders: Vec<String>,
    #[serde(default)]
    git: Vec<String>,
    #[serde(default)]
    links: BTreeMap<String, String>,
    #[serde(default)]
    fifos: Vec<String>,
    steps: Vec<Step>,
}

/// A command and what is expected of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    run: Vec<String>,
    cwd: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    status: i32,
    stdout: Option<String>,
    stdout_contains: Option<Vec<String>>,
    stdout_lacks: Option<Vec<String>>,
    stderr: Option<String>,
    stderr_contains: Option<Vec<String>>,
    json: Option<Value>,
    #[serde(default)]
    files_after: BTreeMap<String, Option<String>>,
    #[serde(default)]
    files_contain: BTreeMap<String, Vec<String>>,
}

/// The cases of all files.
pub fn read_all() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("spec/cases/09-packets");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    // Contracts and runs have suites of their own.
    files.retain(|file| {
        let name = file.file_name().unwrap().to_string_lossy();
        name.starts_with("static-") && name.ends_with(".yaml")
    });
    let read = |file: &PathBuf| -> Vec<Case> {
        let text = fs::read_to_string(file).unwrap();
        serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    files.iter().flat_map(read).collect()
}

/// Runs all cases, or those whose id starts with what the variable `CASE` says. Fails with a
/// report of all that went wrong.
pub fn run_all() {
    let chosen = env::var("CASE").unwrap_or_default();
    let cases = read_all();
    let mut ran = 0;
    let mut failed = 0;
    let mut report = String::new();
    for case in cases.iter().filter(|case| case.id.starts_with(&chosen)) {
        ran += 1;
        let wrong = case.run();
        if !wrong.is_empty() {
            failed += 1;
            let rules = case.rules.join(", ");
            report += &format!("\n{} ({rules}): {}\n{wrong}", case.id, case.about);
        }
    }
    println!("09-packets: {} passed, {failed} failed", ran - failed);
    assert!(
        report.is_empty(),
        "{failed} of {ran} cases failed:\n{report}"
    );
}

impl Case {
    /// Runs the case; gives what is wrong, or nothing.
    fn run(&self) -> String {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        self.furnish(&folder);
        let mut wrong = String::new();
        if self.steps.is_empty() {
            wrong += "  no steps\n";
        }
        for (at, step) in self.steps.iter().enumerate() {
            let found = step.run(&folder);
            if !found.is_empty() {
                wrong += &format!("  step {}: {:?}\n{found}", at + 1, step.run);
            }
        }
        wrong
    }

    fn furnish(&self, folder: &Path) {
        for name in &self.folders {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        for name in &self.git {
            repository(&folder.join(name));
        }
        let mut texts: BTreeMap<String, Option<String>> = BTreeMap::new();
        let own = self.manifest.as_deref().unwrap_or(MANIFEST);
        let more = self.more.as_deref().unwrap_or_default();
        let manifest = format!("---\n{own}{more}---\n# P\n");
        texts.insert("p/prompt_runner_packet.md".to_owned(), Some(manifest));
        if let Some(keys) = &self.prompt {
            let text = format!(
                "---\nid: \"01\"\ntargets: [app]\ncommit: \"chore: step\"\n{keys}---\n# Step\n\nDo it.\n"
            );
            texts.insert("p/prompts/01_step.prompt.md".to_owned(), Some(text));
        }
        for (name, text) in &self.prompts {
            texts.insert(format!("p/prompts/{name}"), Some(text.clone()));
        }
        texts.extend(self.files.clone());
        for (name, text) in texts {
            if let Some(text) = text {
                write(&folder.join(name), text.as_bytes());
            }
        }
        for (name, hex) in &self.bytes {
            write(&folder.join(name), &unhex(hex));
        }
        for (name, target) in &self.links {
            let link = folder.join(name);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(target, link).unwrap();
        }
        for name in &self.fifos {
            let fifo = folder.join(name);
            fs::create_dir_all(fifo.parent().unwrap()).unwrap();
            assert!(Command::new("mkfifo").arg(fifo).status().unwrap().success());
        }
    }
}

fn write(file: &Path, bytes: &[u8]) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, bytes).unwrap();
}

/// Gives git somebody to commit as.
pub fn with_name(command: &mut Command) {
    for (name, value) in [("NAME", "t"), ("EMAIL", "t@example.com")] {
        command.env(format!("GIT_AUTHOR_{name}"), value);
        command.env(format!("GIT_COMMITTER_{name}"), value);
    }
}

/// Makes a git repository with one commit, of a README.
pub fn repository(folder: &Path) {
    write(&folder.join("README.md"), b"# Repo\n");
    for words in [
        &["init", "-q", "-b", "main"][..],
        &["add", "-A"],
        &[
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.com",
            "commit",
            "-q",
            "-m",
            "start",
        ],
    ] {
        let git = Command::new("git").args(words).current_dir(folder).status();
        assert!(git.unwrap().success());
    }
}

impl Step {
    fn run(&self, folder: &Path) -> String {
        let cwd = folder.join(self.cwd.as_deref().unwrap_or("p"));
        let own = ["packet".to_owned()];
        let words = self.run.iter().map(|word| filled(word, folder));
        let mut command = runvil(&cwd, own.into_iter().chain(words));
        with_name(&mut command);
        for (name, value) in &self.env {
            command.env(name, filled(value, folder));
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        self.compare(&finish(&mut command, ""), folder)
    }

    fn compare(&self, finished: &Finished, folder: &Path) -> String {
        let mut wrong = String::new();
        if finished.status != Some(self.status) {
            wrong += &format!("    status: {:?}, not {}\n", finished.status, self.status);
        }
        let is_silent = self.json.is_some() || self.stdout_lacks.is_some();
        let streams = [
            (
                "stdout",
                &finished.stdout,
                self.stdout.as_deref().or((!is_silent).then_some("")),
                &self.stdout_contains,
            ),
            (
                "stderr",
                &finished.stderr,
                Some(self.stderr.as_deref().unwrap_or_default()),
                &self.stderr_contains,
            ),
        ];
        for (name, found, whole, parts) in streams {
            let parts: Option<Vec<String>> = parts
                .as_ref()
                .map(|parts| parts.iter().map(|part| filled(part, folder)).collect());
            let whole = whole.map(|whole| filled(whole, folder));
            let right = match (&parts, &whole) {
                (Some(parts), _) => holds_in_order(found, parts),
                (None, Some(whole)) => found == whole,
                (None, None) => true,
            };
            if !right {
                let wanted = match parts {
                    Some(parts) => format!("{parts:?} in it"),
                    None => format!("{whole:?}"),
                };
                wrong += &format!("    {name}: {found:?}\n    wanted: {wanted}\n");
            }
        }
        for lacked in self.stdout_lacks.iter().flatten() {
            if finished.stdout.contains(&filled(lacked, folder)) {
                wrong += &format!("    stdout holds {lacked:?}: {:?}\n", finished.stdout);
            }
        }
        if let Some(wanted) = &self.json {
            match serde_json::from_str(&finished.stdout) {
                Ok(found) => differences(&found, wanted, "", folder, &mut wrong),
                Err(error) => wrong += &format!("    no JSON: {error}: {:?}\n", finished.stdout),
            }
        }
        for (name, wanted) in &self.files_after {
            let found = fs::read_to_string(folder.join(name)).ok();
            if found != *wanted {
                wrong += &format!("    {name}: {found:?}, not {wanted:?}\n");
            }
        }
        for (name, parts) in &self.files_contain {
            let found = fs::read_to_string(folder.join(name)).unwrap_or_default();
            if !holds_in_order(&found, parts) {
                wrong += &format!("    {name}: {found:?}\n    wanted: {parts:?} in it\n");
            }
        }
        wrong
    }
}

/// What of a value is not as wanted: of a map the wanted keys alone are looked at.
fn differences(found: &Value, wanted: &Value, at: &str, folder: &Path, wrong: &mut String) {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => {
            for (key, wanted) in wanted {
                let found = found.get(key).unwrap_or(&Value::Null);
                differences(found, wanted, &format!("{at}.{key}"), folder, wrong);
            }
        }
        (Value::Array(found), Value::Array(wanted)) if found.len() == wanted.len() => {
            for (index, (found, wanted)) in found.iter().zip(wanted).enumerate() {
                differences(found, wanted, &format!("{at}[{index}]"), folder, wrong);
            }
        }
        (Value::String(found), Value::String(wanted)) if *found == filled(wanted, folder) => {}
        (found, wanted) if found == wanted => {}
        (found, wanted) => *wrong += &format!("    {at}: {found}, not {wanted}\n"),
    }
}

/// A text with the case's folder in the place of `{dir}`.
fn filled(text: &str, folder: &Path) -> String {
    text.replace("{dir}", &folder.to_string_lossy())
}

/// Whether the parts stand in the text, one after the other.
fn holds_in_order(text: &str, parts: &[String]) -> bool {
    let mut rest = text;
    parts
        .iter()
        .all(|part| match rest.split_once(part.as_str()) {
            Some((_, after)) => {
                rest = after;
                true
            }
            None => false,
        })
}

fn unhex(hex: &str) -> Vec<u8> {
    hex.split_whitespace()
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect()
}
