//! The providers that a host has.

use super::{CommandLine, Provider, Setting, Simulated};
use crate::packet::options::Options;
use crate::packet::packet::Packet;
use crate::packet::prompt::Prompt;
use crate::packet::words::ProviderKind;

/// One provider of each kind at most. `simulated` and `command`, which need nothing of the host,
/// are always there.
pub struct Providers(Vec<Box<dyn Provider>>);

impl Default for Providers {
    fn default() -> Self {
        Self(vec![Box::new(Simulated), Box::new(CommandLine)])
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

    /// What keeps the provider in force from running a prompt, a message each (spec P35): a probe
    /// for [`readiness::survey`](crate::packet::readiness::survey). A packet without prompts asks
    /// nothing of its provider.
    pub fn problems(
        &self,
        packet: &Packet,
        prompt: Option<&Prompt>,
        options: &Options,
    ) -> Vec<String> {
        let kind = options.provider.as_ref().and_then(|it| it.kind);
        let (Some(kind), Some(prompt)) = (kind, prompt) else {
            return Vec::new();
        };
        let setting = Setting {
            packet,
            prompt,
            options,
        };
        match self.get(kind) {
            Some(provider) => provider.problems(setting),
            None => vec![format!("provider {:?} is not there", kind.word())],
        }
    }
}
