//! Cases as data; `spec/cases/09-packets/contract.md` explains the keys of `contract-*.yaml`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use runvil::harness::CancelToken;
use runvil::packet::contract::evaluate;
use runvil::packet::{Mapping, Value};
use serde::Deserialize;
use serde_json::Value as Json;

use crate::fixture::Fixture;

/// One case.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub id: String,
    about: String,
    pub rules: Vec<String>,
    #[serde(default = "app")]
    repos: Vec<String>,
    targets: Option<Vec<String>>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    script: String,
    verify: Option<Mapping>,
    items: Vec<BTreeMap<String, Json>>,
    #[serde(default)]
    faults: Vec<String>,
    within_ms: Option<u64>,
    #[serde(default)]
    files_after: BTreeMap<String, Option<String>>,
    unchanged: Option<String>,
}

fn app() -> Vec<String> {
    vec!["app".to_owned()]
}

/// All cases, variants each by itself.
pub fn all() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("spec/cases/09-packets");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with("contract-") && name.ends_with(".yaml")
        })
        .collect();
    files.sort();
    files.iter().flat_map(|file| read(file)).collect()
}

fn read(file: &Path) -> Vec<Case> {
    let text = fs::read_to_string(file).unwrap();
    let maps: Vec<Mapping> =
        serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut cases = Vec::new();
    for mut map in maps {
        let variants = match map.remove("variants") {
            Some(variants) => variants.as_sequence().unwrap().clone(),
            None => vec![Value::Mapping(Mapping::new())],
        };
        let is_one = variants.len() == 1;
        for (at, variant) in variants.iter().enumerate() {
            let mut map = map.clone();
            map.extend(variant.as_mapping().unwrap().clone());
            let mut case: Case = serde_yaml::from_value(Value::Mapping(map.clone()))
                .unwrap_or_else(|error| panic!("{}: {error}: {map:?}", file.display()));
            if !is_one {
                case.id += &format!("#{}", at + 1);
            }
            cases.push(case);
        }
    }
    cases
}

#[test]
fn the_cases_hold() {
    let chosen = env::var("CASE").unwrap_or_default();
    let cases = all();
    let mut ids = BTreeSet::new();
    for case in &cases {
        assert!(ids.insert(&case.id), "{} is there twice", case.id);
    }
    let cases: Vec<&Case> = cases
        .iter()
        .filter(|case| case.id.starts_with(&chosen))
        .collect();
    let (ran, next) = (cases.len(), AtomicUsize::new(0));
    let run_some = || {
        let mut report = Vec::new();
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let wrong = case.run();
            if !wrong.is_empty() {
                let rules = case.rules.join(", ");
                report.push(format!("\n{} ({rules}): {}\n{wrong}", case.id, case.about));
            }
        }
        report
    };
    // Most of a case's time is waiting for processes.
    let mut report = thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(run_some)).collect();
        let reports = workers.into_iter().map(|worker| worker.join().unwrap());
        reports.flatten().collect::<Vec<_>>()
    });
    report.sort();
    let report = report.concat();
    println!("{ran} contracts checked");
    assert!(ran > 0, "no case is chosen");
    assert!(report.is_empty(), "cases failed:\n{report}");
}

impl Case {
    /// Runs the case; gives what is wrong, or nothing.
    fn run(&self) -> String {
        let targets = self.targets.clone();
        let targets = targets.unwrap_or_else(|| self.repos.iter().take(1).cloned().collect());
        let fixture = Fixture::new(&self.repos, &targets);
        for (path, text) in &self.files {
            fixture.write(path, text);
        }
        let mut words = vec![("{dir}".to_owned(), fixture.root().display().to_string())];
        for repo in &self.repos {
            let path = fixture.root().join(repo);
            words.push((format!("{{{repo}}}"), path.display().to_string()));
        }
        let root = fixture.scope.root.display().to_string();
        words.push(("{root}".to_owned(), root));
        fixture.shell(&filled(&self.script, &words));
        for repo in &self.repos {
            if fixture.path(&format!("{repo}/.git")).exists() {
                words.push((format!("{{head:{repo}}}"), fixture.head(repo)));
            }
        }
        let verify = self.verify.as_ref().map(|verify| {
            let text = filled(&serde_yaml::to_string(verify).unwrap(), &words);
            serde_yaml::from_str::<Mapping>(&text).unwrap()
        });
        let before = self.unchanged.as_ref().map(|script| fixture.shell(script));
        let begun = Instant::now();
        let report = evaluate(
            &fixture.scope,
            "01",
            verify.as_ref(),
            &CancelToken::default(),
        );
        let took = begun.elapsed();
        let report = report.unwrap();

        let mut wrong = String::new();
        let items = serde_json::to_value(&report.items).unwrap();
        let items = items.as_array().unwrap();
        if items.len() != self.items.len() {
            writeln!(wrong, "  {} items, not {}", items.len(), self.items.len()).unwrap();
        }
        for (at, (item, expected)) in items.iter().zip(&self.items).enumerate() {
            for (key, expected) in expected {
                let expected: Json = serde_json::from_str(&filled_json(expected, &words)).unwrap();
                let (key, found) = match key.strip_suffix("_starts") {
                    Some(key) => (key, starts(item.get(key), &expected)),
                    None => (key.as_str(), item.get(key) == Some(&expected)),
                };
                if !found {
                    let found = item.get(key).cloned().unwrap_or_default();
                    writeln!(wrong, "  item {at} {key}: {found}\n  expected: {expected}").unwrap();
                }
            }
        }
        let faults: Vec<String> = report
            .faults()
            .filter_map(|item| item.fault_line())
            .collect();
        let expected: Vec<String> = self
            .faults
            .iter()
            .map(|line| filled(line, &words))
            .collect();
        if !self.faults.is_empty() && faults != expected {
            writeln!(wrong, "  faults: {faults:#?}\n  expected: {expected:#?}").unwrap();
        }
        if let Some(ms) = self.within_ms
            && took > Duration::from_millis(ms)
        {
            writeln!(wrong, "  took {took:?}").unwrap();
        }
        for (path, text) in &self.files_after {
            let found = fixture.read(path);
            if found != *text {
                writeln!(wrong, "  {path}: {found:?}, not {text:?}").unwrap();
            }
        }
        if let (Some(before), Some(script)) = (before, &self.unchanged) {
            let after = fixture.shell(script);
            if before != after {
                writeln!(wrong, "  {script}: {before:?} before, {after:?} after").unwrap();
            }
        }
        wrong
    }
}

fn starts(found: Option<&Json>, expected: &Json) -> bool {
    let found = found.and_then(Json::as_str).unwrap_or_default();
    found.starts_with(expected.as_str().unwrap())
}

/// A text with these words put in.
fn filled(text: &str, words: &[(String, String)]) -> String {
    let mut text = text.to_owned();
    for (word, value) in words {
        text = text.replace(word, value);
    }
    text
}

fn filled_json(value: &Json, words: &[(String, String)]) -> String {
    filled(&value.to_string(), words)
}
