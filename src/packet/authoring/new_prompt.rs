//! Makes a prompt (spec P24).

use std::path::{Path, PathBuf};

use serde_yaml::{Mapping, Value};

use super::make_folder;
use crate::packet::config_home::ConfigHome;
use crate::packet::error::PacketError;
use crate::packet::keys::scalar;
use crate::packet::packet::Packet;
use crate::packet::prompt_id::PromptId;
use crate::packet::template::{Filling, Template};
use crate::packet::write::create;

/// A prompt to make.
#[derive(Clone, Debug, PartialEq)]
pub struct NewPrompt {
    /// Its id.
    pub id: PromptId,
    /// Its phase.
    pub phase: i64,
    /// What it is called.
    pub name: String,
    /// The repos it works on; `None` for the default one.
    pub targets: Option<Vec<String>>,
    /// Its commit message; `None` for `chore:` and its name.
    pub commit: Option<String>,
    /// Its template, and the folder that the path of one is relative to; `None` for the packet's.
    pub template: Option<String>,
}

/// The longest that a name makes a file's name.
const LONGEST_SLUG: usize = 80;

/// Makes a prompt from a template; gives its file. A file that is there is never overwritten, and
/// an id is used once.
///
/// # Errors
/// An id that is taken, a template that is not there, a file that cannot be made. `base` is what a
/// template's path is relative to.
pub fn new_prompt(
    packet: &Packet,
    new: &NewPrompt,
    base: &Path,
    home: &ConfigHome,
) -> Result<PathBuf, PacketError> {
    if let Some(prompt) = packet.prompt(new.id.as_str()) {
        return Err(PacketError::PromptExists {
            id: new.id.clone(),
            file: prompt.file.clone(),
        });
    }
    let own = packet.keys.get("prompt_template").and_then(scalar);
    let template = match (&new.template, own) {
        (Some(name), _) => Template::find(name, &packet.root, base, home)?,
        (None, Some(name)) => Template::find(&name, &packet.root, &packet.root, home)?,
        (None, None) => Template::find("default", &packet.root, base, home)?,
    };
    let slug = slug(&new.name);
    let commit = match &new.commit {
        Some(commit) => commit.clone(),
        None => format!("chore: {}", slug.replace('_', "-")),
    };
    let targets = new.targets.clone().unwrap_or_else(|| {
        let default = packet.repos.default_repo();
        default.map(|repo| repo.name.clone()).into_iter().collect()
    });
    let mut keys = Mapping::new();
    keys.insert("id".into(), new.id.as_str().into());
    keys.insert("phase".into(), new.phase.into());
    keys.insert("name".into(), new.name.as_str().into());
    let names = targets.iter().map(|name| Value::from(name.as_str()));
    keys.insert("targets".into(), Value::Sequence(names.collect()));
    keys.insert("commit".into(), commit.as_str().into());
    let document = template.render(
        &keys,
        Filling {
            id: new.id.as_str(),
            phase: &new.phase.to_string(),
            name: &new.name,
            commit: &commit,
            targets: &targets,
        },
    );
    make_folder(&packet.prompt_dir)?;
    let path = packet
        .prompt_dir
        .join(format!("{}_{slug}.prompt.md", new.id));
    let shown = packet.shown(&path);
    match create(&path, &document.render(), &shown)? {
        true => Ok(path),
        false => Err(PacketError::PromptExists {
            id: new.id.clone(),
            file: shown,
        }),
    }
}

/// What a name is in a file's name: lower case, with `_` for each run of anything but `a-z` and
/// `0-9` and none at the ends; `prompt` where nothing is left.
#[must_use]
pub fn slug(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|char: char| !char.is_ascii_lowercase() && !char.is_ascii_digit());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let mut slug = words.join("_");
    slug.truncate(LONGEST_SLUG);
    match slug.trim_end_matches('_') {
        "" => "prompt".to_owned(),
        slug => slug.to_owned(),
    }
}
