//! The user's folder for profiles, templates and provider aliases (spec P2).

use std::ffi::OsString;
use std::path::PathBuf;

/// Where profiles, templates and aliases are; without a folder there are none but those built in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigHome {
    folder: Option<PathBuf>,
}

impl ConfigHome {
    /// This folder, whether it is there or not.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: Some(folder.into()),
        }
    }

    /// `$RUNVIL_PACKET_HOME`, else `runvil/packets` in `$XDG_CONFIG_HOME`, else in `$HOME/.config`.
    /// A variable that is empty counts as one that is not set, and so does one of the latter two
    /// that is no absolute path.
    #[must_use]
    pub fn find(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        if let Some(folder) = set("RUNVIL_PACKET_HOME") {
            return Self::new(folder);
        }
        let absolute = |name: &str| {
            let folder = set(name).map(PathBuf::from);
            folder.filter(|folder| folder.is_absolute())
        };
        let users = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
        Self {
            folder: users.map(|folder| folder.join("runvil").join("packets")),
        }
    }

    /// The folder, if there is one to look in.
    #[must_use]
    pub fn folder(&self) -> Option<&PathBuf> {
        self.folder.as_ref()
    }

    /// A file or folder below it.
    #[must_use]
    pub fn join(&self, path: &str) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(path))
    }
}
