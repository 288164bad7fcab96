//! Lint: what in a packet loads and runs but means something else (spec P107, P108). It is static:
//! it reads the packet, starts nothing and looks into no repository.

mod contract;
mod entry;
mod finding;
mod findings;
mod manifest;
mod nested;
mod prompt;

use serde::Serialize;

use super::packet::Packet;

pub use finding::{Finding, Severity};

/// What lint says of a packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LintReport {
    /// The packet's name.
    pub packet: String,
    /// Its folder.
    pub root: String,
    /// Whether warnings count as errors.
    #[serde(rename = "strict?")]
    pub is_strict: bool,
    /// How many errors there are.
    pub errors: usize,
    /// How many warnings.
    pub warnings: usize,
    /// Whether there is no error.
    #[serde(rename = "pass?")]
    pub pass: bool,
    /// All of them, by file, kind and message.
    pub findings: Vec<Finding>,
}

/// Looks at a packet that was loaded with [`Packet::survey`].
#[must_use]
pub fn lint(packet: &Packet, strict: bool) -> LintReport {
    let mut findings = Vec::new();
    manifest::look(packet, &mut findings);
    for one in &packet.prompts {
        prompt::look(packet, one, &mut findings);
    }
    findings.sort_by(|a, b| (&a.file, a.kind, &a.message).cmp(&(&b.file, b.kind, &b.message)));
    if strict {
        for finding in &mut findings {
            finding.severity = Severity::Error;
        }
    }
    let is_error = |finding: &&Finding| finding.severity == Severity::Error;
    let errors = findings.iter().filter(is_error).count();
    LintReport {
        packet: packet.name.clone(),
        root: packet.root.display().to_string(),
        is_strict: strict,
        errors,
        warnings: findings.len() - errors,
        pass: errors == 0,
        findings,
    }
}
