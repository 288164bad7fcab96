//! Names for providers that are not built in (spec P128).

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_yaml::Mapping;

use super::config_home::ConfigHome;
use super::document::Document;
use super::error::PacketError;
use super::keys::Keys;
use super::name::is_name;
use super::options::Options;
use super::words::ProviderKind;

/// What is said of a provider that is neither built in nor an alias.
pub(super) fn unknown(name: &str) -> String {
    format!(
        "provider {name:?} is not known (built in: simulated, command, runvil, model; an alias is \
         a file providers/NAME.md in the folder of the configuration)"
    )
}

/// The aliases in the config home; those that were asked for ahead are read once.
#[derive(Clone, Debug, Default)]
pub(super) struct Aliases {
    home: ConfigHome,
    known: BTreeMap<String, Option<Mapping>>,
}

impl Aliases {
    pub(super) fn new(home: ConfigHome) -> Self {
        Self {
            home,
            known: BTreeMap::new(),
        }
    }

    /// Reads the alias of a name, unless it is built in or was read before.
    ///
    /// # Errors
    /// An alias's file that is there and cannot be taken.
    pub(super) fn learn(&mut self, name: &str) -> Result<(), PacketError> {
        if built_in(name).is_none() && !self.known.contains_key(name) {
            let keys = read(&self.home, name)?;
            self.known.insert(name.to_owned(), keys);
        }
        Ok(())
    }

    /// What a provider's name stands for, and the keys that come with it.
    pub(super) fn provider(
        &self,
        name: &str,
    ) -> Result<(Option<ProviderKind>, Cow<'_, Mapping>), PacketError> {
        if let Some(kind) = built_in(name) {
            return Ok((Some(kind), Cow::Owned(Mapping::new())));
        }
        let keys = match self.known.get(name) {
            Some(keys) => keys.as_ref().map(Cow::Borrowed),
            None => read(&self.home, name)?.map(Cow::Owned),
        };
        let keys = keys.unwrap_or_default();
        let kind = keys.get("provider").and_then(|name| name.as_str());
        Ok((kind.and_then(built_in), keys))
    }
}

/// The provider that is built in under a name.
pub(super) fn built_in(name: &str) -> Option<ProviderKind> {
    let mut words = ProviderKind::WORDS.iter();
    words.find(|(word, _)| *word == name).map(|(_, kind)| *kind)
}

/// The keys of an alias; `None` for no such alias.
fn read(home: &ConfigHome, name: &str) -> Result<Option<Mapping>, PacketError> {
    let shown = format!("providers/{name}.md");
    let file = home.join(&shown).filter(|_| is_name(name));
    let Some(file) = file.filter(|file| file.exists()) else {
        return Ok(None);
    };
    let document = Document::read(&file, &shown)?;
    Options::check(Keys::new(&document.keys, Some(&shown)))?;
    Ok(Some(document.keys))
}
