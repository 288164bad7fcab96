//! What a Host has for all its runs.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::log::Log;
use super::unit::{INPUT_BROKER, Operator, Unit, UserInput, service_id, unit_id};
use crate::prompt::Dialect;

/// The units and services of a Host.
#[derive(Debug, Default)]
pub(super) struct Host {
    units: Vec<Arc<dyn Unit>>,
    /// Their ids in Runvil.
    services: BTreeSet<String>,
    pub(super) log: Log,
}

/// What one run has of it, in the dialect of its prompt.
pub(super) struct Environment<'a> {
    pub(super) dialect: Dialect,
    /// Every unit that is there, in the order in which they were added.
    pub(super) units: Vec<Arc<dyn Unit>>,
    /// The services that the run provides.
    pub(super) services: BTreeSet<String>,
    pub(super) log: &'a Log,
}

impl Host {
    /// Adds a unit; it takes the place of one with the same id.
    pub(super) fn add(&mut self, unit: Arc<dyn Unit>) {
        let own = unit_id(&*unit, Dialect::Runvil);
        if let Some(reason) = unit.fault() {
            self.log.line(&format!(
                "warning: Pack construct failed; it is built as unavailable: {own}: {reason}"
            ));
        }
        let mut known = self.units.iter_mut();
        match known.find(|known| unit_id(&***known, Dialect::Runvil) == own) {
            Some(known) => *known = unit,
            None => self.units.push(unit),
        }
    }

    /// Adds a service.
    pub(super) fn provide(&mut self, service: &str) {
        self.services.insert(service_id(service, Dialect::Runvil));
    }

    /// What a run has, with its operator: the unit that asks him is there without being added, but
    /// one with its id that was added takes its place.
    pub(super) fn environment(
        &self,
        dialect: Dialect,
        operator: Option<Arc<dyn Operator>>,
    ) -> Environment<'_> {
        let services = self.services.iter().map(String::as_str);
        let services = services.chain(operator.as_ref().map(|_| INPUT_BROKER));
        let services = services.map(|id| service_id(id, dialect)).collect();
        let mut environment = Environment {
            dialect,
            units: self.units.clone(),
            services,
            log: &self.log,
        };
        let asks = UserInput::new(operator);
        if environment.find(dialect.key(), asks.name()).is_none() {
            environment.units.push(Arc::new(asks));
        }
        environment
    }
}

impl Environment<'_> {
    /// The unit with an id.
    pub(super) fn find(&self, vendor: &str, name: &str) -> Option<&Arc<dyn Unit>> {
        let mut units = self.units.iter();
        units.find(|unit| unit.name() == name && unit.vendor(self.dialect) == vendor)
    }

    /// Logs what is amiss.
    pub(super) fn warn(&self, what: &str) {
        self.log.line(&format!("warning: {what}"));
    }
}
