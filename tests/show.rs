//! `runvil show` (spec C16), through the real binary, on records of real runs.

#![allow(clippy::unwrap_used)]

mod process;

#[path = "show/forms.rs"]
mod forms;
#[path = "show/hostile.rs"]
mod hostile;
#[path = "show/hostile_record.rs"]
mod hostile_record;
#[path = "show/recorded.rs"]
mod recorded;
#[path = "show/size.rs"]
mod size;
#[path = "show/trace.rs"]
mod trace;
#[path = "show/tree.rs"]
mod tree;

use std::fs;
use std::process::Stdio;

use process::{Finished, finish, runvil};

/// Shows a record, which stands in a folder of its own.
pub fn show(record: &[u8], words: &[&str]) -> Finished {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("run.jsonl"), record).unwrap();
    let words = ["show", "run.jsonl"].iter().chain(words);
    let mut command = runvil(folder.path(), words);
    finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()), "")
}

/// What is printed about a record that can be shown.
#[track_caller]
pub fn shown(record: &[u8], words: &[&str]) -> String {
    let finished = show(record, words);
    assert_eq!(finished.stderr, "");
    assert_eq!(finished.status, Some(0));
    finished.stdout
}
