//! Which packet a command is about (spec P21).

use std::env;
use std::path::{Path, PathBuf};

use clap::Args;
use runvil::packet::ConfigHome;

/// The packet of a command that takes nothing else.
#[derive(Args)]
pub struct Place {
    /// The packet's folder; by default the current one
    #[arg(value_name = "DIR", conflicts_with = "packet")]
    dir: Option<PathBuf>,

    /// The packet's folder, said explicitly
    #[arg(long, value_name = "DIR")]
    packet: Option<PathBuf>,
}

impl Place {
    /// The packet's folder.
    pub fn folder(&self) -> &Path {
        let named = self.packet.as_deref().or(self.dir.as_deref());
        named.unwrap_or(Path::new("."))
    }
}

/// The packet of a command about prompts, and their ids.
#[derive(Args)]
pub struct PlaceAndIds {
    /// Ids of prompts; the first word is the packet's folder where there is a folder of that name
    #[arg(value_name = "[DIR] ID")]
    words: Vec<String>,

    /// The packet's folder, said explicitly; every word is an id then
    #[arg(long, value_name = "DIR")]
    packet: Option<PathBuf>,
}

impl PlaceAndIds {
    /// The packet's folder and the ids.
    pub fn split(&self) -> (PathBuf, &[String]) {
        if let Some(folder) = &self.packet {
            return (folder.clone(), &self.words);
        }
        match self.words.split_first() {
            // No id has a slash.
            Some((first, ids)) if first.contains('/') || Path::new(first).is_dir() => {
                (PathBuf::from(first), ids)
            }
            _ => (PathBuf::from("."), &self.words),
        }
    }
}

/// The user's folder of profiles, templates and aliases.
pub fn config_home() -> ConfigHome {
    ConfigHome::find(|name| env::var_os(name))
}
