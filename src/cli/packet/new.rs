//! `runvil packet new` (spec P23).

use std::path::{Path, PathBuf};

use clap::Args;
use runvil::packet::authoring::{NewPacket, new_packet};
use runvil::packet::{Mapping, Packet, PacketError, Repo, Value};

use super::super::status::Status;
use super::place::config_home;
use super::report;

#[derive(Args)]
#[command(after_help = "\
Paths of repos are relative to the packet's folder.

  runvil packet new demo --repo app=../app
  runvil packet new demo --repo app=../app --repo docs=../docs --default-repo app
  runvil packet new demo --repo app=../app --provider runvil --profile none

The simulated provider of the default profile writes only what a prompt's `simulate:` says; it \
stands in until `provider:` names another.")]
pub struct NewArgs {
    /// The packet's name, and that of its folder
    name: String,

    /// Where to make that folder; by default the current one
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,

    /// The profile under the manifest; by default the configured one, else simulated-default
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,

    /// A repository; may be given several times
    #[arg(long = "repo", value_name = "NAME=PATH")]
    repos: Vec<String>,

    /// The repo of prompts that name none; a single one is it anyway
    #[arg(long, value_name = "NAME")]
    default_repo: Option<String>,

    /// The template of new prompts
    #[arg(long, value_name = "NAME")]
    prompt_template: Option<String>,

    /// Who runs the prompts: simulated, command, runvil, model, or an alias
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,

    /// The model's id
    #[arg(long, value_name = "ID")]
    model: Option<String>,

    /// The reasoning effort, handed to the provider
    #[arg(long, value_name = "EFFORT")]
    reasoning: Option<String>,

    /// default, auto, bypass or plan
    #[arg(long, value_name = "MODE")]
    permission: Option<String>,

    /// off, warn or require
    #[arg(long, value_name = "HOW")]
    cli_confirmation: Option<String>,

    #[command(flatten)]
    recovery: RecoveryArgs,
}

/// Settings of `recovery`.
#[derive(Args)]
#[command(next_help_heading = "Recovery (the manifest gets all settings, with these changed)")]
struct RecoveryArgs {
    /// How often a broken session is resumed
    #[arg(long, value_name = "N")]
    resume_attempts: Option<u32>,

    /// How often a failed session is retried, for failures without a number of their own
    #[arg(long, value_name = "N")]
    retry_attempts: Option<u32>,

    /// The wait before the first retry
    #[arg(long, value_name = "MS")]
    retry_base_delay_ms: Option<u64>,

    /// The longest wait
    #[arg(long, value_name = "MS")]
    retry_max_delay_ms: Option<u64>,

    /// Vary the waits
    #[arg(long, overrides_with = "no_retry_jitter")]
    retry_jitter: bool,

    /// Do not vary the waits
    #[arg(long, overrides_with = "retry_jitter")]
    no_retry_jitter: bool,

    /// Repair a prompt whose contract does not hold
    #[arg(long, overrides_with = "no_auto_repair")]
    auto_repair: bool,

    /// Repair nothing
    #[arg(long, overrides_with = "auto_repair")]
    no_auto_repair: bool,

    /// How often a prompt is repaired
    #[arg(long, value_name = "N")]
    repair_attempts: Option<u32>,
}

/// Makes a packet.
pub fn new(args: &NewArgs) -> Status {
    let mut repos = Vec::new();
    for value in &args.repos {
        match value.split_once('=') {
            Some((name, path)) if !name.is_empty() && !path.is_empty() => {
                repos.push((name.to_owned(), path.to_owned()));
            }
            _ => {
                report::error(&format!("invalid --repo {value:?}: want NAME=PATH"));
                return Status::Setup;
            }
        }
    }
    let new = NewPacket {
        name: args.name.clone(),
        profile: args.profile.clone(),
        repos,
        default_repo: args.default_repo.clone(),
        keys: keys(args),
        recovery: args.recovery.keys(),
    };
    match make(&new, args) {
        Ok(text) => report::print(&text, Status::Success),
        Err(error) => report::refused(&error),
    }
}

fn make(new: &NewPacket, args: &NewArgs) -> Result<String, PacketError> {
    let home = config_home();
    let parent = args.root.as_deref().unwrap_or(Path::new(""));
    let root = new_packet(new, parent, &home)?;
    let packet = Packet::open(&root, &home)?;
    let mut text = format!("Made packet {} in {}\n", packet.name, root.display());
    for repo in packet.repos.iter() {
        text += &repo_line(repo);
        let path = repo.written.as_deref().map(Path::new);
        let is_elsewhere = path.is_some_and(|path| path.is_relative() && path.exists());
        if is_elsewhere && repo.path.as_ref().is_some_and(|path| !path.exists()) {
            report::warning(&format!(
                "the path of repo {} is relative to the packet, not to this folder",
                repo.name
            ));
        }
    }
    text += &format!(
        "Next: runvil packet prompt new 01 --packet {} --name 'First step'\n",
        root.display()
    );
    Ok(text)
}

/// A repo and where it is, or would be.
pub fn repo_line(repo: &Repo) -> String {
    let path = repo.path.as_deref();
    let shown = path.map_or_else(|| "(no path)".to_owned(), |path| path.display().to_string());
    let missing = match path.is_some_and(Path::exists) {
        true => "",
        false => " (nothing is there yet)",
    };
    format!("  repo {}: {shown}{missing}\n", repo.name)
}

fn keys(args: &NewArgs) -> Mapping {
    let given = [
        ("prompt_template", &args.prompt_template),
        ("provider", &args.provider),
        ("model", &args.model),
        ("reasoning_effort", &args.reasoning),
        ("permission_mode", &args.permission),
        ("cli_confirmation", &args.cli_confirmation),
    ];
    let given = given.into_iter().filter_map(|(key, value)| {
        let value = value.as_deref()?;
        Some((Value::from(key), Value::from(value)))
    });
    given.collect()
}

impl RecoveryArgs {
    fn keys(&self) -> Mapping {
        let mut retry = Mapping::new();
        let mut repair = Mapping::new();
        let mut keys = Mapping::new();
        put(&mut keys, "resume_attempts", self.resume_attempts);
        put(&mut retry, "max_attempts", self.retry_attempts);
        put(&mut retry, "base_delay_ms", self.retry_base_delay_ms);
        put(&mut retry, "max_delay_ms", self.retry_max_delay_ms);
        put(
            &mut retry,
            "jitter",
            either(self.retry_jitter, self.no_retry_jitter),
        );
        put(
            &mut repair,
            "enabled",
            either(self.auto_repair, self.no_auto_repair),
        );
        put(&mut repair, "max_attempts", self.repair_attempts);
        keys.insert("retry".into(), retry.into());
        keys.insert("repair".into(), repair.into());
        keys
    }
}

fn put(keys: &mut Mapping, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        keys.insert(key.into(), value.into());
    }
}

fn either(yes: bool, no: bool) -> Option<bool> {
    (yes || no).then_some(yes)
}
