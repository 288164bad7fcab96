//! The provider that runs a program: any agent with a command line (spec P134 to P139).

mod confirmation;
mod outcome;
mod ready;
mod rules;
mod session;
mod settings;
mod tail;
mod template;
mod values;

use std::path::PathBuf;

use self::ready::Ready;
use self::session::Running;
use super::{Job, Provider, Session, Setting};
use crate::packet::failure::{Failure, FailureClass};
use crate::packet::program::{self, NotFound};
use crate::packet::words::ProviderKind;

/// The most bytes that the text may have as an argument (spec P134).
const LONGEST_ARGUMENT: usize = 128 << 10;

/// Runs the program of the block `command`.
#[derive(Clone, Copy, Debug, Default)]
pub struct CommandLine;

impl Provider for CommandLine {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Command
    }

    fn problems(&self, setting: Setting<'_>) -> Vec<String> {
        match Ready::check(setting) {
            Ok(_) => Vec::new(),
            Err(problems) => problems,
        }
    }

    fn open<'a>(&'a self, job: &'a Job<'a>) -> Result<Box<dyn Session + 'a>, Box<Failure>> {
        // What a check would have said, where it was skipped.
        match Ready::check(job.setting) {
            Ok(ready) => Ok(Box::new(Running::new(job, ready))),
            Err(problems) => Err(Box::new(Failure::new(
                FailureClass::PROVIDER_UNAVAILABLE,
                problems.join("; "),
            ))),
        }
    }
}

/// The file of a program; what is said where there is none (spec P138).
fn find(word: &str, setting: Setting<'_>) -> Result<PathBuf, String> {
    let missing = || format!("provider command not found: {word}");
    let file = program::find(word, &setting.packet.root).map_err(|error| match error {
        NotFound::OnPath | NotFound::At(_) => missing(),
    })?;
    match rustix::fs::access(&file, rustix::fs::Access::EXEC_OK) {
        Ok(()) => Ok(file),
        Err(error) => Err(cannot_run(&file, &std::io::Error::from(error))),
    }
}

/// What is said of a program that is there and cannot be started (spec P138).
fn cannot_run(file: &std::path::Path, error: &std::io::Error) -> String {
    let cause = crate::packet::source::cause(error);
    format!("provider command cannot run: {}: {cause}", file.display())
}
