//! Hazards of one prompt.

use super::finding::Finding;
use super::findings::Findings;
use super::{contract, manifest, nested};
use crate::packet::body;
use crate::packet::error::PacketError;
use crate::packet::keys::scalar;
use crate::packet::known_keys;
use crate::packet::packet::Packet;
use crate::packet::prompt::Prompt;
use crate::packet::prompt_file;
use crate::packet::prompt_id::PromptId;

pub(super) fn look(packet: &Packet, prompt: &Prompt, found: &mut Vec<Finding>) {
    let mut findings = Findings {
        found,
        prompt: Some(prompt),
        file: Some(&prompt.file),
    };
    file_name(prompt, &mut findings);
    targets(packet, prompt, &mut findings);
    for dependency in &prompt.depends_on {
        if packet.prompt(dependency.as_str()).is_none() {
            let error = PacketError::UnknownDependency {
                prompt: prompt.id.clone(),
                dependency: dependency.clone(),
            };
            findings.error("unknown_dependency", error.to_string());
        }
    }
    if let Some(name) = prompt.keys.get("provider").and_then(scalar) {
        manifest::provider(packet, &name, &mut findings);
    }
    keys(prompt, &mut findings);
    contract::look(packet, prompt, &mut findings);
}

fn file_name(prompt: &Prompt, findings: &mut Findings<'_>) {
    let file_name = prompt.file_name();
    let Some(prefix) = prompt_file::prefix(&file_name) else {
        findings.error(
            "prompt_filename_without_prefix",
            "no numeric prefix: the file sorts after all numbered prompts",
        );
        return;
    };
    if prefix.parse::<PromptId>().ok().as_ref() != Some(&prompt.id) {
        let message = format!(
            "id {:?} does not match the file prefix {prefix:?}: prompts run in file order, under \
             their id in every record",
            prompt.id.as_str()
        );
        findings.error("prompt_id_filename_mismatch", message);
    }
}

fn targets(packet: &Packet, prompt: &Prompt, findings: &mut Findings<'_>) {
    for target in &prompt.targets {
        if target.starts_with('@') {
            let message = format!(
                "target {target:?} uses group syntax, which packets do not have: it names nothing"
            );
            findings.error("repo_group_in_targets", message);
        } else if packet.repos.get(target).is_none() {
            let names = packet.repos.names();
            let known = match names.is_empty() {
                true => "(none)".to_owned(),
                false => names.join(", "),
            };
            let message =
                format!("target {target:?} is not a repo of the manifest (known: {known})");
            findings.error("unknown_target_repo", message);
        }
    }
}

fn keys(prompt: &Prompt, findings: &mut Findings<'_>) {
    for key in prompt.keys.keys().filter_map(|key| key.as_str()) {
        if known_keys::INERT.contains(&key) {
            let message = format!(
                "{key} is never sent to the provider and never used: write it into the body"
            );
            findings.about_key("inert_front_matter_key", key, message);
        } else if !known_keys::is_of_prompt(key) {
            findings.about_key("unsupported_key", key, format!("key {key:?} has no effect"));
        }
    }
    nested::recovery(&prompt.keys, findings);
    nested::simulate(&prompt.keys, findings);
    let has_key = prompt.keys.contains_key("validation");
    if has_key || body::has_section(&prompt.body, "## Validation Commands") {
        findings.warning(
            "legacy_validation_commands",
            "validation commands are not executed: move them to verify.commands",
        );
    }
}
