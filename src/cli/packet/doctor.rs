//! `runvil packet doctor` and `preflight` (spec P33 to P37).

use clap::Args;
use runvil::packet::readiness::{self, ReadinessReport, RepoReport};
use runvil::packet::{Packet, PacketError};

use super::super::status::Status;
use super::flags::OptionFlags;
use super::form::FormFlags;
use super::host::HostFlags;
use super::place::{Place, config_home};
use super::providers::providers;
use super::report;

#[derive(Args)]
#[command(after_help = "\
Examples:
  runvil packet doctor demo
  runvil packet doctor demo --json | jq .authoring_warnings

Exit status: 0 whatever is missing, 2 where the packet does not load.")]
pub struct DoctorArgs {
    #[command(flatten)]
    survey: SurveyArgs,
}

#[derive(Args)]
#[command(after_help = "\
It takes the options of `run`, so that it looks at what a run with them would need.

Examples:
  runvil packet preflight demo
  runvil packet preflight demo --provider model --config runvil.yaml

Exit status: 0 the packet can be run, 1 it cannot, 2 it does not load.")]
pub struct PreflightArgs {
    #[command(flatten)]
    survey: SurveyArgs,
}

/// What is looked at, and how it is told.
#[derive(Args)]
struct SurveyArgs {
    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    form: FormFlags,

    #[command(flatten)]
    options: OptionFlags,

    #[command(flatten)]
    host: HostFlags,
}

/// Reports what is missing and unfinished.
pub fn doctor(args: &DoctorArgs) -> Status {
    let args = &args.survey;
    let found = match survey(args) {
        Ok(found) => found,
        Err(status) => return status,
    };
    if !args.form.is_text() {
        return args.form.print_json(&found, Status::Success);
    }
    let errors = found.readiness_errors.iter();
    let errors: String = errors
        .map(|it| format!("ERROR: {}\n", it.message))
        .collect();
    report::print(&(errors + &text(&found)), Status::Success)
}

/// Reports the same, and fails unless the packet can be run.
pub fn preflight(args: &PreflightArgs) -> Status {
    let args = &args.survey;
    let found = match survey(args) {
        Ok(found) => found,
        Err(status) => return status,
    };
    for error in &found.readiness_errors {
        report::error(&error.message);
    }
    let status = match found.is_runtime_ready {
        true => Status::Success,
        false => Status::Failed,
    };
    match args.form.is_text() {
        true => report::print(&text(&found), status),
        false => args.form.print_json(&found, status),
    }
}

fn survey(args: &SurveyArgs) -> Result<ReadinessReport, Status> {
    let refused = |error: PacketError| report::refused(&error);
    let packet = Packet::load(args.place.folder(), &config_home()).map_err(refused)?;
    let providers = providers(&args.host).map_err(|error| report::unready(&error))?;
    let probe =
        |packet: &_, prompt: Option<&_>, options: &_| providers.problems(packet, prompt, options);
    readiness::survey(&packet, &args.options.keys(), &probe).map_err(refused)
}

/// What a person is told beside the errors.
fn text(found: &ReadinessReport) -> String {
    let mut text = String::new();
    for warning in &found.authoring_warnings {
        text += &format!("WARNING: {}\n", warning.message);
    }
    text += &format!("{} {}\n", found.packet, found.root.display());
    let provider = found.provider.as_deref().unwrap_or("none");
    let model = found.model.as_deref().unwrap_or("no model");
    text += &format!("  provider {provider}, {model}\n");
    for repo in &found.repos {
        text += &repo_line(repo);
    }
    let prompts = match found.prompt_files.len() {
        1 => "1 prompt".to_owned(),
        many => format!("{many} prompts"),
    };
    let ready = match found.is_runtime_ready {
        true => "ready to run",
        false => "not ready to run",
    };
    let finished = match found.authoring_warnings.len() {
        0 => String::new(),
        1 => ", 1 warning".to_owned(),
        many => format!(", {many} warnings"),
    };
    text + &format!("  {prompts}\n{ready}{finished}\n")
}

fn repo_line(repo: &RepoReport) -> String {
    let path = repo.path.as_ref().map(|path| path.display().to_string());
    let path = path.unwrap_or_else(|| "no path".to_owned());
    let default = if repo.default { ", the default" } else { "" };
    let missing = if repo.is_ready { "" } else { ", not ready" };
    format!("  repo {}: {path}{default}{missing}\n", repo.name)
}
