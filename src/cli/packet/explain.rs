//! `runvil packet explain` (spec P21).

use std::collections::BTreeMap;
use std::path::Path;

use clap::Args;
use runvil::packet::{Mapping, Options, Packet, PacketError, ProfileSource, PromptId};
use serde::Serialize;

use super::super::status::Status;
use super::place::{Place, config_home};
use super::report;

#[derive(Args)]
#[command(after_help = "\
Examples:
  runvil packet explain demo
  runvil packet explain demo | jq .options.recovery")]
pub struct ExplainArgs {
    #[command(flatten)]
    place: Place,
}

/// What a packet comes to.
#[derive(Serialize)]
struct Explained<'a> {
    name: &'a str,
    root: &'a Path,
    manifest_path: &'a Path,
    prompt_path: &'a Path,
    profile: Profile<'a>,
    repos: Vec<Repo<'a>>,
    phases: &'a BTreeMap<i64, String>,
    prompts: Vec<Prompt<'a>>,
    options: Options,
}

#[derive(Serialize)]
struct Profile<'a> {
    name: Option<&'a str>,
    from: String,
}

#[derive(Serialize)]
struct Repo<'a> {
    name: &'a str,
    path: Option<&'a Path>,
    default: bool,
}

#[derive(Serialize)]
struct Prompt<'a> {
    id: &'a str,
    file: &'a str,
    name: &'a str,
    phase: i64,
    sp: i64,
    targets: &'a [String],
    depends_on: &'a [PromptId],
    /// Where its session would start.
    cwd: &'a Path,
    commit: String,
}

/// Prints what a packet comes to.
pub fn explain(args: &ExplainArgs) -> Status {
    let printed = Packet::load(args.place.folder(), &config_home())
        .and_then(|packet| Ok(report::print_json(&explained(&packet)?, Status::Success)));
    printed.unwrap_or_else(|error| report::refused(&error))
}

fn explained(packet: &Packet) -> Result<Explained<'_>, PacketError> {
    let default = packet.repos.default_repo().map(|repo| repo.name.as_str());
    let repos = packet.repos.iter().map(|repo| Repo {
        name: &repo.name,
        path: repo.path.as_deref(),
        default: default == Some(repo.name.as_str()),
    });
    let prompts = packet.prompts.iter().map(|prompt| Prompt {
        id: prompt.id.as_str(),
        file: &prompt.file,
        name: &prompt.name,
        phase: prompt.phase,
        sp: prompt.sp,
        targets: &prompt.targets,
        depends_on: &prompt.depends_on,
        cwd: packet.scope(prompt).root,
        commit: prompt.commit_message(),
    });
    Ok(Explained {
        name: &packet.name,
        root: &packet.root,
        manifest_path: &packet.manifest_path,
        prompt_path: &packet.prompt_dir,
        profile: Profile {
            name: packet.profile.name.as_deref(),
            from: from(&packet.profile.source),
        },
        repos: repos.collect(),
        phases: &packet.phases,
        prompts: prompts.collect(),
        options: packet.options(None, &Mapping::new())?,
    })
}

/// Where a profile is from, as one word or a path.
fn from(source: &ProfileSource) -> String {
    match source {
        ProfileSource::None => "none".to_owned(),
        ProfileSource::Missing => "missing".to_owned(),
        ProfileSource::BuiltIn => "built in".to_owned(),
        ProfileSource::File(file) => file.display().to_string(),
    }
}
