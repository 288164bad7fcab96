//! The host configuration (spec C9): what a file may hold. Reading it touches nothing else.

mod bytes;
mod environment;
mod limits;
mod models;
mod place;
mod units;
mod variable;
mod web;

pub use bytes::Bytes;
pub use environment::resolve;
pub use limits::LimitEntries;
pub use models::ModelEntry;
pub use place::find;
pub use units::{Expose, Pack, Segment, Tool, Trust, UnitId};
pub use variable::VariableName;
pub use web::{Fetch, Provider, Search, SearchEntry};

use std::path::PathBuf;

use runvil::harness::yaml::{self, Distinct, Entries, Located, YamlError};
use serde::Deserialize;

use units::{PackId, Service};

/// A configuration. The default is that of a host without a file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a map")]
pub struct Config {
    /// The model gateway.
    pub gateway: Option<GatewayEntry>,
    /// The id of the current model.
    pub model: Option<String>,
    /// The catalog; empty where the gateway is to be asked.
    pub models: Distinct<ModelEntry>,
    /// Limits of a run, where they differ from the language's.
    pub limits: LimitEntries,
    /// What answers web searches.
    pub search: Option<Located<Search>>,
    /// What a fetch may do.
    pub fetch: Fetch,
    /// The services, by their ids.
    pub services: Entries<UnitId, Service>,
    /// The packs, by their ids.
    pub packs: Entries<PackId, Pack>,
    /// The folder it stands in.
    #[serde(skip)]
    pub folder: PathBuf,
    /// Its own file; `None` where there is none.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// Where the gateway is.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a map")]
pub struct GatewayEntry {
    /// Its URL; without one, the environment's.
    pub url: Option<String>,
    /// The variable that holds the key, never the key itself.
    pub api_key_env: Option<VariableName>,
}

impl Config {
    /// Reads a configuration.
    ///
    /// # Errors
    /// What is wrong with it, with its line and its key.
    pub fn from_yaml(text: &str) -> Result<Self, YamlError> {
        yaml::read(text)
    }

    /// The files that a run has of it: its own, and the preludes of its packs.
    pub fn files(&self) -> Vec<PathBuf> {
        let packs = self.packs.0.iter();
        let preludes = packs.filter_map(|(_, pack)| pack.prelude.as_ref());
        let preludes = preludes.map(|prelude| self.folder.join(prelude));
        self.file.iter().cloned().chain(preludes).collect()
    }
}

#[cfg(test)]
mod tests;
