//! The provider that runs the prompt: a program of this language, by the engine in this process
//! (spec P140 to P145).

mod grounds;
mod outcome;
mod program;
mod session;
mod settings;
mod told;
mod watched;

use std::rc::Rc;

use self::grounds::obstacle;
use self::program::ProgramText;
use self::session::Running;
use self::settings::{Settings, StoreKind};
use super::{Host, Job, Provider, Session, Setting, Wanted};
use crate::packet::failure::{Failure, FailureClass};
use crate::packet::words::ProviderKind;
use crate::prompt::Dialect;

/// Runs prompts as programs.
pub struct Programs {
    host: Rc<dyn Host>,
}

impl Programs {
    /// Runs them as this host does.
    pub fn new(host: Rc<dyn Host>) -> Self {
        Self { host }
    }
}

/// A program that can be started.
struct Ready {
    settings: Settings,
    text: ProgramText,
}

impl Ready {
    /// Looks at the block and the program; all that is wrong otherwise.
    fn check(setting: Setting<'_>) -> Result<Self, Vec<String>> {
        let options = setting.options;
        let refused = [
            ("system_prompt", options.system_prompt.is_some()),
            (
                "append_system_prompt",
                options.append_system_prompt.is_some(),
            ),
            ("max_turns", options.max_turns.is_some()),
        ];
        let refused = refused.into_iter().filter(|(_, is_set)| *is_set);
        let mut problems: Vec<String> = refused
            .map(|(name, _)| format!("provider runvil has no use for {name}"))
            .collect();
        let settings = Settings::read(&options.runvil);
        if let Ok(settings) = &settings
            && settings.store == StoreKind::Target
        {
            problems.extend(obstacle(setting));
        }
        let text = settings
            .as_ref()
            .ok()
            .map(|settings| ProgramText::read(setting, settings.program.as_deref()));
        if let Some(Ok(text)) = &text {
            problems.extend(text.fault());
        }
        match (settings, text) {
            (Ok(settings), Some(Ok(text))) if problems.is_empty() => Ok(Self { settings, text }),
            (settings, text) => {
                problems.extend(settings.err());
                problems.extend(text.and_then(Result::err));
                Err(problems)
            }
        }
    }
}

impl Provider for Programs {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Runvil
    }

    fn problems(&self, setting: Setting<'_>) -> Vec<String> {
        let mut problems = Ready::check(setting).err().unwrap_or_default();
        problems.extend(self.host.harness().err());
        problems
    }

    fn open<'a>(&'a self, job: &'a Job<'a>) -> Result<Box<dyn Session + 'a>, Box<Failure>> {
        let invalid =
            |message: String| Box::new(Failure::new(FailureClass::PROGRAM_INVALID, message));
        let ready = Ready::check(job.setting).map_err(|problems| invalid(problems.join("; ")))?;
        let harness = self.host.harness().map_err(invalid)?;
        let program = ready.text.prompt();
        let wanted = Wanted {
            dialect: program.map_or(Dialect::Runvil, |program| program.dialect),
            needs_model: program.is_some_and(|program| !program.contract.models.is_empty()),
            model: job.setting.options.model.as_deref(),
        };
        let launch = self.host.launch(wanted).map_err(invalid)?;
        Ok(Box::new(Running::new(job, ready, harness, launch)))
    }
}
