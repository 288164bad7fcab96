//! Hazards of the manifest and of the packet as a whole.

use super::finding::{Finding, Severity};
use super::findings::Findings;
use super::nested;
use crate::packet::dependencies;
use crate::packet::keys::scalar;
use crate::packet::known_keys;
use crate::packet::packet::{MANIFEST, Packet};
use crate::packet::profile::ProfileSource;

pub(super) fn look(packet: &Packet, found: &mut Vec<Finding>) {
    whole(packet, found);
    for fault in &packet.faults {
        found.push(Finding {
            kind: "invalid_front_matter",
            severity: Severity::Error,
            prompt_id: None,
            file: Some(fault.file.clone()),
            message: fault.error.to_string(),
            key: None,
        });
    }
    let mut findings = Findings {
        found,
        prompt: None,
        file: Some(MANIFEST),
    };
    if packet.has_agent_control() {
        findings.error(
            "unsupported_agent_control",
            "agent_control is not supported: this packet would run as a plain sequence",
        );
    }
    if let Some(name) = packet.keys.get("provider").and_then(scalar) {
        provider(packet, &name, &mut findings);
    }
    if let (ProfileSource::Missing, Some(name)) = (&packet.profile.source, &packet.profile.name) {
        let message = format!("profile {name:?} not found: defaults apply");
        findings.warning("unknown_profile", message);
    }
    let keys = packet.manifest.keys.keys().filter_map(|key| key.as_str());
    for key in keys.filter(|key| !known_keys::is_of_manifest(key)) {
        findings.about_key("unsupported_key", key, format!("key {key:?} has no effect"));
    }
    nested::repos(&packet.manifest.keys, &mut findings);
    nested::recovery(&packet.manifest.keys, &mut findings);
}

/// What is in no one file.
fn whole(packet: &Packet, found: &mut Vec<Finding>) {
    let mut findings = Findings {
        found,
        prompt: None,
        file: None,
    };
    for (id, files) in packet.duplicates() {
        findings.found.push(Finding {
            kind: "duplicate_prompt_id",
            severity: Severity::Error,
            file: None,
            message: format!(
                "id {id:?} is used by {}: state, progress and selection are keyed by id",
                files.join(", ")
            ),
            prompt_id: Some(id),
            key: None,
        });
    }
    if let Some(ids) = dependencies::cycle(packet) {
        let error = crate::packet::error::PacketError::DependencyCycle(ids);
        findings.error("dependency_cycle", error.to_string());
    }
}

/// A provider that is neither built in nor an alias.
pub(super) fn provider(packet: &Packet, name: &str, findings: &mut Findings<'_>) {
    let kind = packet.aliases.provider(name);
    if !matches!(kind, Ok((Some(_), _))) {
        let message =
            format!("provider {name:?} is not known (built in: simulated, command, runvil, model)");
        findings.error("unknown_provider", message);
    }
}
