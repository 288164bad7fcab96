//! An entry of `commands`, read (spec P59, P60, P66, P67).

use std::path::{Path, PathBuf};

use regex::Regex;
use serde_json::json;
use serde_yaml::Value as Yaml;

use super::program::Program;
use super::{NONE, program};
use crate::packet::command_line::{Written, line, word};
use crate::packet::contract::entry::{Entry, list};
use crate::packet::contract::inside::{clean, is_inside};
use crate::packet::contract::pattern;
use crate::packet::contract::scope::Scope;
use crate::packet::contract::verdict::Verdict;
use crate::packet::environment::is_variable;
use crate::packet::resolve::resolve;

/// How long a structured command has, in milliseconds, unless its entry says otherwise.
const STRUCTURED_MS: u64 = 30_000;
/// How long a shell command has.
const LEGACY_MS: u64 = 3_600_000;

/// What an argument starts with that is a place in a repo.
const REPO: &str = "@repo:";

/// How a command is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// A program and its arguments.
    Structured,
    /// A text for a shell.
    LegacyShell,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::Structured => "structured",
            Self::LegacyShell => "legacy_shell",
        }
    }
}

/// A command as its entry has it, with every place in it resolved.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) mode: Mode,
    /// The command as text.
    command: String,
    /// The program as written, and its arguments.
    pub(super) argv: Vec<String>,
    /// Whether the program was written as a place in a repo.
    is_repo_program: bool,
    /// The folder of the repo.
    root: PathBuf,
    /// Where it runs.
    pub(super) cwd: PathBuf,
    /// The same as written.
    written_cwd: String,
    pub(super) env: Vec<(String, String)>,
    /// In milliseconds.
    pub(super) timeout_ms: u64,
    pub(super) fault_exit_codes: Vec<i32>,
    stdout_contains: Option<String>,
    stdout_matches: Option<(String, Regex)>,
    /// What it makes anew, as written and resolved.
    written_outputs: Vec<String>,
    pub(super) outputs: Vec<PathBuf>,
}

impl Form {
    /// Reads an entry; its paths are relative to `root`.
    pub(super) fn read(entry: Entry<'_>, scope: &Scope, root: &Path) -> Result<Self, Verdict> {
        let Some((mode, written)) = words(entry) else {
            return Err(Verdict::fault("command entry names no program"));
        };
        let is_repo_program = written.first().is_some_and(|word| word.starts_with(REPO));
        let argv: Vec<String> = match mode {
            Mode::Structured => {
                let words = written.into_iter().map(|word| in_repo(word, scope));
                words.collect::<Result<_, _>>()?
            }
            Mode::LegacyShell => written,
        };
        let stdout_matches = match entry.text(&["stdout_matches"]) {
            Some(text) => {
                let compiled = pattern::compile_caseless(&text)?;
                Some((text, compiled))
            }
            None => None,
        };
        let written_cwd = entry.text(&["cwd"]).filter(|cwd| !cwd.is_empty());
        let written_cwd = written_cwd.unwrap_or_else(|| ".".to_owned());
        let written_outputs = entry.texts(&["regenerates"]);
        let mut outputs: Vec<PathBuf> = Vec::new();
        for path in &written_outputs {
            let path = clean(&resolve(root, path));
            if !outputs.contains(&path) {
                outputs.push(path);
            }
        }
        Ok(Self {
            mode,
            command: text_of(mode, &argv),
            argv,
            is_repo_program,
            root: root.to_owned(),
            cwd: clean(&resolve(root, &written_cwd)),
            written_cwd,
            env: environment(entry)?,
            timeout_ms: timeout_ms(entry, mode),
            fault_exit_codes: exit_codes(entry),
            stdout_contains: entry.text(&["stdout_contains"]),
            stdout_matches,
            written_outputs,
            outputs,
        })
    }

    /// The program, where the command may run.
    pub(super) fn ready(&self) -> Result<Program, Verdict> {
        if !is_inside(&self.cwd, &self.root) {
            let cwd = &self.written_cwd;
            return Err(Verdict::fault(format!("cwd leaves the repository: {cwd}")));
        }
        if !self.cwd.is_dir() {
            let details = format!("working directory not found: {}", self.cwd.display());
            return Err(match self.root.is_dir() {
                true => Verdict::fail(details),
                false => Verdict::fault(details),
            });
        }
        for (written, path) in self.written_outputs.iter().zip(&self.outputs) {
            if !is_inside(path, &self.root) || path == &self.root {
                let details = format!("output leaves the repository: {written}");
                return Err(Verdict::fault(details));
            }
        }
        let name = self.argv.first().map_or("", String::as_str);
        program::find(name, self.is_repo_program, &self.cwd)
    }

