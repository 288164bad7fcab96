//! What the prompts of a run share.

use serde_yaml::Mapping;

use super::notice::{Notice, Observer};
use crate::packet::contract::Worktrees;
use crate::packet::interrupt::Interrupt;
use crate::packet::packet::Packet;
use crate::packet::prompt::Prompt;
use crate::packet::provider::Providers;
use crate::packet::state::{ProgressLog, StateFolder, StateStore};

/// Who commits what a prompt has done (spec P101).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Committer {
    /// The runner, with git.
    #[default]
    Git,
    /// Nobody: committer `noop`.
    Noop,
    /// Each session its own work: `--no-commit`.
    Sessions,
}

/// Everything that a prompt's life touches beside the prompt.
pub(in crate::packet) struct Context<'a> {
    pub(in crate::packet) packet: &'a Packet,
    pub(in crate::packet) flags: &'a Mapping,
    pub(in crate::packet) providers: &'a Providers,
    pub(in crate::packet) committer: Committer,
    pub(in crate::packet) interrupt: &'a Interrupt,
    pub(in crate::packet) observer: &'a mut dyn Observer,
    pub(in crate::packet) folder: StateFolder,
    pub(in crate::packet) store: StateStore,
    pub(in crate::packet) progress: ProgressLog,
    pub(in crate::packet) worktrees: Worktrees,
    pub(in crate::packet) run_id: Option<String>,
}

/// What a command line asks a context for.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) packet: &'a Packet,
    pub(super) flags: &'a Mapping,
    pub(super) committer: Committer,
}

impl<'a> Context<'a> {
    /// A context of no run, with the state that was opened in a folder.
    pub(super) fn new(
        asked: Asked<'a>,
        providers: &'a Providers,
        observer: &'a mut dyn Observer,
        interrupt: &'a Interrupt,
        (folder, store): (StateFolder, StateStore),
    ) -> Self {
        Self {
            packet: asked.packet,
            flags: asked.flags,
            providers,
            committer: asked.committer,
            interrupt,
            observer,
            progress: ProgressLog::of(&folder),
            folder,
            store,
            worktrees: Worktrees::default(),
            run_id: None,
        }
    }

    /// The same as part of a run.
    pub(super) fn of_run(self, run_id: &str) -> Self {
        Self {
            run_id: Some(run_id.to_owned()),
            ..self
        }
    }

    pub(in crate::packet) fn tell(&mut self, notice: Notice<'_>) {
        self.observer.notice(notice);
    }

    /// How many attempts a prompt has had in its newest turn; none for one that needed no session.
    pub(super) fn attempts_of(&self, prompt: &Prompt) -> u64 {
        let fields = self.store.prompt(prompt.id.as_str());
        let had_session = fields.is_some_and(|fields| fields.get("session_ran").is_none());
        let last = fields.and_then(|fields| fields.get("last_attempt")?.as_u64());
        last.filter(|_| had_session).unwrap_or(0)
    }
}
