//! The units of a run: which they are, whether they can serve, and what they bring (spec T22 to
//! T42).

use std::collections::HashSet;
use std::sync::Arc;

use super::{packs, plugins};
use crate::engine::packs::PackEntry;
use crate::engine::tool::UnitTool;
use crate::harness::CancelToken;
use crate::harness::host::Environment;
use crate::harness::requirements::Requirements;
use crate::harness::tools::Tools;
use crate::harness::unit::{Activation, ActiveUnit, Unit, is_segment, tool_id, unit_id};
use crate::prompt::{Contract, Dialect};

/// What prepare finds of a run's units.
pub(super) struct Roster<'a> {
    pub(super) environment: &'a Environment<'a>,
    cancel: &'a CancelToken,
    /// The gaps.
    pub(super) requirements: Requirements,
    /// The units, as the engine is told of them.
    pub(super) units: Vec<PackEntry>,
    /// Which of them serves which tool.
    pub(super) tools: Tools,
}

impl<'a> Roster<'a> {
    /// Picks the run's units, waits until each can serve or the run is cancelled, and takes the
    /// snapshot.
    pub(super) fn new(
        contract: &Contract,
        environment: &'a Environment<'a>,
        cancel: &'a CancelToken,
    ) -> Self {
        let mut roster = Self::empty(environment, cancel);
        match environment.dialect {
            Dialect::Runvil => packs::pick(&mut roster, &contract.uses),
            Dialect::PromptForge => plugins::activate(&mut roster, contract),
        }
        roster
    }

    /// Every unit that is there, each as if the prompt declared it alone.
    pub(super) fn whole(environment: &'a Environment<'a>, cancel: &'a CancelToken) -> Self {
        let mut roster = Self::empty(environment, cancel);
        packs::enter_all(&mut roster);
        roster
    }

    fn empty(environment: &'a Environment<'a>, cancel: &'a CancelToken) -> Self {
        Self {
            environment,
            cancel,
            requirements: Requirements::default(),
            units: Vec::new(),
            tools: Tools::default(),
        }
    }

    /// The services that a unit needs and the run does not provide.
    pub(super) fn lacking(&self, unit: &dyn Unit) -> Vec<String> {
        let needs = unit.needs(self.environment.dialect);
        self.activation(None).lacking(needs)
    }

    /// Whether a unit has all that it takes to get ready.
    pub(super) fn may_start(&self, unit: &dyn Unit) -> bool {
        unit.fault().is_none() && self.lacking(unit).is_empty()
    }

    /// Waits until a unit can serve.
    ///
    /// # Errors
    /// Why it cannot.
    pub(super) fn activate(
        &self,
        unit: &dyn Unit,
        config: Option<&serde_yaml::Value>,
    ) -> Result<Arc<dyn ActiveUnit>, String> {
        match unit.fault() {
            Some(reason) => Err(reason.to_owned()),
            None if self.is_cancelled() => Err("the run is cancelled".to_owned()),
            None => unit.activate(&self.activation(config)),
        }
    }

    /// Whether the run was cancelled, which ends the wait.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Enters a unit that can serve, with what it brings.
    pub(super) fn enter(&mut self, unit: &dyn Unit, declared: bool, active: Arc<dyn ActiveUnit>) {
        let dialect = self.environment.dialect;
        let tools = self.admit(unit, active.tools());
        for tool in &tools {
            let whole = tool_id(unit, &tool.name, dialect);
            self.tools
                .insert(whole.into(), tool.name.clone(), active.clone());
        }
        let prelude = active.prelude().filter(|_| declared);
        self.units.push(PackEntry {
            prelude: prelude.map(Arc::from),
            tools,
            ..self.entry(unit, declared)
        });
    }

    /// Enters a unit that cannot serve, with the reason.
    pub(super) fn enter_unavailable(&mut self, unit: &dyn Unit, declared: bool, reason: String) {
        self.units.push(PackEntry {
            reason: Some(reason),
            ..self.entry(unit, declared)
        });
    }

    fn entry(&self, unit: &dyn Unit, declared: bool) -> PackEntry {
        PackEntry {
            vendor: unit.vendor(self.environment.dialect).into(),
            name: unit.name().into(),
            declared,
            reason: None,
            prelude: None,
            tools: Vec::new(),
        }
    }

    /// The tools whose names can be told apart, and are such (spec T5).
    fn admit(&self, unit: &dyn Unit, tools: Vec<UnitTool>) -> Vec<UnitTool> {
        let mut known = HashSet::new();
        let is_good = |tool: &UnitTool| is_segment(&tool.name) && known.insert(tool.name.clone());
        let (good, bad): (Vec<_>, Vec<_>) = tools.into_iter().partition(is_good);
        for tool in bad {
            let id = unit_id(unit, self.environment.dialect);
            self.environment.warn(&format!(
                "the tool {:?} of {id} is left out: its name is no name, or another tool's",
                tool.name
            ));
        }
        good
    }

    fn activation<'b>(&'b self, config: Option<&'b serde_yaml::Value>) -> Activation<'b> {
        Activation {
            dialect: self.environment.dialect,
            services: &self.environment.services,
            config,
            cancel: self.cancel,
        }
    }
}
