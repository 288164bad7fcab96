//! What prepare has found of a run's units: its Packs, or its activated Plugins (spec R22, T36).

use std::sync::Arc;

use super::tool::UnitTool;
use crate::prompt::Dialect;

/// The units of a run, as they stand for all of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packs {
    /// The ids of the services that the run provides, sorted.
    pub services: Vec<String>,
    /// Runvil: every declared Pack, then the others of the run. PromptForge: the declared Plugins
    /// that were activated. Each in its order.
    pub units: Vec<PackEntry>,
    /// The lines of the requirements notice that units cause, without their dash.
    pub gaps: Vec<String>,
}

/// One unit of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct PackEntry {
    /// Who makes it: the first segment of its id.
    pub vendor: Arc<str>,
    /// Its id within what its vendor makes: the Pack id.
    pub name: Arc<str>,
    /// Whether the prompt declares it.
    pub declared: bool,
    /// Why it cannot serve; `None` where it can.
    pub reason: Option<String>,
    /// Its prelude, where it runs in this run's sections (spec T54).
    pub prelude: Option<Arc<str>>,
    /// Its tools; none where it cannot serve.
    pub tools: Vec<UnitTool>,
}

impl PackEntry {
    /// Its whole id, `vendor/name`.
    pub fn id(&self) -> String {
        format!("{}/{}", self.vendor, self.name)
    }

    /// The whole name of one of its tools: PromptForge's tool path, Runvil's tool id (spec T2).
    pub fn tool_id(&self, tool: &str, dialect: Dialect) -> String {
        match dialect {
            Dialect::Runvil => format!("{}/{tool}", self.name),
            Dialect::PromptForge => format!("{}/{}/{tool}", self.vendor, self.name),
        }
    }
}
