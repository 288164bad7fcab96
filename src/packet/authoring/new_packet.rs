//! Makes a packet (spec P23).

use std::path::{Path, PathBuf};

use serde_yaml::{Mapping, Value};

use super::make_folder;
use crate::packet::config_home::ConfigHome;
use crate::packet::document::Document;
use crate::packet::error::PacketError;
use crate::packet::keys::Keys;
use crate::packet::merge::merge;
use crate::packet::options::{Options, default_recovery};
use crate::packet::packet::MANIFEST;
use crate::packet::profile::{self, Profile};
use crate::packet::repos::may_be_called;
use crate::packet::write::create;

/// A packet to make.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewPacket {
    /// Its name, which is its folder's too.
    pub name: String,
    /// Its profile; `None` for the configured default, and without one for a built-in one.
    pub profile: Option<String>,
    /// Names of repos and their paths as written.
    pub repos: Vec<(String, String)>,
    /// The default repo, one of these; `None` for the only one, if it is.
    pub default_repo: Option<String>,
    /// Keys of the manifest beside those, such as `provider`.
    pub keys: Mapping,
    /// Settings of `recovery` that are not the defaults.
    pub recovery: Mapping,
}

/// Makes a packet in a folder of its own below `parent`; gives that folder. A manifest that is
/// there is never overwritten.
///
/// # Errors
/// Names that cannot be, a packet that is there, a folder or file that cannot be made.
pub fn new_packet(
    new: &NewPacket,
    parent: &Path,
    home: &ConfigHome,
) -> Result<PathBuf, PacketError> {
    let manifest = manifest(new, home)?;
    let root = parent.join(&new.name);
    let path = root.join(MANIFEST);
    let taken = || PacketError::AlreadyAPacket(root.clone());
    if path.exists() {
        return Err(taken());
    }
    make_folder(&root.join("prompts"))?;
    match create(&path, &manifest.render(), &path.display().to_string())? {
        true => Ok(root),
        false => Err(taken()),
    }
}

fn manifest(new: &NewPacket, home: &ConfigHome) -> Result<Document, PacketError> {
    let invalid = |key: &str, value: &str| PacketError::Invalid {
        file: None,
        key: key.to_owned(),
        value: format!("{value:?}"),
        wanted: None,
    };
    // One part of a path that is not hidden and no option.
    let is_folder = !new.name.starts_with(['.', '-'])
        && !new.name.is_empty()
        && !new
            .name
            .contains(|char: char| char == '/' || char == '\\' || char.is_control());
    if !is_folder {
        return Err(invalid("packet name", &new.name));
    }
    let name = match &new.profile {
        Some(name) => name.clone(),
        None => profile::default_name(home)?.unwrap_or_else(|| stand_in(&new.keys).to_owned()),
    };
    let profile = Profile::load(Some(name.clone()), home)?;
    Options::check(Keys::new(&new.keys, None))?;
    // All of it is in the manifest, which goes before the profile: it must say what that says.
    let mut recovery = default_recovery().clone();
    if let Some(Value::Mapping(own)) = profile.keys.get("recovery") {
        merge(&mut recovery, own);
    }
    merge(&mut recovery, &new.recovery);
    let mut keys = Mapping::new();
    keys.insert("name".into(), new.name.as_str().into());
    keys.insert("profile".into(), name.into());
    keys.insert("prompt_dir".into(), "prompts".into());
    keys.insert("repos".into(), Value::Mapping(repos(new)?));
    keys.insert("phases".into(), Value::Mapping(Mapping::new()));
    keys.insert("recovery".into(), Value::Mapping(recovery));
    merge(&mut keys, &new.keys);
    Ok(Document::new(keys, &format!("# {}\n", new.name)))
}

/// The profile of a packet for which none is given or configured. What that of the simulated
/// provider says of models, permissions and delays is not meant for another one.
fn stand_in(keys: &Mapping) -> &'static str {
    match keys.get("provider").and_then(Value::as_str) {
        None | Some("simulated") => profile::SIMULATED,
        Some(_) => profile::NONE,
    }
}

fn repos(new: &NewPacket) -> Result<Mapping, PacketError> {
    let default = match (&new.default_repo, new.repos.as_slice()) {
        (Some(name), _) => Some(name),
        (None, [(only, _)]) => Some(only),
        (None, _) => None,
    };
    if let Some(name) = default
        && new.repos.iter().all(|(known, _)| known != name)
    {
        return Err(PacketError::UnknownDefaultRepo(name.clone()));
    }
    let mut repos = Mapping::new();
    for (name, path) in &new.repos {
        if !may_be_called(name) {
            return Err(PacketError::RepoName(name.clone()));
        }
        let mut entry = Mapping::new();
        entry.insert("path".into(), path.as_str().into());
        if default == Some(name) {
            entry.insert("default".into(), true.into());
        }
        if repos.insert(name.as_str().into(), entry.into()).is_some() {
            return Err(PacketError::RepoExists(name.clone()));
        }
    }
    Ok(repos)
}
