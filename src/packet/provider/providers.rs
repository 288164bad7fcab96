//! The providers that a host has.

use super::{Provider, Simulated};
use crate::packet::words::ProviderKind;

/// One provider of each kind at most. `simulated` is always there.
pub struct Providers(Vec<Box<dyn Provider>>);

impl Default for Providers {
    fn default() -> Self {
        Self(vec![Box::new(Simulated)])
    }
}

impl Providers {
    /// These, with one more; it takes the place of another of its kind.
    #[must_use]
    pub fn with(mut self, provider: Box<dyn Provider>) -> Self {
        self.0.retain(|other| other.kind() != provider.kind());
        self.0.push(provider);
        self
    }

    /// The provider of a kind, if the host has it.
    pub fn get(&self, kind: ProviderKind) -> Option<&dyn Provider> {
        let mut providers = self.0.iter();
        let found = providers.find(|provider| provider.kind() == kind);
        found.map(Box::as_ref)
    }
}
