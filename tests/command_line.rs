//! The command line, through the real binary (spec part 08). The cases are data:
//! `spec/cases/08-command-line/`.

#![allow(clippy::unwrap_used)]

mod process;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::{env, fs, io};

use process::{Finished, finish, runvil};
use serde::Deserialize;

/// One case; its keys are explained beside the data.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    about: String,
    rules: Vec<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    bytes: BTreeMap<String, String>,
    #[serde(default)]
    folders: Vec<String>,
    command: Vec<String>,
    #[serde(default)]
    stdin: String,
    #[serde(default)]
    env: BTreeMap<String, String>,
    closed: Option<Stream>,
    status: i32,
    stdout: Option<String>,
    stdout_contains: Option<Vec<String>>,
    stderr: Option<String>,
    stderr_contains: Option<Vec<String>>,
    #[serde(default)]
    files_after: BTreeMap<String, Option<String>>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Stream {
    Stdout,
    Stderr,
}

#[test]
fn cases() {
    let chosen = env::var("CASE").unwrap_or_default();
    let cases: Vec<Case> = cases_of_part()
        .into_iter()
        .filter(|case| case.id.starts_with(&chosen))
        .collect();
    assert!(!cases.is_empty(), "no case's id starts with `{chosen}`");
    let mut failures = String::new();
    let mut failed = 0;
    for case in &cases {
        let wrong = case.run();
        if !wrong.is_empty() {
            failed += 1;
            let rules = case.rules.join(", ");
            failures += &format!("\n{} ({rules}): {}\n{wrong}", case.id, case.about);
        }
    }
    println!("{} cases passed, {failed} failed", cases.len() - failed);
    assert!(
        failures.is_empty(),
        "{failed} of {} cases failed:\n{failures}",
        cases.len()
    );
}

#[test]
fn ids_are_unique_and_the_rules_of_this_stage_are_covered() {
    let cases = cases_of_part();
    let ids: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids.len(), cases.len(), "two cases share an id");
    let cited: BTreeSet<&str> = cases
        .iter()
        .flat_map(|case| case.rules.iter().map(String::as_str))
        .collect();
    for rule in ["C1", "C2", "C3", "C4", "C5", "C6", "C7", "C10"] {
        assert!(cited.contains(rule), "no case shows {rule}");
    }
}

fn cases_of_part() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("spec/cases/08-command-line");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "yaml")
    });
    files
        .iter()
        .flat_map(|file| -> Vec<Case> {
            let text = fs::read_to_string(file).unwrap();
            serde_yaml::from_str(&text)
                .unwrap_or_else(|error| panic!("{}: {error}", file.display()))
        })
        .collect()
}

impl Case {
    /// Runs the case; gives what is wrong, or nothing.
    fn run(&self) -> String {
        let folder = tempfile::tempdir().unwrap();
        self.furnish(folder.path());
        let mut command = runvil(folder.path(), &self.command);
        command.envs(&self.env);
        command
            .stdout(self.stream(Stream::Stdout))
            .stderr(self.stream(Stream::Stderr));
        let finished = finish(&mut command, &self.stdin);
        self.compare(&finished, folder.path())
    }

    fn furnish(&self, folder: &Path) {
        for name in &self.folders {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        let bytes = self.bytes.iter().map(|(name, hex)| (name, unhex(hex)));
        let texts = self
            .files
            .iter()
            .map(|(name, text)| (name, text.clone().into_bytes()));
        for (name, content) in texts.chain(bytes) {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, content).unwrap();
        }
    }

    /// A pipe to collect a stream, or one whose reader has gone.
    fn stream(&self, stream: Stream) -> Stdio {
        if self.closed != Some(stream) {
            return Stdio::piped();
        }
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        writer.into()
    }

    fn compare(&self, finished: &Finished, folder: &Path) -> String {
        let mut wrong = String::new();
        if finished.status != Some(self.status) {
            wrong += &format!("  status: {:?}, not {}\n", finished.status, self.status);
        }
        let streams = [
            (
                "stdout",
                &finished.stdout,
                &self.stdout,
                &self.stdout_contains,
            ),
            (
                "stderr",
                &finished.stderr,
                &self.stderr,
                &self.stderr_contains,
            ),
        ];
        for (name, found, whole, parts) in streams {
            let whole = whole.as_deref().unwrap_or_default();
            let right = match parts {
                Some(parts) => holds_in_order(found, parts),
                None => found == whole,
            };
            if !right {
                let wanted = match parts {
                    Some(parts) => format!("{parts:?} in it"),
                    None => format!("{whole:?}"),
                };
                wrong += &format!("  {name}:  {found:?}\n  wanted:  {wanted}\n");
            }
        }
        for (name, wanted) in &self.files_after {
            let found = fs::read_to_string(folder.join(name)).ok();
            if found != *wanted {
                wrong += &format!("  {name}: {found:?}, not {wanted:?}\n");
            }
        }
        wrong
    }
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
