//! What the placeholders of a command stand for (spec P135).

use std::path::Path;

use super::template::{Known, Template, Values};
use crate::packet::provider::Setting;
use crate::packet::repos::Repo;
use crate::packet::words::PermissionMode;

/// The values of one start of the program.
pub(super) struct Filling<'a> {
    pub(super) setting: Setting<'a>,
    pub(super) repo_args: &'a Template,
    /// The text, where it is an argument.
    pub(super) prompt: Option<&'a str>,
    /// Its file, where it is in one.
    pub(super) prompt_file: Option<&'a Path>,
    /// The agent's own id of the session, where one is resumed.
    pub(super) session_id: Option<&'a str>,
    pub(super) attempt: u64,
    pub(super) mode: &'a str,
}

impl Values for Filling<'_> {
    fn value(&self, name: &str) -> Known {
        let options = self.setting.options;
        let packet = self.setting.packet;
        let path = |path: &Path| Some(path.display().to_string());
        let value = match name {
            "prompt" => self.prompt.map(str::to_owned),
            "prompt_file" => self.prompt_file.and_then(path),
            "cwd" => path(self.setting.cwd()),
            "packet" => path(&packet.root),
            "model" => options.model.clone(),
            "reasoning_effort" => options.reasoning_effort.clone(),
            "permission_mode" => match options.permission_mode {
                PermissionMode::Default => None,
                mode => Some(mode.word().to_owned()),
            },
            "allowed_tools" => options.allowed_tools.as_ref().map(|tools| tools.join(",")),
            "system_prompt" => options.system_prompt.clone(),
            "append_system_prompt" => options.append_system_prompt.clone(),
            "max_turns" => options.max_turns.map(|turns| turns.to_string()),
            "prompt_id" => Some(self.setting.prompt.id.to_string()),
            "attempt" => Some(self.attempt.to_string()),
            "mode" => Some(self.mode.to_owned()),
            "session_id" => self.session_id.map(str::to_owned),
            name => match name
                .strip_prefix("repo:")
                .and_then(|it| packet.folder_of(it))
            {
                Some(folder) => path(folder),
                None => return Known::Unknown,
            },
        };
        value.map_or(Known::Nothing, Known::Value)
    }

    fn repo_args(&self) -> Result<Vec<String>, String> {
        let targets = self.setting.packet.targets(self.setting.prompt);
        let mut words = Vec::new();
        for repo in targets.into_iter().skip(1) {
            words.extend(self.repo_args.fill(&OfRepo(repo))?);
        }
        Ok(words)
    }
}

/// The placeholders of `repo_args`.
struct OfRepo<'a>(&'a Repo);

impl Values for OfRepo<'_> {
    fn value(&self, name: &str) -> Known {
        match (name, &self.0.path) {
            ("name", _) => Known::Value(self.0.name.clone()),
            ("path", Some(path)) => Known::Value(path.display().to_string()),
            ("path", None) => Known::Nothing,
            _ => Known::Unknown,
        }
    }

    fn repo_args(&self) -> Result<Vec<String>, String> {
        Err("command template: {repo_args} has no value".to_owned())
    }
}
