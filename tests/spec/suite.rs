//! Runs a directory of cases and reports every difference at once.

use std::fs;
use std::path::{Path, PathBuf};

use runvil::Prompt;
use runvil::prompt::Dialect;

use crate::case::{self, Case};
use crate::check::{self, Differences};
use crate::{observe, source};

/// The directory of all cases.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("spec/cases")
}

/// Runs the cases of one directory in their dialects; fails if any differs from what it says.
pub fn run(directory: &str) {
    let wanted = std::env::var("CASE").unwrap_or_default();
    let cases = load(directory);
    let mut failures = Vec::new();
    let (mut passed, mut pending) = (0, 0);
    for case in cases.iter().filter(|case| case.id.starts_with(&wanted)) {
        let dialect = Dialect::from(case.dialect);
        if let Some(reason) = &case.pending {
            println!("pending {} [{}]: {reason}", case.id, dialect.key());
        }
        let found = differences(case, dialect);
        match (&case.pending, found.is_empty()) {
            (None, true) => passed += 1,
            (Some(_), false) => pending += 1,
            (Some(reason), true) => failures.push(report(
                case,
                dialect,
                &[format!(
                    "is pending ({reason}) but passes: take `pending` away"
                )],
            )),
            (None, false) => failures.push(report(case, dialect, &found)),
        }
    }
    println!(
        "{directory}: {passed} passed, {pending} pending, {} failed",
        failures.len()
    );
    assert!(
        failures.is_empty(),
        "{} of the cases under spec/cases/{directory} failed:\n\n{}\n",
        failures.len(),
        failures.join("\n\n")
    );
}

/// All cases of a directory, in the order of its file names.
pub fn load(directory: &str) -> Vec<Case> {
    let mut files = entries(&root().join(directory));
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "yaml")
    });
    assert!(!files.is_empty(), "spec/cases/{directory} holds no cases");
    let mut cases = Vec::new();
    for file in files {
        match case::load(&file) {
            Ok(found) => cases.extend(found),
            Err(error) => panic!("{}: {error}", file.display()),
        }
    }
    cases
}

/// Fails where a directory of cases has no test that runs it.
pub fn assert_directories(tested: &[&str]) {
    for path in entries(&root()).into_iter().filter(|path| path.is_dir()) {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        assert!(
            tested.contains(&name.as_str()),
            "no test runs spec/cases/{name}"
        );
    }
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else {
        panic!("cannot read {}", directory.display());
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// What differs when the case runs in one dialect.
fn differences(case: &Case, dialect: Dialect) -> Vec<String> {
    let mut differences = Differences::default();
    if let Err(error) = compare(case, dialect, &mut differences) {
        differences.0.push(error);
    }
    differences.0
}

fn compare(case: &Case, dialect: Dialect, differences: &mut Differences) -> Result<(), String> {
    if let Some(path) = &case.elsewhere {
        let there = Path::new(env!("CARGO_MANIFEST_DIR")).join(path).is_file();
        return if there {
            Ok(())
        } else {
            Err(format!("{path} is not there"))
        };
    }
    let text = source::build(case, dialect)?;
    if case.looks_at_tree() {
        match Prompt::parse(&text, dialect) {
            Ok(prompt) => check::tree(case, &prompt, differences),
            Err(error) => differences.0.push(format!("does not parse: {error:?}")),
        }
    }
    if case.looks_at_run() {
        let seen = observe::run(case, dialect, &text)?;
        check::run(case, &text, &seen, differences);
    }
    Ok(())
}

fn report(case: &Case, dialect: Dialect, differences: &[String]) -> String {
    format!(
        "{} [{}] {}\n  {}",
        case.id,
        dialect.key(),
        case.about,
        differences.join("\n  ")
    )
}
