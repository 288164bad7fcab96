//! What a contract's check found (spec P39, P40, P44, P69).

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

/// The most bytes of an item's details (spec P44).
const DETAILS_CAP: usize = 64 << 10;

/// What an item is about (spec P39).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Of `files_exist`.
    FileExists,
    /// Of `files_absent`.
    FileAbsent,
    /// Of `contains`.
    Contains,
    /// Of `matches`.
    Matches,
    /// Of `doc`.
    Doc,
    /// Of `yaml`.
    Yaml,
    /// Of `json`.
    Json,
    /// Of `glob`.
    Glob,
    /// Of `source_absent`.
    SourceAbsent,
    /// Of `commands`.
    Command,
    /// Of `changed_paths_only`.
    ChangedPathsOnly,
    /// Of `repos_clean`.
    ReposClean,
}

impl Kind {
    /// The kind as reports write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::FileExists => "file_exists",
            Self::FileAbsent => "file_absent",
            Self::Contains => "contains",
            Self::Matches => "matches",
            Self::Doc => "doc",
            Self::Yaml => "yaml",
            Self::Json => "json",
            Self::Glob => "glob",
            Self::SourceAbsent => "source_absent",
            Self::Command => "command",
            Self::ChangedPathsOnly => "changed_paths_only",
            Self::ReposClean => "repos_clean",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a check could not run, so that it says nothing about the work (spec P40, P70).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The check is broken, or what it needs is not there.
    VerifierFault,
    /// It did not end in time.
    VerifierTimeout,
}

impl Fault {
    /// The fault as reports write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::VerifierFault => "verifier_fault",
            Self::VerifierTimeout => "verifier_timeout",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One checked entry of a contract (spec P39).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// What it is about.
    pub kind: Kind,
    /// The repo it is about, if any.
    pub repo: Option<String>,
    /// Whether it holds. One with a fault does not.
    #[serde(rename = "pass?")]
    pub pass: bool,
    /// What a reader needs to mend it (spec P44).
    pub details: String,
    /// Why it says nothing about the work, if so.
    #[serde(default)]
    pub fault: Option<Fault>,
    /// The fields of its clause: `path` and `resolved_path`, `command`, `changed_paths` and others.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

impl Item {
    /// A field that is text.
    fn text(&self, field: &str) -> Option<&str> {
        self.fields.get(field)?.as_str()
    }

    /// The path as its entry has it.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.text("path")
    }

    /// Where that path leads (spec P3).
    #[must_use]
    pub fn resolved_path(&self) -> Option<&str> {
        self.text("resolved_path")
    }

    /// The command as text (spec P66).
    #[must_use]
    pub fn command(&self) -> Option<&str> {
        self.text("command")
    }

    /// The folder the command ran in.
    #[must_use]
    pub fn cwd(&self) -> Option<&str> {
        self.text("cwd")
    }

    /// The exit code of the command that ran.
    #[must_use]
    pub fn exit_code(&self) -> Option<i64> {
        self.fields.get("exit_code")?.as_i64()
    }

    /// The uncommitted paths that `changed_paths_only` saw.
    pub fn changed_paths(&self) -> impl Iterator<Item = &str> {
        let paths = self.fields.get("changed_paths").and_then(Value::as_array);
        paths.into_iter().flatten().filter_map(Value::as_str)
    }

    /// What messages call it: its path, else its command, else its repo (spec P94).
    #[must_use]
    pub fn subject(&self) -> &str {
        let named = self.path().or_else(|| self.command());
        named.or(self.repo.as_deref()).unwrap_or("?")
    }

    /// The first line of the details.
    #[must_use]
    pub fn summary(&self) -> &str {
        self.details.lines().next().unwrap_or_default()
    }

    /// The fault in one line, if there is one (spec P69).
    #[must_use]
    pub fn fault_line(&self) -> Option<String> {
        let fault = self.fault?;
        let code = self.exit_code();
        let exit = code.map_or_else(|| "-".to_owned(), |code| code.to_string());
        let told = code.and_then(shell_reason);
        let reason = told.unwrap_or_else(|| self.summary());
        let cwd = self.cwd().unwrap_or("?");
        let command = self.command().unwrap_or_default();
        Some(format!(
            "{fault} exit={exit} ({reason}) cwd={cwd} command={command:?}"
        ))
    }
}

/// What the exit codes of a shell say of a check that did not run (spec P67).
pub(super) fn shell_reason(code: i64) -> Option<&'static str> {
    match code {
        124 => Some("killed by timeout"),
        126 => Some("command found but not executable"),
        127 => Some("command not found"),
        _ => None,
    }
}

/// The check of a whole contract (spec P40).
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Report {
    /// The prompt whose contract it is.
    pub prompt_id: String,
    /// Every checked entry, in the order of evaluation.
    #[serde(default)]
    pub items: Vec<Item>,
}

impl Report {
    /// The items that do not hold, those with a fault among them.
    pub fn failures(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| !item.pass)
    }

    /// The items with a fault. One is enough for the report to say nothing about the work (spec
    /// P70).
    pub fn faults(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| item.fault.is_some())
    }

    /// Whether every item holds; so an empty contract does.
    #[must_use]
    pub fn pass(&self) -> bool {
        self.failures().next().is_none()
    }

    /// Whether an item has a fault.
    #[must_use]
    pub fn has_fault(&self) -> bool {
        self.faults().next().is_some()
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Written<'a> {
            prompt_id: &'a str,
            #[serde(rename = "pass?")]
            pass: bool,
            items: &'a [Item],
            failures: Vec<&'a Item>,
            faults: Vec<&'a Item>,
        }
        let written = Written {
            prompt_id: &self.prompt_id,
            pass: self.pass(),
            items: &self.items,
            failures: self.failures().collect(),
            faults: self.faults().collect(),
        };
        written.serialize(serializer)
    }
}

/// Details within their bound, with a last line that says what is missing (spec P44).
pub(super) fn bounded(mut details: String) -> String {
    if details.len() <= DETAILS_CAP {
        return details;
    }
    let is_boundary = |at: &usize| details.is_char_boundary(*at);
    let cut = (0..=DETAILS_CAP).rev().find(is_boundary).unwrap_or(0);
    let dropped = details.len() - cut;
    details.truncate(cut);
    if !details.ends_with('\n') {
        details.push('\n');
    }
    details + &format!("[cut: {dropped} bytes]")
}