    /// The outputs that it may make anew.
    pub(super) fn outputs_inside(&self) -> impl Iterator<Item = &PathBuf> {
        let outputs = self.outputs.iter();
        outputs.filter(|path| is_inside(path, &self.root) && *path != &self.root)
    }

    /// A line for each assertion that does not hold of an output.
    pub(super) fn unmet(&self, output: &str) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(text) = &self.stdout_contains
            && !output.contains(text)
        {
            lines.push(format!("stdout missing {text:?}"));
        }
        if let Some((pattern, compiled)) = &self.stdout_matches
            && !compiled.is_match(output)
        {
            lines.push(format!("stdout did not match {pattern:?}"));
        }
        lines
    }

    /// A verdict with the fields of the command.
    pub(super) fn describe(&self, verdict: Verdict) -> Verdict {
        verdict
            .with("mode", self.mode.name())
            .with("command", self.command.as_str())
            .with("argv", self.argv.as_slice())
            .with_path("cwd", &self.cwd)
            .with("timeout_ms", self.timeout_ms)
    }
}

/// A verdict with what the fields of a command are that could not be read.
pub(super) fn unknown(entry: Entry<'_>, verdict: Verdict) -> Verdict {
    let found = words(entry);
    let (mode, argv) = match &found {
        Some((mode, argv)) => (Some(*mode), argv.as_slice()),
        None => (None, [].as_slice()),
    };
    verdict
        .with("mode", mode.map(Mode::name))
        .with("command", mode.map(|mode| text_of(mode, argv)))
        .with("argv", argv)
        .with("cwd", NONE)
        .with("timeout_ms", mode.map(|mode| timeout_ms(entry, mode)))
        .with("exit_code", NONE)
        .with("regenerated", json!([]))
}

/// The form of an entry, and the words that it runs as written.
fn words(entry: Entry<'_>) -> Option<(Mode, Vec<String>)> {
    Some(match Written::of(entry)? {
        Written::Structured(words) => (Mode::Structured, words),
        Written::Legacy(text) => {
            let words = ["bash".to_owned(), "-c".to_owned(), text];
            (Mode::LegacyShell, words.to_vec())
        }
    })
}

/// The command as text.
fn text_of(mode: Mode, argv: &[String]) -> String {
    match mode {
        Mode::Structured => line(argv),
        Mode::LegacyShell => argv.last().cloned().unwrap_or_default(),
    }
}

/// A word, or the place in a repo that it stands for (spec P60).
fn in_repo(word: String, scope: &Scope) -> Result<String, Verdict> {
    let Some(place) = word.strip_prefix(REPO) else {
        return Ok(word);
    };
    let (name, rest) = place.split_once('/').unwrap_or((place, ""));
    let folder = scope
        .repo(name)
        .ok_or_else(|| Verdict::missing_repo(name))?;
    let path = match rest.is_empty() {
        true => folder.to_owned(),
        false => folder.join(rest),
    };
    Ok(path.to_string_lossy().into_owned())
}

fn environment(entry: Entry<'_>) -> Result<Vec<(String, String)>, Verdict> {
    let map = entry.get(&["env"]).and_then(Yaml::as_mapping);
    let pairs = map.into_iter().flatten();
    let pairs = pairs.map(|(name, value)| {
        let (name, value) = (word(name), word(value));
        match is_variable(&name, &value) {
            true => Ok((name, value)),
            false => Err(Verdict::fault(format!("invalid variable in env: {name:?}"))),
        }
    });
    pairs.collect()
}

fn timeout_ms(entry: Entry<'_>, mode: Mode) -> u64 {
    let given = entry.natural(&["timeout_ms"]).filter(|ms| *ms > 0);
    given.unwrap_or(match mode {
        Mode::Structured => STRUCTURED_MS,
        Mode::LegacyShell => LEGACY_MS,
    })
}

/// The exit codes that say that the check is broken.
fn exit_codes(entry: Entry<'_>) -> Vec<i32> {
    let codes = list(entry.get(&["fault_exit_codes"])).iter();
    let codes = codes.filter_map(|code| u8::try_from(code.as_u64()?).ok());
    codes.map(i32::from).collect()
}
