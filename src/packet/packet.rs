//! A packet: a folder with a manifest and prompts (spec P1, P8 to P16).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_yaml::{Mapping, Value};

use super::alias::Aliases;
use super::config_home::ConfigHome;
use super::document::Document;
use super::error::PacketError;
use super::keys::{Keys, scalar};
use super::merge::merge;
use super::name::PACKET;
use super::options::{Options, PROMPT_KEYS};
use super::profile::Profile;
use super::prompt::{Prompt, base_name};
use super::prompt_file;
use super::repos::{Repo, Repos};
use super::resolve::resolve;
use super::source::cause;

/// The file that makes a folder a packet.
pub const MANIFEST: &str = "prompt_runner_packet.md";

/// A packet as loaded. Nothing in it changes while it is used; what changes is on the disk.
#[derive(Clone, Debug)]
pub struct Packet {
    /// The packet's folder, canonical.
    pub root: PathBuf,
    /// Its manifest's file.
    pub manifest_path: PathBuf,
    /// The folder of its prompts, resolved (spec P3).
    pub prompt_dir: PathBuf,
    /// What it is called.
    pub name: String,
    /// The manifest as read.
    pub manifest: Document,
    /// The profile under the manifest.
    pub profile: Profile,
    /// The keys of the manifest over those of the profile.
    pub keys: Mapping,
    /// Its repositories.
    pub repos: Repos,
    /// The names of phases.
    pub phases: BTreeMap<i64, String>,
    /// Its prompts, in packet order (spec P12).
    pub prompts: Vec<Prompt>,
    /// The prompt files that did not load, in packet order; empty but for [`survey`](Self::survey).
    pub faults: Vec<PromptFault>,
    pub(super) aliases: Aliases,
}

/// A prompt file that does not load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptFault {
    /// The file as messages name it.
    pub file: String,
    /// Why.
    pub error: PacketError,
}

/// The working folder of a prompt and the repo it lies in (spec P41).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope<'a> {
    /// The folder.
    pub root: &'a Path,
    /// The repo; `None` where the folder is the packet's.
    pub repo: Option<&'a Repo>,
}

impl Packet {
    /// Loads a packet that is to be used: all its prompts load, and no two share an id.
    ///
    /// # Errors
    /// What is wrong with the manifest, a prompt, or what they name in the config home.
    pub fn load(folder: &Path, home: &ConfigHome) -> Result<Self, PacketError> {
        let packet = Self::survey(folder, home)?;
        if let Some(fault) = packet.faults.first() {
            return Err(fault.error.clone());
        }
        match packet.duplicates().into_iter().next() {
            None => Ok(packet),
            Some((id, files)) => Err(PacketError::DuplicatePrompt {
                id,
                files: files.into_iter().map(str::to_owned).collect(),
            }),
        }
    }

    /// Loads a packet that is to be looked at: prompts that do not load are
    /// [`faults`](Self::faults), and ids may be shared.
    ///
    /// # Errors
    /// What is wrong with the manifest, or what is named in the config home.
    pub fn survey(folder: &Path, home: &ConfigHome) -> Result<Self, PacketError> {
        let mut packet = Self::open(folder, home)?;
        let shown = packet.shown(&packet.prompt_dir);
        for path in prompt_file::list(&packet.prompt_dir, &shown)? {
            let file = packet.shown(&path);
            match Prompt::load(path, file.clone()) {
                Ok(prompt) => packet.prompts.push(prompt),
                Err(error) => packet.faults.push(PromptFault { file, error }),
            }
        }
        let Self {
            prompts, aliases, ..
        } = &mut packet;
        for name in prompts
            .iter()
            .filter_map(|prompt| provider_of(&prompt.keys))
        {
            aliases.learn(name)?;
        }
        Ok(packet)
    }

    /// Loads the manifest alone; the packet has no prompts then.
    ///
    /// # Errors
    /// As for [`survey`](Self::survey).
    pub fn open(folder: &Path, home: &ConfigHome) -> Result<Self, PacketError> {
        let written = folder.join(MANIFEST);
        if !written.exists() {
            return Err(PacketError::NotAPacket(folder.to_owned()));
        }
        let root = folder.canonicalize().map_err(|error| PacketError::File {
            deed: "read",
            file: folder.display().to_string(),
            cause: cause(&error),
        })?;
        let manifest_path = root.join(MANIFEST);
        let manifest = Document::read(&manifest_path, MANIFEST)?;
        let own = Keys::new(&manifest.keys, None);
        let profile = Profile::load(own.text("profile")?, home)?;
        Options::check(own)?;
        let mut keys = profile.keys.clone();
        merge(&mut keys, &manifest.keys);
        own.text("prompt_template")?;
        let prompt_dir = own.text("prompt_dir")?;
        let mut aliases = Aliases::new(home.clone());
        if let Some(name) = provider_of(&keys) {
            aliases.learn(name)?;
        }
        Ok(Self {
            name: own.text("name")?.unwrap_or_else(|| base_name(&root)),
            prompt_dir: resolve(&root, prompt_dir.as_deref().unwrap_or("prompts")),
            repos: Repos::read(own, &root)?,
            phases: phases(own)?,
            prompts: Vec::new(),
            faults: Vec::new(),
            root,
            manifest_path,
            manifest,
            profile,
            keys,
            aliases,
        })
    }

