//! `source_absent`: lines that no source may hold (spec P55).

use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use regex::Regex;
use serde_json::{Value, json};

use super::Interrupted;
use super::entry::{Entry, Place};
use super::pattern;
use super::read;
use super::verdict::{LIST_CAP, Verdict};
use crate::harness::CancelToken;

/// Names that are skipped at any depth.
const PRUNED: [&str; 7] = [
    ".git",
    "_build",
    "deps",
    "node_modules",
    ".elixir_ls",
    "cover",
    "target",
];

/// How many findings the details name.
const SHOWN: usize = 10;
/// The most bytes of a finding's text.
const TEXT_CAP: usize = 1 << 10;
/// The most bytes that are looked at as one line; the rest of a longer one is the next.
const LINE_CAP: u64 = 16 << 20;

/// A line that a pattern matches.
struct Finding {
    file: String,
    line: usize,
    pattern: String,
    text: String,
}

/// A scan of files for lines.
struct Scan<'a> {
    patterns: Vec<(String, Regex)>,
    extensions: Vec<String>,
    pruned: Vec<String>,
    cancel: &'a CancelToken,
    files_checked: usize,
    count: usize,
    findings: Vec<Finding>,
    /// What could not be read, and why.
    unread: Vec<String>,
}

/// No line below the path matches any of the patterns.
pub(super) fn source_absent(
    entry: Entry<'_>,
    place: &Place,
    cancel: &CancelToken,
) -> Result<Verdict, Interrupted> {
    let given = entry.texts(&["patterns", "pattern"]);
    if given.is_empty() {
        let details = "source_absent requires at least one pattern";
        return Ok(finish(Verdict::fail(details), 0, Vec::new()));
    }
    let mut patterns = Vec::new();
    for text in given {
        match pattern::compile(&text) {
            Ok(compiled) => patterns.push((text, compiled)),
            Err(error) => return Ok(error.into()),
        }
    }
    let Ok(known) = fs::metadata(&place.resolved) else {
        let verdict = Verdict::fail("source path is missing");
        return Ok(finish(verdict, 0, Vec::new()));
    };
    let extensions = entry.texts(&["extensions"]).into_iter();
    let mut scan = Scan {
        patterns,
        extensions: extensions
            .map(|extension| format!(".{}", extension.trim_start_matches('.')))
            .collect(),
        pruned: entry.texts(&["prune"]),
        cancel,
        files_checked: 0,
        count: 0,
        findings: Vec::new(),
        unread: Vec::new(),
    };
    match known.is_dir() {
        true => scan.folder(&place.resolved)?,
        false => {
            if let Err(error) = read::open(&place.resolved)
                && let Some(verdict) = error.verdict(place)
            {
                return Ok(finish(verdict, 0, Vec::new()));
            }
            let name = place.resolved.file_name().unwrap_or_default();
            scan.file(&place.resolved, &name.to_string_lossy())?;
        }
    }
    Ok(scan.verdict())
}

fn finish(verdict: Verdict, files_checked: usize, findings: Vec<Value>) -> Verdict {
    verdict
        .with("files_checked", files_checked)
        .with("findings", findings)
}

impl Scan<'_> {
    /// Looks through the files below a folder, in the order of their names.
    fn folder(&mut self, top: &Path) -> Result<(), Interrupted> {
        let mut pending = vec![(top.to_owned(), String::new())];
        while let Some((path, below)) = pending.pop() {
            if self.cancel.is_cancelled() {
                return Err(Interrupted);
            }
            match fs::symlink_metadata(&path) {
                // A link to a folder is not entered.
                Ok(known) if known.is_dir() || below.is_empty() => {
                    match self.children(&path, &below) {
                        Ok(children) => pending.extend(children.into_iter().rev()),
                        Err(error) => self.could_not(&below, &error),
                    }
                }
                Ok(_) if self.wants(&path) => self.file(&path, &below)?,
                Ok(_) => {}
                Err(error) => self.could_not(&below, &error),
            }
        }
        Ok(())
    }

    /// What is in a folder and not skipped, in byte order: where it is, and its path below the top.
    fn children(&self, folder: &Path, below: &str) -> io::Result<Vec<(PathBuf, String)>> {
        let mut children = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if self.is_pruned(&name) {
                continue;
            }
            let name = name.to_string_lossy();
            let below = match below.is_empty() {
                true => name.into_owned(),
                false => format!("{below}/{name}"),
            };
            children.push((entry.path(), below));
        }
        children.sort();
        Ok(children)
    }

    fn is_pruned(&self, name: &OsStr) -> bool {
        PRUNED.iter().any(|pruned| name == *pruned)
            || self.pruned.iter().any(|one| name == one.as_str())
    }

    /// Whether a path leads to a regular file of the extensions.
    fn wants(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let ends = |extension: &String| name.len() > extension.len() && name.ends_with(extension);
        let has = self.extensions.is_empty() || self.extensions.iter().any(ends);
        has && path.is_file()
    }

    /// Looks through a file, which the findings call `name`.
    fn file(&mut self, path: &Path, name: &str) -> Result<(), Interrupted> {
        let file = match read::open(path) {
            Ok(file) => file,
            Err(error) => {
                self.unread.push(format!("{name}: {}", error.cause()));
                return Ok(());
            }
        };
        self.files_checked += 1;
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        let mut number = 1;
        loop {
            if self.cancel.is_cancelled() {
                return Err(Interrupted);
            }
            line.clear();
            match reader.by_ref().take(LINE_CAP).read_until(b'\n', &mut line) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) => {
                    self.could_not(name, &error);
                    return Ok(());
                }
            }
            let is_whole = line.last() == Some(&b'\n');
            let text = String::from_utf8_lossy(&line);
            self.line(name, number, text.trim_end_matches(['\n', '\r']));
            number += usize::from(is_whole);
        }
    }

    fn line(&mut self, file: &str, line: usize, text: &str) {
        for (pattern, compiled) in &self.patterns {
            if !compiled.is_match(text) {
                continue;
            }
            self.count += 1;
            if self.findings.len() < LIST_CAP {
                self.findings.push(Finding {
                    file: file.to_owned(),
                    line,
                    pattern: pattern.clone(),
                    text: beginning(text.trim()).to_owned(),
                });
            }
        }
    }

    fn could_not(&mut self, path: &str, error: &io::Error) {
        let path = if path.is_empty() { "." } else { path };
        self.unread.push(format!("{path}: {}", read::cause(error)));
    }

    fn verdict(self) -> Verdict {
        let mut problems = Vec::new();
        if self.count > 0 {
            let shown = self.findings.iter().take(SHOWN);
            let shown: Vec<String> = shown
                .map(|found| format!("{}:{}", found.file, found.line))
                .collect();
            let mut problem = format!(
                "{} forbidden source match(es): {}",
                self.count,
                shown.join(", ")
            );
            if self.count > SHOWN {
                problem += &format!(", and {} more", self.count - SHOWN);
            }
            problems.push(problem);
        }
        if let Some(first) = self.unread.first() {
            problems.push(format!("{} unreadable: {first}", self.unread.len()));
        }
        let findings = self.findings.iter().map(|found| {
            json!({
                "file": found.file,
                "line": found.line,
                "pattern": found.pattern,
                "text": found.text,
            })
        });
        let findings = findings.collect();
        finish(
            Verdict::of_problems(&problems, "ok"),
            self.files_checked,
            findings,
        )
    }
}

/// The first bytes of a text.
fn beginning(text: &str) -> &str {
    let end = text.len().min(TEXT_CAP);
    let end = (0..=end).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}
