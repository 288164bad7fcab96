//! Whether a command can be started, as far as that can be said without starting it (spec P35,
//! P127, P134, P135, P138).

use std::path::Path;

use super::settings::{Delivery, Settings};
use super::template::Template;
use super::values::Filling;
use super::{LONGEST_ARGUMENT, find};
use crate::packet::provider::Setting;

/// A command that can be started.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) settings: Settings,
}

impl Ready {
    /// Looks at the block, its templates and the program; all that is wrong otherwise.
    pub(super) fn check(setting: Setting<'_>) -> Result<Self, Vec<String>> {
        let settings = Settings::read(&setting.options.command).map_err(|error| vec![error])?;
        let mut problems = unheard(&settings.argv, setting);
        let needed = match settings.delivery {
            Delivery::Stdin => None,
            Delivery::File => Some("prompt_file"),
            Delivery::Arg => Some("prompt"),
        };
        if let Some(name) = needed.filter(|name| !settings.argv.has(name)) {
            problems.push(format!("command template: {{{name}}} is missing"));
        }
        let length = setting.prompt.body.len();
        if settings.delivery == Delivery::Arg && length > LONGEST_ARGUMENT {
            problems.push(too_long(length));
        }
        let filling = |session_id| Filling {
            setting,
            repo_args: &settings.repo_args,
            prompt: (settings.delivery == Delivery::Arg).then_some(""),
            prompt_file: (settings.delivery == Delivery::File).then_some(Path::new("")),
            session_id,
            attempt: 1,
            mode: "run",
        };
        let started = settings.argv.fill(&filling(None));
        let resumed = settings.resume_argv.as_ref();
        let resumed = resumed.map(|argv| argv.fill(&filling(Some(""))));
        for words in std::iter::once(started).chain(resumed) {
            let found = words.and_then(|words| match words.first() {
                Some(word) => find(word, setting).map(drop),
                None => Err("command: argv is empty".to_owned()),
            });
            if let Err(problem) = found
                && !problems.contains(&problem)
            {
                problems.push(problem);
            }
        }
        match problems.is_empty() {
            true => Ok(Self { settings }),
            false => Err(problems),
        }
    }
}

/// What is said of a text that is too long to be an argument.
pub(super) fn too_long(bytes: usize) -> String {
    format!("prompt of {bytes} bytes is too long for an argument")
}

/// The options that the program would not be told of.
fn unheard(argv: &Template, setting: Setting<'_>) -> Vec<String> {
    let options = setting.options;
    let controls = [
        ("system_prompt", options.system_prompt.is_some()),
        (
            "append_system_prompt",
            options.append_system_prompt.is_some(),
        ),
        ("max_turns", options.max_turns.is_some()),
    ];
    let unheard = controls
        .into_iter()
        .filter(|(name, is_set)| *is_set && !argv.has(name));
    unheard
        .map(|(name, _)| format!("command template: {{{name}}} is missing, and {name} is set"))
        .collect()
}
