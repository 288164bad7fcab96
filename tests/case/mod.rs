//! Cases of the command line as data; `spec/cases/08-command-line/README.md` explains their keys.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::{env, fs, io};

use serde::Deserialize;

use crate::process::{Finished, finish, runvil};

/// One case; its keys are explained beside the data of part 08.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub id: String,
    about: String,
    #[serde(default)]
    pub rules: Vec<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    bytes: BTreeMap<String, String>,
    #[serde(default)]
    folders: Vec<String>,
    pub command: Vec<String>,
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

/// The cases of a file.
pub fn read(file: &Path) -> Vec<Case> {
    let text = fs::read_to_string(file).unwrap();
    serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Runs the cases of a title, or those whose id starts with what the variable `CASE` says, each in a folder
/// of its own that `furnish` has prepared. Fails with a report of all that went wrong.
pub fn run_all(title: &str, cases: &[Case], furnish: impl Fn(&Path)) {
    let chosen = env::var("CASE").unwrap_or_default();
    let mut ran = 0;
    let mut failed = 0;
    let mut report = String::new();
    for case in cases.iter().filter(|case| case.id.starts_with(&chosen)) {
        ran += 1;
        let wrong = case.run(&furnish);
        if !wrong.is_empty() {
            failed += 1;
            let rules = case.rules.join(", ");
            report += &format!("\n{} ({rules}): {}\n{wrong}", case.id, case.about);
        }
    }
    println!("{title}: {} passed, {failed} failed", ran - failed);
    assert!(
        report.is_empty(),
        "{failed} of {ran} cases failed:\n{report}"
    );
}

impl Case {
    /// Runs the case; gives what is wrong, or nothing.
    fn run(&self, furnish: impl Fn(&Path)) -> String {
        let folder = tempfile::tempdir().unwrap();
        furnish(folder.path());
        self.furnish(folder.path());
        let mut command = runvil(folder.path(), &self.command);
        command.envs(&self.env);
        command
            .stdout(self.stream(Stream::Stdout))
            .stderr(self.stream(Stream::Stderr));
        let finished = finish(&mut command, &self.stdin);
        self.compare(&finished, folder.path()) + &self.record(furnish)
    }

    /// Runs the case once more with a record, where it is a run without one, and replays that
    /// (case 07/2). Gives what is wrong, or nothing.
    fn record(&self, furnish: impl Fn(&Path)) -> String {
        let is_recorded = |word: &String| word.starts_with("--record");
        let words = match self.command.split_first() {
            Some((run, words)) if run == "run" && !words.iter().any(is_recorded) => words,
            _ => return String::new(),
        };
        let folder = tempfile::tempdir().unwrap();
        furnish(folder.path());
        self.furnish(folder.path());
        let record = tempfile::tempdir().unwrap();
        let record = record.path().join("r");
        let mut command = runvil(folder.path(), ["run", "--record"]);
        command.arg(&record).args(words).envs(&self.env);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let recorded = finish(&mut command, &self.stdin);
        if recorded.status != Some(self.status) {
            return format!("  recorded: {recorded:?}\n");
        }
        if !record.exists() {
            return String::new();
        }
        let mut command = runvil(folder.path(), ["replay"]);
        command.arg(&record);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let replayed = finish(&mut command, "");
        match replayed.status {
            Some(0) => String::new(),
            _ => format!("  replayed: {replayed:?}\n"),
        }
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
