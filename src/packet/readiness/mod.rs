//! Whether a packet can be run, and what is unfinished in it (spec P34 to P37).

mod authoring;
mod commands;
mod repo;

use std::path::PathBuf;

use serde::Serialize;
use serde_yaml::Mapping;

use super::alias;
use super::error::PacketError;
use super::hindrance::NAMELESS;
use super::options::Options;
use super::packet::Packet;
use super::prompt::Prompt;
use super::run::Committer;
use super::words::ProviderKind;
use crate::harness::CancelToken;

pub use authoring::{AuthoringWarning, has_placeholder};
pub use repo::RepoReport;

/// What a packet has of what a run of it needs (spec P36).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReadinessReport {
    /// The packet's name.
    pub packet: String,
    /// Its folder.
    pub root: PathBuf,
    /// Its manifest's file.
    pub manifest_path: PathBuf,
    /// The folder of its prompts.
    pub prompt_path: PathBuf,
    /// Its profile's name.
    pub profile: Option<String>,
    /// The provider that the packet has for its prompts.
    pub provider: Option<String>,
    /// The model that it has for them.
    pub model: Option<String>,
    /// What is known of the provider.
    pub provider_info: Mapping,
    /// Every repository; one called `default` for the packet's folder where there is none.
    pub repos: Vec<RepoReport>,
    /// All that keeps a run from starting.
    pub readiness_errors: Vec<ReadinessError>,
    /// Whether there is nothing of that.
    #[serde(rename = "runtime_ready?")]
    pub is_runtime_ready: bool,
    /// The prompts' files, in packet order.
    pub prompt_files: Vec<String>,
    /// What is unfinished.
    pub authoring_warnings: Vec<AuthoringWarning>,
    /// Whether there is nothing of that.
    #[serde(rename = "authoring_ready?")]
    pub is_authoring_ready: bool,
}

/// Something that keeps a run from starting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReadinessError {
    /// `repo`, `prompt` or `provider`.
    pub scope: &'static str,
    /// The repo's or provider's name, or the prompt's id.
    pub name: String,
    /// The folder or file it is about.
    pub path: Option<PathBuf>,
    /// Its kind (spec P34, P35).
    pub kind: &'static str,
    /// What is the matter.
    pub message: String,
}

impl ReadinessError {
    /// Whether a run does not start. A program that a contract wants may be there by the time it is
    /// wanted, and where it is not that is a fault of its own (spec P71). A name is wanted by who
    /// commits.
    #[must_use]
    pub fn stops_a_run(&self, committer: Committer) -> bool {
        match self.kind {
            commands::COMMAND_NOT_FOUND => false,
            NAMELESS => committer == Committer::Git,
            _ => true,
        }
    }
}

/// Says why a provider cannot start a prompt, or the packet's prompts at large where there is none;
/// nothing for one that can.
pub type Probe<'a> = &'a dyn Fn(&Packet, Option<&Prompt>, &Options) -> Vec<String>;

/// Looks at everything that a run needs. Each folder is asked about once, and each provider once
/// for each prompt that has options of its own. `flags` are those of the command line.
///
/// # Errors
/// Flags that no option can have.
pub fn survey(
    packet: &Packet,
    flags: &Mapping,
    probe: Probe<'_>,
) -> Result<ReadinessReport, PacketError> {
    survey_until(packet, flags, probe, &CancelToken::default())
}

/// As [`survey`], until it is cancelled: what is reported then means nothing.
///
/// # Errors
/// As [`survey`].
pub fn survey_until(
    packet: &Packet,
    flags: &Mapping,
    probe: Probe<'_>,
    cancel: &CancelToken,
) -> Result<ReadinessReport, PacketError> {
    let options = packet.options(None, flags)?;
    let repos = repo::survey_until(packet, cancel);
    let mut errors: Vec<ReadinessError> = repos
        .iter()
        .flat_map(|repo| repo.errors.iter().cloned())
        .collect();
    for prompt in &packet.prompts {
        errors.extend(unknown_targets(packet, prompt));
    }
    errors.extend(providers(packet, flags, &options, probe)?);
    errors.extend(commands::survey(packet));
    let warnings = authoring::survey(packet);
    Ok(ReadinessReport {
        packet: packet.name.clone(),
        root: packet.root.clone(),
        manifest_path: packet.manifest_path.clone(),
        prompt_path: packet.prompt_dir.clone(),
        profile: packet.profile.name.clone(),
        provider: options.provider.as_ref().map(|it| it.name.clone()),
        model: options.model.clone(),
        provider_info: provider_info(&options),
        repos,
        is_runtime_ready: errors.is_empty(),
        readiness_errors: errors,
        prompt_files: packet.prompts.iter().map(|it| it.file.clone()).collect(),
        is_authoring_ready: warnings.is_empty(),
        authoring_warnings: warnings,
    })
}

/// Looks at the repositories alone; one called `default` for the packet's folder where there is
/// none. Each folder is asked about once.
#[must_use]
pub fn repos(packet: &Packet) -> Vec<RepoReport> {
    repo::survey_until(packet, &CancelToken::default())
}

fn unknown_targets<'p>(
    packet: &'p Packet,
    prompt: &'p Prompt,
) -> impl Iterator<Item = ReadinessError> + 'p {
    let unknown = prompt
        .targets
        .iter()
        .filter(|name| packet.repos.get(name).is_none());
    unknown.map(|target| ReadinessError {
        scope: "prompt",
        name: prompt.id.to_string(),
        path: Some(prompt.path.clone()),
        kind: "unknown_target_repo",
        message: format!(
            "prompt {}: target {target:?} is not a repo of the manifest",
            prompt.id
        ),
    })
}

/// What keeps providers from starting; of several prompts with the same trouble, the first is
/// named.
fn providers(
    packet: &Packet,
    flags: &Mapping,
    options: &Options,
    probe: Probe<'_>,
) -> Result<Vec<ReadinessError>, PacketError> {
    let mut errors: Vec<ReadinessError> = Vec::new();
    let mut add = |prompt: Option<&Prompt>, options: &Options| {
        let name = options.provider.as_ref().map(|it| it.name.clone());
        let messages = match &options.provider {
            None => vec![PacketError::NoProvider.to_string()],
            Some(provider) if provider.kind.is_none() => {
                vec![alias::unknown(&provider.name)]
            }
            Some(_) => probe(packet, prompt, options),
        };
        for message in messages {
            if errors.iter().all(|known| known.message != message) {
                errors.push(ReadinessError {
                    scope: "provider",
                    name: name.clone().unwrap_or_default(),
                    path: prompt.map(|prompt| prompt.path.clone()),
                    kind: "provider_not_ready",
                    message,
                });
            }
        }
    };
    if packet.prompts.is_empty() {
        add(None, options);
    }
    for prompt in &packet.prompts {
        add(Some(prompt), &packet.options(Some(prompt), flags)?);
    }
    Ok(errors)
}

/// What is known of a provider without asking it (spec P132).
fn provider_info(options: &Options) -> Mapping {
    let mut info = Mapping::new();
    let Some(provider) = &options.provider else {
        return info;
    };
    info.insert("provider".into(), provider.name.as_str().into());
    let argv = options.command.get("argv").and_then(|argv| argv.get(0));
    let (lane, command) = match provider.kind {
        None => return info,
        Some(ProviderKind::Command) => {
            let word = argv.and_then(|word| word.as_str()).unwrap_or_default();
            ("process", word)
        }
        Some(_) => ("builtin", "builtin"),
    };
    info.insert("lane".into(), lane.into());
    info.insert("cli_command".into(), command.into());
    info
}
