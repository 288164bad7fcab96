//! Profiles: keys that are merged under a manifest's (spec P17).

use std::borrow::Cow;
use std::path::PathBuf;

use serde_yaml::Mapping;

use super::config_home::ConfigHome;
use super::document::Document;
use super::error::PacketError;
use super::front_matter;
use super::keys::Keys;
use super::name::is_name;
use super::options::Options;

/// The keys of a manifest that no profile has.
const MANIFEST_ONLY: &[&str] = &["name", "profile", "prompt_dir", "repos", "phases"];

/// The name of the built-in profile that stands in until a provider is named.
pub const SIMULATED: &str = "simulated-default";

/// The name of the built-in profile that says nothing.
pub const NONE: &str = "none";

const SIMULATED_KEYS: &str = "\
provider: simulated
model: simulated-demo
reasoning_effort: low
permission_mode: bypass
cli_confirmation: 'off'
recovery:
  retry:
    base_delay_ms: 0
    max_delay_ms: 0
    jitter: false
";

/// Where a profile comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProfileSource {
    /// No profile is named.
    None,
    /// It is named, and there is none of this name.
    Missing,
    /// It is built in.
    BuiltIn,
    /// A file of the config home.
    File(PathBuf),
}

/// A profile, empty where there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its name; `None` where none is named.
    pub name: Option<String>,
    /// Where it comes from.
    pub source: ProfileSource,
    /// Its keys.
    pub keys: Mapping,
}

impl Profile {
    /// The profile that a manifest names, or else the default one.
    ///
    /// # Errors
    /// A name that is none, a file that cannot be taken.
    pub(super) fn load(named: Option<String>, home: &ConfigHome) -> Result<Self, PacketError> {
        let name = match named {
            Some(name) => Some(name),
            None => default_name(home)?,
        };
        let Some(name) = name else {
            return Ok(Self {
                name: None,
                source: ProfileSource::None,
                keys: Mapping::new(),
            });
        };
        if !is_name(&name) {
            return Err(PacketError::Invalid {
                file: None,
                key: "profile".to_owned(),
                value: format!("{name:?}"),
                wanted: None,
            });
        }
        let shown = format!("profiles/{name}.md");
        let file = home.join(&shown).filter(|file| file.exists());
        let (source, keys) = match file {
            Some(file) => {
                let mut keys = Document::read(&file, &shown)?.keys;
                keys.retain(|key, _| !key.as_str().is_some_and(|key| MANIFEST_ONLY.contains(&key)));
                Options::check(Keys::new(&keys, Some(&shown)))?;
                (ProfileSource::File(file), keys)
            }
            None if name == SIMULATED => {
                let keys = front_matter::read(SIMULATED_KEYS).unwrap_or_default();
                (ProfileSource::BuiltIn, keys)
            }
            None if name == NONE => (ProfileSource::BuiltIn, Mapping::new()),
            None => (ProfileSource::Missing, Mapping::new()),
        };
        Ok(Self {
            name: Some(name),
            source,
            keys,
        })
    }
}

impl Profile {
    /// Its keys as they count under the layers over them, the last of which goes before the others.
    /// The model of the simulated provider is no model of another one (spec P17).
    pub(super) fn under(&self, layers: &[&Mapping]) -> Cow<'_, Mapping> {
        let mut names = layers.iter().rev().filter_map(|it| it.get("provider"));
        let is_other = names.next().is_some_and(|name| name != "simulated");
        if self.source == ProfileSource::BuiltIn && is_other {
            let mut keys = self.keys.clone();
            keys.shift_remove("model");
            return Cow::Owned(keys);
        }
        Cow::Borrowed(&self.keys)
    }
}

impl Profile {
    /// The names of profiles and where they come from, by name; and the name of the default one,
    /// which is among them although it may be missing.
    ///
    /// # Errors
    /// A `config.md` that cannot be taken.
    pub fn list(home: &ConfigHome) -> Result<(Listed, Option<String>), PacketError> {
        let default = default_name(home)?;
        let built_in = [NONE, SIMULATED].map(|name| (name.to_owned(), ProfileSource::BuiltIn));
        let mut found = built_in.to_vec();
        let folder = home.join("profiles");
        let entries = folder.into_iter().flat_map(std::fs::read_dir).flatten();
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let name = name.strip_suffix(".md").filter(|name| is_name(name));
            if let Some(name) = name
                && entry.path().is_file()
            {
                found.retain(|(known, _)| known != name);
                found.push((name.to_owned(), ProfileSource::File(entry.path())));
            }
        }
        if let Some(name) = &default
            && found.iter().all(|(known, _)| known != name)
        {
            found.push((name.clone(), ProfileSource::Missing));
        }
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok((found, default))
    }
}

/// Names of profiles and where they come from.
pub type Listed = Vec<(String, ProfileSource)>;

/// The `default_profile` of the config home.
///
/// # Errors
/// A `config.md` that cannot be taken.
pub fn default_name(home: &ConfigHome) -> Result<Option<String>, PacketError> {
    const FILE: &str = "config.md";
    match home.join(FILE).filter(|file| file.exists()) {
        Some(file) => {
            let document = Document::read(&file, FILE)?;
            Keys::new(&document.keys, Some(FILE)).text("default_profile")
        }
        None => Ok(None),
    }
}
