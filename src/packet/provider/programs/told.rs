//! What a program is told of its attempt, as files that it can read (spec P143).

use std::collections::BTreeMap;

use serde_json::json;

use crate::packet::provider::Job;

/// The folder of these files.
pub(super) const TOLD: &str = ".runvil";

/// The files, by their paths.
pub(super) fn files(job: &Job<'_>) -> BTreeMap<String, Vec<u8>> {
    let setting = job.setting;
    let targets = setting.packet.targets(setting.prompt);
    let targets: Vec<&str> = targets.iter().map(|repo| repo.name.as_str()).collect();
    let attempt = json!({
        "prompt_id": setting.prompt.id.as_str(),
        "attempt": job.attempt,
        "mode": job.mode.name(),
        "packet": setting.packet.name,
        "targets": targets,
        "failures": job.failures,
    });
    let mut files = BTreeMap::new();
    let mut put = |name: &str, text: String| files.insert(format!("{TOLD}/{name}"), text.into());
    put("attempt.json", format!("{attempt}\n"));
    if let Some(block) = job.repair {
        put("repair.md", format!("{}\n", block.text()));
    }
    files
}
