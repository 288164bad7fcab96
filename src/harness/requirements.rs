//! What a prompt requires of its environment that this does not have, and the notice that says so
//! (spec T43 to T51).

use crate::engine::model::UnmetRole;
use crate::prompt::Dialect;

/// The gaps between what a prompt declares and what its environment has: a list for each kind, in
/// the order in which they were found, each gap once. Units are named as the notice names them: a
/// Plugin by its id, a Pack by its Pack id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    /// The required units that are not there.
    pub missing: Vec<String>,
    /// The services that are not there, each with a unit that needs it.
    pub services: Vec<MissingService>,
    /// PromptForge: the pairs of Plugins that cannot be activated together, the one that is declared
    /// earlier first.
    pub conflicts: Vec<[String; 2]>,
    /// Runvil: the Packs that are there and cannot serve.
    pub unavailable: Vec<UnavailablePack>,
    /// What the roles ask of the Host's current model that this does not have.
    pub unmet_roles: Vec<UnmetRole>,
}

/// A service that a unit needs and the run does not provide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingService {
    /// The unit.
    pub unit: String,
    /// The service's id.
    pub service: String,
}

/// A Pack that cannot serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnavailablePack {
    /// The Pack.
    pub pack: String,
    /// Why.
    pub reason: String,
}

impl Requirements {
    /// Whether nothing is missing. A run of a prompt with gaps is refused.
    pub fn is_satisfied(&self) -> bool {
        *self == Self::default()
    }

    /// The notice's lines about units, in order and without their dash (spec T45, R22).
    pub fn unit_lines(&self, dialect: Dialect) -> Vec<String> {
        let (unit, host) = match dialect {
            Dialect::Runvil => ("Pack", "the environment"),
            Dialect::PromptForge => ("Plugin", "this host"),
        };
        let missing = self.missing.iter();
        let missing = missing.map(|id| format!("missing required {unit}: {id}"));
        let services = self.services.iter();
        let services = services.map(|MissingService { unit, service }| {
            format!("{unit} needs {service}, and {host} provides none")
        });
        let conflicts = self.conflicts.iter();
        let conflicts = conflicts.map(|[first, second]| {
            format!(
                "conflicting Plugins: {first} and {second} cannot be activated together; declare \
                 one or the other"
            )
        });
        let unavailable = self.unavailable.iter();
        let unavailable = unavailable
            .map(|UnavailablePack { pack, reason }| format!("{pack} is unavailable: {reason}"));
        let lines = missing.chain(services).chain(conflicts);
        lines.chain(unavailable).collect()
    }

    /// The notice of a refused run (spec T44).
    pub fn notice(&self, dialect: Dialect) -> String {
        self.notice_of(&self.unit_lines(dialect))
    }

    /// The notice, with the lines about units as a record has them (spec R22).
    pub(super) fn notice_of(&self, unit_lines: &[String]) -> String {
        let units = unit_lines.iter();
        let units = units.map(|line| format!("- {line}"));
        let roles = self.unmet_roles.iter().map(UnmetRole::to_string);
        let head = "the environment cannot satisfy this prompt:".to_owned();
        let lines = [head].into_iter().chain(units).chain(roles);
        lines.collect::<Vec<_>>().join("\n")
    }

    pub(super) fn add_missing(&mut self, id: String) {
        add(&mut self.missing, id);
    }

    pub(super) fn add_services(&mut self, unit: &str, services: Vec<String>) {
        for service in services {
            let unit = unit.to_owned();
            add(&mut self.services, MissingService { unit, service });
        }
    }

    pub(super) fn add_unavailable(&mut self, pack: &str, reason: impl Into<String>) {
        let (pack, reason) = (pack.to_owned(), reason.into());
        add(&mut self.unavailable, UnavailablePack { pack, reason });
    }
}

/// Each gap is there once (spec T48).
fn add<T: PartialEq>(list: &mut Vec<T>, gap: T) {
    if !list.contains(&gap) {
        list.push(gap);
    }
}
