//! The ids of units and of what they bring (spec T1, T2).

use super::Unit;
use crate::prompt::Dialect;

/// Whether a text can be a segment of an id (spec T1).
pub fn is_segment(text: &str) -> bool {
    let allowed = |char| matches!(char, 'a'..='z' | '0'..='9' | '-' | '_' | '.');
    !text.is_empty() && text.chars().all(allowed)
}

/// The whole id of a unit, `vendor/name`.
pub fn unit_id(unit: &dyn Unit, dialect: Dialect) -> String {
    format!("{}/{}", unit.vendor(dialect), unit.name())
}

/// The whole name of a unit's tool: PromptForge's tool path, Runvil's tool id (spec T2).
pub(in crate::harness) fn tool_id(unit: &dyn Unit, tool: &str, dialect: Dialect) -> String {
    let (vendor, name) = (unit.vendor(dialect), unit.name());
    match dialect {
        Dialect::Runvil => format!("{name}/{tool}"),
        Dialect::PromptForge => format!("{vendor}/{name}/{tool}"),
    }
}
