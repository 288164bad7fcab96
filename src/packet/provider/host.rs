//! What a host gives the providers that work in this process (spec P141, P146).

use crate::harness::{Harness, Launch};
use crate::prompt::Dialect;

/// What is wanted of a host for one session.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The dialect of the program; the one whose variables name the gateway first.
    pub dialect: Dialect,
    /// Whether a model is needed, so that a catalog may have to be asked for.
    pub needs_model: bool,
    /// The model's id, where one is configured.
    pub model: Option<&'a str>,
}

/// Has models, units and limits.
pub trait Host {
    /// What runs programs, with the host's units.
    ///
    /// # Errors
    /// Why the host has none, such as a configuration that cannot be read.
    fn harness(&self) -> Result<&Harness, String>;

    /// A launch with the host's limits, what answers rounds, and the current model. The rest of it
    /// is the provider's to fill.
    ///
    /// # Errors
    /// Why no session can begin, such as a model that is not in the catalog.
    fn launch(&self, wanted: Wanted<'_>) -> Result<Launch, String>;
}
