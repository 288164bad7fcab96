//! The Packs of a Runvil run (spec T32 to T42).

use std::sync::Arc;

use super::roster::Roster;
use crate::harness::unit::{Unit, unit_id};
use crate::prompt::{Dialect, PackReference};

/// The vendor that a bare Pack id means (spec T4).
const OWN: &str = "runvil";

/// Enters the run's Packs: every declared one, then every other of Runvil's own whose id none of
/// them takes (spec T33).
pub(super) fn pick(roster: &mut Roster<'_>, uses: &[PackReference]) {
    let environment = roster.environment;
    let declared = uses
        .iter()
        .map(|entry| (entry, environment.find(entry.vendor(), &entry.name)));
    let declared: Vec<_> = declared.collect();
    let is_free = |unit: &&Arc<dyn Unit>| {
        unit.vendor(Dialect::Runvil) == OWN && uses.iter().all(|entry| entry.name != unit.name())
    };
    let others: Vec<_> = environment.units.iter().filter(is_free).collect();
    let found = declared.iter().filter_map(|(_, unit)| *unit);
    start(roster, found.chain(others.iter().copied()));
    for (entry, unit) in declared {
        match unit {
            Some(unit) => enter(roster, &**unit, true),
            None => note_absent(roster, entry),
        }
    }
    for unit in others {
        enter(roster, &**unit, false);
    }
}

/// Enters every unit of the Host, as if it were declared.
pub(super) fn enter_all(roster: &mut Roster<'_>) {
    let environment = roster.environment;
    start(roster, &environment.units);
    for unit in &environment.units {
        enter(roster, &**unit, true);
    }
}

fn start<'a>(roster: &Roster<'_>, units: impl IntoIterator<Item = &'a Arc<dyn Unit>>) {
    for unit in units {
        if roster.may_start(&**unit) {
            unit.start();
        }
    }
}

/// Enters a Pack as it is (spec T37, T39, T40; rows 4 to 6 of T42).
fn enter(roster: &mut Roster<'_>, unit: &dyn Unit, declared: bool) {
    let lacking = roster.lacking(unit);
    let reason = if unit.fault().is_none() && !lacking.is_empty() {
        let services = lacking.join(", ");
        if declared {
            roster.requirements.add_services(unit.name(), lacking);
        }
        format!("the run lacks the services it needs: {services}")
    } else {
        match roster.activate(unit, None) {
            Ok(active) => return roster.enter(unit, declared, active),
            Err(reason) => {
                if unit.fault().is_none() && !roster.is_cancelled() {
                    let id = unit_id(unit, roster.environment.dialect);
                    roster.environment.warn(&format!(
                        "Pack will not be ready; this run treats it as unavailable: {id}: {reason}"
                    ));
                }
                if declared {
                    roster.requirements.add_unavailable(unit.name(), &*reason);
                }
                reason
            }
        }
    };
    roster.enter_unavailable(unit, declared, reason);
}

/// Notes that a declared Pack is not there (rows 1 to 3 of T42).
fn note_absent(roster: &mut Roster<'_>, entry: &PackReference) {
    let PackReference { vendor, name } = entry;
    let units = roster.environment.units.iter();
    let namesakes = units.filter(|unit| unit.name() == name);
    let mut others: Vec<String> = namesakes
        .map(|unit| unit_id(&**unit, Dialect::Runvil))
        .collect();
    others.sort();
    let requirements = &mut roster.requirements;
    if let Some(vendor) = vendor {
        requirements.add_unavailable(name, format!("{vendor}/{name} is not installed"));
    } else if others.is_empty() {
        requirements.add_missing(name.clone());
    } else {
        let others = others.join(" or ");
        let reason = format!(
            "{name} means {OWN}/{name}, which is not installed; write {others} to use that Pack"
        );
        requirements.add_unavailable(name, reason);
    }
}
