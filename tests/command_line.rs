//! The command line, through the real binary (spec part 08). The cases are data:
//! `spec/cases/08-command-line/`.

#![allow(clippy::unwrap_used)]

mod case;
mod process;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use case::Case;

#[test]
fn cases() {
    case::run_all(&cases_of_part(), |_| {});
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
    files.iter().flat_map(|file| case::read(file)).collect()
}
