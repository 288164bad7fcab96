//! The Plugins of a PromptForge run and its tool slots (spec T25 to T31, T47 to T49).

use std::sync::Arc;

use super::roster::Roster;
use crate::harness::requirements::Requirements;
use crate::harness::unit::Unit;
use crate::prompt::{Contract, Plugin};

/// A declared Plugin, and the unit that it is, where there is one.
type Declared<'a> = (&'a Plugin, Option<&'a Arc<dyn Unit>>);

/// Activates the declared Plugins in their order, then looks whether they fill the slots.
pub(super) fn activate(roster: &mut Roster<'_>, contract: &Contract) {
    let environment = roster.environment;
    let declared = contract.plugins.iter().map(|plugin| {
        let id = plugin.id.split_once('/');
        let unit = id.and_then(|(vendor, name)| environment.find(vendor, name));
        (plugin, unit)
    });
    let declared: Vec<Declared<'_>> = declared.collect();
    note_conflicts(&mut roster.requirements, &declared);
    note_services(roster, &declared);
    let refused = |roster: &Roster<'_>, id: &str| is_refused(&roster.requirements, id);
    for (plugin, unit) in &declared {
        if let Some(unit) = unit
            && roster.may_start(&***unit)
            && !refused(roster, &plugin.id)
        {
            unit.start();
        }
    }
    let mut failed = Vec::new();
    for (plugin, unit) in declared {
        if !refused(roster, &plugin.id)
            && let Err(why) = activate_one(roster, plugin, unit)
        {
            note_failure(roster, plugin, &why);
            failed.push(plugin);
        }
    }
    fill_slots(roster, contract);
    let required = failed.into_iter().filter(|plugin| !plugin.optional);
    for plugin in required {
        roster.requirements.add_missing(plugin.id.clone());
    }
}

/// Either Plugin of a pair may declare that it cannot be beside the other (spec T28).
fn note_conflicts(requirements: &mut Requirements, declared: &[Declared<'_>]) {
    let mut later = declared.iter();
    while let Some((plugin, unit)) = later.next() {
        for (other, other_unit) in later.as_slice() {
            let (Some(unit), Some(other_unit)) = (unit, other_unit) else {
                continue;
            };
            if unit.conflicts().contains(&other.id) || other_unit.conflicts().contains(&plugin.id) {
                let pair = [plugin.id.clone(), other.id.clone()];
                requirements.conflicts.push(pair);
            }
        }
    }
}

/// A required Plugin has every service that it needs (spec T27).
fn note_services(roster: &mut Roster<'_>, declared: &[Declared<'_>]) {
    for (plugin, unit) in declared {
        if let Some(unit) = unit
            && !plugin.optional
        {
            let lacking = roster.lacking(&***unit);
            roster.requirements.add_services(&plugin.id, lacking);
        }
    }
}

/// Whether a Plugin is not activated for a cause that is noted already, and that is then its only
/// one (spec T49).
fn is_refused(requirements: &Requirements, id: &str) -> bool {
    let mut conflicting = requirements.conflicts.iter().flatten();
    let mut lacking = requirements.services.iter();
    conflicting.any(|plugin| plugin == id) || lacking.any(|service| service.unit == id)
}

fn activate_one(
    roster: &mut Roster<'_>,
    plugin: &Plugin,
    unit: Option<&Arc<dyn Unit>>,
) -> Result<(), String> {
    let unit = unit.ok_or("it is not installed")?;
    let active = roster.activate(&**unit, plugin.config.as_ref())?;
    roster.enter(&**unit, true, active);
    Ok(())
}

/// Logs that a Plugin could not be activated (spec T26).
fn note_failure(roster: &Roster<'_>, plugin: &Plugin, why: &str) {
    if !roster.is_cancelled() {
        let skipped = match plugin.optional {
            true => "; it is optional, and skipped",
            false => "",
        };
        let id = &plugin.id;
        let text = format!("the Plugin {id} cannot be activated{skipped}: {why}");
        roster.environment.warn(&text);
    }
}

/// Notes the Plugins that slots name and that bring no tools, by the aliases (spec T30).
fn fill_slots(roster: &mut Roster<'_>, contract: &Contract) {
    let mut slots: Vec<_> = contract.tools.iter().collect();
    slots.sort();
    for (alias, path) in slots {
        let Some((id, name)) = path.rsplit_once('/') else {
            continue;
        };
        let tools = roster.units.iter().find(|unit| unit.id() == id);
        match tools.map_or(&[][..], |unit| unit.tools.as_slice()) {
            [] if is_refused(&roster.requirements, id) => {}
            [] => roster.requirements.add_missing(id.to_owned()),
            tools if tools.iter().any(|tool| *tool.name == *name) => {}
            _ => roster.environment.warn(&format!(
                "the slot '{alias}' stays unbound: the Plugin {id} has no tool {path}"
            )),
        }
    }
}