    /// A file as messages name it: from the packet's folder where it is in it.
    #[must_use]
    pub fn shown(&self, path: &Path) -> String {
        let shown = path.strip_prefix(&self.root).unwrap_or(path);
        shown.display().to_string()
    }

    /// The prompt of an id in its normal form.
    #[must_use]
    pub fn prompt(&self, id: &str) -> Option<&Prompt> {
        self.prompts.iter().find(|prompt| prompt.id.as_str() == id)
    }

    /// The folder of a repo, or the packet's for `packet`; `None` for a name that is neither, or a
    /// repo without a path.
    #[must_use]
    pub fn folder_of(&self, name: &str) -> Option<&Path> {
        match name {
            PACKET => Some(&self.root),
            name => self.repos.get(name)?.path.as_deref(),
        }
    }

    /// The repos that a prompt works on, in its order: those it names, or the default one. Names
    /// that are no repo are left out; where none is left the packet's folder stands for them.
    #[must_use]
    pub fn targets(&self, prompt: &Prompt) -> Vec<&Repo> {
        if prompt.targets.is_empty() {
            return self.repos.default_repo().into_iter().collect();
        }
        let named = prompt.targets.iter();
        named.filter_map(|name| self.repos.get(name)).collect()
    }

    /// The working folder of a prompt: of its first target that is a repo, else of the default
    /// repo, else the packet's own (spec P41).
    #[must_use]
    pub fn scope(&self, prompt: &Prompt) -> Scope<'_> {
        let named = prompt
            .targets
            .iter()
            .filter_map(|name| self.repos.get(name));
        let mut repos = named.chain(self.repos.default_repo());
        let found = repos.find_map(|repo| Some((repo.path.as_deref()?, repo)));
        match found {
            Some((root, repo)) => Scope {
                root,
                repo: Some(repo),
            },
            None => Scope {
                root: &self.root,
                repo: None,
            },
        }
    }

    /// The options in force for a prompt, or for the packet where there is none. `flags` are those
    /// of the command line, under the names of the manifest's keys.
    ///
    /// # Errors
    /// A flag's value that its key cannot have; a flag's alias that cannot be taken.
    pub fn options(
        &self,
        prompt: Option<&Prompt>,
        flags: &Mapping,
    ) -> Result<Options, PacketError> {
        Options::check(Keys::new(flags, None))?;
        let own = prompt.map(|prompt| {
            let keys = prompt.keys.iter();
            let taken =
                keys.filter(|(key, _)| key.as_str().is_some_and(|key| PROMPT_KEYS.contains(&key)));
            taken
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect()
        });
        let own: Mapping = own.unwrap_or_default();
        let over = [&self.manifest.keys, &own, flags];
        let profile = self.profile.under(&over);
        let [manifest, own, flags] = over;
        Options::resolve(&[&profile, manifest, own, flags], &self.aliases)
    }

    /// Refuses a packet that `agent_control` would change the runs of (spec P152).
    ///
    /// # Errors
    /// [`PacketError::AgentControl`].
    pub fn refuse_agent_control(&self) -> Result<(), PacketError> {
        match self.has_agent_control() {
            true => Err(PacketError::AgentControl),
            false => Ok(()),
        }
    }

    /// Whether `agent_control` is on: there, and not `enabled: false`.
    #[must_use]
    pub fn has_agent_control(&self) -> bool {
        match self.keys.get("agent_control") {
            None | Some(Value::Null | Value::Bool(false)) => false,
            Some(value) => value.get("enabled") != Some(&Value::Bool(false)),
        }
    }

    /// Ids that several prompts have, with their files, in packet order.
    pub(super) fn duplicates(&self) -> Vec<(String, Vec<&str>)> {
        let mut by_id: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for prompt in &self.prompts {
            by_id
                .entry(prompt.id.as_str())
                .or_default()
                .push(&prompt.file);
        }
        let shared = by_id.into_iter().filter(|(_, files)| files.len() > 1);
        shared.map(|(id, files)| (id.to_owned(), files)).collect()
    }
}

fn provider_of(keys: &Mapping) -> Option<&str> {
    keys.get("provider").and_then(Value::as_str)
}

/// The names of phases; keys that are no whole number are left out.
fn phases(keys: Keys<'_>) -> Result<BTreeMap<i64, String>, PacketError> {
    let named = keys.map("phases")?.into_iter().flatten();
    let phases = named.filter_map(|(number, name)| {
        let number = number.as_str()?.trim().parse().ok()?;
        Some((number, scalar(name)?))
    });
    Ok(phases.collect())
}
