//! Every example prints what `examples/cases.yaml` says it prints.

#![allow(clippy::unwrap_used)]

mod case;
mod process;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// The files of the examples, as the command line of a case names them.
fn files(end: &str) -> BTreeSet<String> {
    fs::read_dir(examples())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(end) && name != "README.md")
        .map(|name| format!("examples/{name}"))
        .collect()
}

#[test]
fn every_example_prints_what_it_should() {
    let cases = case::read(&examples().join("cases.yaml"));
    case::run_all("examples", &cases, |folder| {
        fs::create_dir(folder.join("examples")).unwrap();
        for file in files(".md").union(&files(".script.yaml")) {
            fs::copy(examples().parent().unwrap().join(file), folder.join(file)).unwrap();
        }
    });
}

#[test]
fn every_example_has_a_case_and_a_line_in_the_table() {
    let cases = case::read(&examples().join("cases.yaml"));
    let ran: BTreeSet<&str> = cases
        .iter()
        .flat_map(|case| case.command.iter().map(String::as_str))
        .collect();
    let table = fs::read_to_string(examples().join("README.md")).unwrap();
    for script in files(".script.yaml") {
        assert!(ran.contains(script.as_str()), "{script} has no case");
    }
    for prompt in files(".md") {
        assert!(ran.contains(prompt.as_str()), "{prompt} has no case");
        let name = prompt.trim_start_matches("examples/");
        assert!(
            table.contains(&format!("| [{name}]({name}) |")),
            "{name} is not in the table"
        );
    }
}
