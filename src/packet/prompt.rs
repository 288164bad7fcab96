//! One prompt of a packet (spec P12).

use std::path::{Path, PathBuf};

use serde_yaml::{Mapping, Value};

use super::body;
use super::document::Document;
use super::error::PacketError;
use super::keys::{Keys, items, scalar, shown};
use super::options::Options;
use super::prompt_file;
use super::prompt_id::PromptId;

/// A prompt as loaded.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// Its identity.
    pub id: PromptId,
    /// The phase it belongs to.
    pub phase: i64,
    /// Its size in points.
    pub sp: i64,
    /// What it is called.
    pub name: String,
    /// The repos it names, each once, in its order. Some may be no repo of the packet.
    pub targets: Vec<String>,
    /// The prompts that must be completed before it.
    pub depends_on: Vec<PromptId>,
    /// The contract; `None` where the key is absent or null.
    pub verify: Option<Mapping>,
    /// The script of the simulated provider; `None` where the key is absent or null.
    pub simulate: Option<Mapping>,
    /// The file, below the packet's folder or elsewhere.
    pub path: PathBuf,
    /// The file as messages name it: from the packet's folder where it is in it.
    pub file: String,
    /// All its frontmatter, as in the file.
    pub keys: Mapping,
    /// What is sent to a provider (spec P6).
    pub body: String,
    /// The 1-based line of the file at which the body starts.
    pub body_line: usize,
}

impl Prompt {
    /// Loads a prompt's file; `file` is what messages call it.
    ///
    /// # Errors
    /// A file that cannot be read, frontmatter that does not parse, and values that a key cannot
    /// have.
    pub(super) fn load(path: PathBuf, file: String) -> Result<Self, PacketError> {
        let document = Document::read(&path, &file)?;
        Self::new(document, path, file)
    }

    /// The prompt that a document is.
    pub(super) fn new(
        document: Document,
        path: PathBuf,
        file: String,
    ) -> Result<Self, PacketError> {
        let file_name = base_name(&path);
        let keys = Keys::new(&document.keys, Some(&file));
        let id = id(keys, &file_name, &file)?;
        let name = match keys.text("name")? {
            // It stands in lines of the terminal, of logs and of commit messages.
            Some(name) => name.replace(['\r', '\n'], " "),
            None => body::heading(&document.body)
                .map_or_else(|| prompt_file::title(&file_name), str::to_owned),
        };
        let mut targets: Vec<String> = Vec::new();
        for target in keys.texts("targets")?.unwrap_or_default() {
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
        keys.text("commit")?;
        keys.text("template")?;
        Options::check(keys)?;
        Ok(Self {
            id,
            phase: keys.integer("phase")?.unwrap_or(1),
            sp: keys.integer("sp")?.unwrap_or(1),
            name,
            targets,
            depends_on: dependencies(keys)?,
            verify: keys.map("verify")?.cloned(),
            simulate: keys.map("simulate")?.cloned(),
            path,
            file,
            body: document.body,
            body_line: document.body_line,
            keys: document.keys,
        })
    }

    /// The name of its file.
    #[must_use]
    pub fn file_name(&self) -> String {
        base_name(&self.path)
    }

    /// The message of its commit (spec P12).
    #[must_use]
    pub fn commit_message(&self) -> String {
        let commit = self.keys.get("commit").and_then(scalar);
        let commit = commit.filter(|message| !message.trim().is_empty());
        commit.unwrap_or_else(|| body::commit_message(&self.body, &self.name))
    }
}

/// The last part of a path.
pub(super) fn base_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// `id`, else `num`, else the file's prefix, else `01`.
fn id(keys: Keys<'_>, file_name: &str, file: &str) -> Result<PromptId, PacketError> {
    let written = keys.get("id").or_else(|| keys.get("num"));
    let raw = match written {
        Some(value) => scalar(value).unwrap_or_else(|| shown(value)),
        None => prompt_file::prefix(file_name).unwrap_or("01").to_owned(),
    };
    raw.parse().map_err(|_| PacketError::PromptId {
        raw,
        file: file.to_owned(),
    })
}

/// The ids of `depends_on`, each once.
fn dependencies(keys: Keys<'_>) -> Result<Vec<PromptId>, PacketError> {
    let read = |value: &Value| scalar(value)?.parse().ok();
    let ids: Option<Vec<PromptId>> = keys.read("depends_on", |value| {
        items(value).iter().map(read).collect()
    })?;
    let mut once = Vec::new();
    for id in ids.unwrap_or_default() {
        if !once.contains(&id) {
            once.push(id);
        }
    }
    Ok(once)
}
