//! Which keys of a manifest and of a prompt have an effect (spec P8, P10, P12).

use super::options::PROMPT_KEYS;

/// The keys of a manifest, beside those that a prompt may have too.
const MANIFEST_KEYS: &[&str] = &[
    "name",
    "profile",
    "prompt_template",
    "prompt_dir",
    "repos",
    "phases",
    "log_mode",
    "log_meta",
    "events_mode",
    "tool_output",
    "thinking",
    "diff",
    "failure_policy",
    "agent_control",
];

/// The keys of a prompt, beside those that a manifest may have too. The last four have findings of
/// their own.
const OWN_KEYS: &[&str] = &[
    "id",
    "num",
    "phase",
    "sp",
    "name",
    "template",
    "targets",
    "commit",
    "depends_on",
    "verify",
    "simulate",
    "references",
    "required_reading",
    "context_files",
    "validation",
];

/// The keys of a prompt that are read and never used (spec P12).
pub(super) const INERT: &[&str] = &["references", "required_reading", "context_files"];

/// Whether a key of a manifest has an effect.
pub(super) fn is_of_manifest(key: &str) -> bool {
    MANIFEST_KEYS.contains(&key) || PROMPT_KEYS.contains(&key)
}

/// Whether a key of a prompt has an effect, or a finding of its own.
pub(super) fn is_of_prompt(key: &str) -> bool {
    OWN_KEYS.contains(&key) || PROMPT_KEYS.contains(&key)
}
