//! What is unfinished in a packet (spec P37).

use serde::Serialize;

use crate::packet::contract::placed;
use crate::packet::packet::Packet;
use crate::packet::prompt::Prompt;
use crate::packet::standing::Standing;

/// Marks of what a template leaves to be written (spec P20).
const PLACEHOLDERS: &[&str] = &["runvil:placeholder", "prompt_runner:placeholder"];

/// Something that is unfinished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuthoringWarning {
    /// Its kind (spec P37).
    pub kind: &'static str,
    /// What is the matter.
    pub message: String,
    /// The prompt, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// The prompt's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

pub(super) fn survey(packet: &Packet) -> Vec<AuthoringWarning> {
    let mut warnings = Vec::new();
    let mut of_packet = |kind, message: &str| {
        warnings.push(AuthoringWarning {
            kind,
            message: message.to_owned(),
            prompt_id: None,
            file: None,
        });
    };
    if packet.prompts.is_empty() {
        of_packet("no_prompts", "there are no prompt files");
    }
    let marked = packet.repos.iter().filter(|repo| repo.is_marked_default);
    match marked.count() {
        0 if !packet.repos.is_empty() => {
            of_packet("no_default_repo", "no repo is marked as the default");
        }
        0 | 1 => {}
        _ => of_packet(
            "multiple_default_repos",
            "several repos are marked as the default",
        ),
    }
    // What is recorded and cannot be read is for those to tell that need it.
    let standing = Standing::read(&packet.root).unwrap_or_default();
    for prompt in &packet.prompts {
        of_prompt(prompt, &standing, &mut warnings);
    }
    warnings
}

/// Whether a prompt's body still has something of its template that is to be written.
pub fn has_placeholder(prompt: &Prompt) -> bool {
    PLACEHOLDERS.iter().any(|mark| prompt.body.contains(mark))
}

fn of_prompt(prompt: &Prompt, standing: &Standing, warnings: &mut Vec<AuthoringWarning>) {
    let mut warn = |kind, message: &str| {
        warnings.push(AuthoringWarning {
            kind,
            message: format!("prompt {} {message}", prompt.id),
            prompt_id: Some(prompt.id.to_string()),
            file: Some(prompt.file.clone()),
        });
    };
    if prompt.targets.is_empty() {
        warn("prompt_no_targets", "names no target repo");
    }
    if placed(prompt.verify.as_ref()).is_empty() {
        warn("prompt_empty_verify", "has no contract: `verify` is empty");
    }
    if standing.has_other_contract(prompt) {
        warn(
            "prompt_contract_changed",
            "was completed under another contract than it has now",
        );
    }
    if has_placeholder(prompt) {
        warn(
            "prompt_placeholder_body",
            "still has a placeholder in its body",
        );
    }
}
