//! The command line, through the real binary (spec part 08). The cases are data:
//! `spec/cases/08-command-line/`.

#![allow(clippy::unwrap_used)]

mod case;
mod process;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use case::Case;
use process::{finish, runvil};

#[test]
fn cases() {
    case::run_all("08-command-line", &cases_of_part(), |_| {});
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
    for rule in [
        "C1", "C2", "C3", "C4", "C5", "C6", "C6a", "C7", "C8", "C9", "C10", "C11", "C12",
    ] {
        assert!(cited.contains(rule), "no case shows {rule}");
    }
}

/// A file of NUL bytes takes no room on the disk.
#[test]
fn a_prompt_file_is_read_up_to_64_mib() {
    let folder = tempfile::tempdir().unwrap();
    let check = |length| {
        let file = File::create(folder.path().join("big.md")).unwrap();
        file.set_len(length).unwrap();
        let mut command = runvil(folder.path(), ["run", "big.md"]);
        let finished = finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()), "");
        (finished.status, finished.stderr)
    };
    let read = "error[Parse/Frontmatter]: file must begin with a --- frontmatter delimiter\n \
                --> big.md\n";
    assert_eq!(check(64 << 20), (Some(1), read.to_owned()));
    let refused = "error: cannot read `big.md`: it is larger than 64 MiB\n";
    assert_eq!(check((64 << 20) + 1), (Some(2), refused.to_owned()));
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
