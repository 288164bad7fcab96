//! Every rule of part 09 has a case or a test that names it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::case;

/// Rules that nothing can show: what a provider is given is seen in what each of them does with it,
/// and what is left out is not there to be tested.
const NOT_SHOWN: [&str; 2] = ["P124", "P151"];

#[test]
fn ids_are_unique() {
    let cases = case::read_all();
    let ids: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids.len(), cases.len(), "two cases share an id");
}

/// Every file of cases is one that a suite reads.
#[test]
fn every_file_of_cases_is_read() {
    for file in files(&home("spec/cases/09-packets"), "yaml") {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let suites = ["static-", "life-", "contract-"];
        let is_read = suites.iter().any(|suite| name.starts_with(suite)) || name == "matrix.yaml";
        assert!(is_read, "{name} is no suite's");
    }
}

#[test]
fn every_rule_is_shown() {
    let mut shown: BTreeSet<String> = NOT_SHOWN.map(str::to_owned).into();
    for file in files(&home("spec/cases/09-packets"), "yaml") {
        let text = fs::read_to_string(file).unwrap();
        let lists = text
            .lines()
            .filter(|line| line.trim().starts_with("rules:"));
        lists.for_each(|line| cite(line, &mut shown));
    }
    for folder in ["tests/packets", "tests/packet_run", "tests/contract"] {
        for file in files(&home(folder), "rs") {
            cite_tests(&fs::read_to_string(file).unwrap(), &mut shown);
        }
    }
    for file in files(&home("src/packet"), "rs") {
        let text = fs::read_to_string(&file).unwrap();
        let tests = match file.ends_with("tests.rs") {
            true => Some(text.as_str()),
            false => text.split_once("#[cfg(test)]").map(|(_, tests)| tests),
        };
        cite_tests(tests.unwrap_or_default(), &mut shown);
    }
    let spec = fs::read_to_string(home("spec/09-packets.md")).unwrap();
    let rules = spec.lines().filter_map(|line| line.strip_prefix("**P"));
    let rules = rules.filter_map(|line| line.split(['.', ' ']).next());
    let rules: Vec<String> = rules.map(|rule| format!("P{rule}")).collect();
    assert!(rules.len() > 150, "{rules:?}");
    let missing: Vec<&String> = rules.iter().filter(|it| !shown.contains(*it)).collect();
    assert!(missing.is_empty(), "no case and no test shows {missing:?}");
}

/// The rules that the comment of a test names; those of a whole file say too little.
fn cite_tests(text: &str, shown: &mut BTreeSet<String>) {
    let comments = text.lines().map(str::trim);
    let comments = comments.filter(|line| line.starts_with("/// "));
    comments.for_each(|line| cite(line, shown));
}

/// Adds each rule that a line names.
fn cite(line: &str, shown: &mut BTreeSet<String>) {
    let words = line.split(|letter: char| !letter.is_ascii_alphanumeric());
    let is_rule = |word: &&str| {
        let number = word.strip_prefix('P').unwrap_or_default();
        number.starts_with(|first: char| first.is_ascii_digit())
    };
    shown.extend(words.filter(is_rule).map(str::to_owned));
}

fn home(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The files of an extension in a folder and below it.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|it| it == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}
