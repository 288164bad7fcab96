//! Units that could not be built.

use std::sync::Arc;

use super::{Activation, ActiveUnit, Unit, service_id};
use crate::prompt::Dialect;

/// A unit that the Host wanted to have and could not build: runs find it there, and unavailable for
/// this reason (spec T34).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unbuilt {
    vendor: Option<String>,
    name: String,
    reason: String,
    needs: Vec<String>,
    conflicts: Vec<String>,
}

impl Unbuilt {
    /// A unit `vendor/name` that could not be built.
    pub fn new(
        vendor: impl Into<String>,
        name: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            vendor: Some(vendor.into()),
            name: name.into(),
            reason: reason.into(),
            needs: Vec::new(),
            conflicts: Vec::new(),
        }
    }

    /// One whose vendor is the dialect's own, such as the web unit.
    pub fn built_in(name: &str, reason: &str) -> Self {
        Self {
            vendor: None,
            ..Self::new("", name, reason)
        }
    }

    /// It would need these services.
    pub fn needing(mut self, services: impl IntoIterator<Item = String>) -> Self {
        self.needs.extend(services);
        self
    }

    /// It could not be activated beside these Plugins.
    pub fn conflicting(mut self, plugins: impl IntoIterator<Item = String>) -> Self {
        self.conflicts.extend(plugins);
        self
    }
}

impl Unit for Unbuilt {
    fn vendor(&self, dialect: Dialect) -> &str {
        self.vendor.as_deref().unwrap_or(dialect.key())
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn needs(&self, dialect: Dialect) -> Vec<String> {
        let needs = self.needs.iter();
        needs.map(|need| service_id(need, dialect)).collect()
    }

    fn conflicts(&self) -> &[String] {
        &self.conflicts
    }

    fn fault(&self) -> Option<&str> {
        Some(&self.reason)
    }

    fn activate(&self, _: &Activation<'_>) -> Result<Arc<dyn ActiveUnit>, String> {
        Err(self.reason.clone())
    }
}
