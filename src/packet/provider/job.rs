//! What a provider is asked to do (spec P124).

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::deadline::Deadline;
use crate::packet::interrupt::Interrupt;
use crate::packet::options::Options;
use crate::packet::packet::Packet;
use crate::packet::prompt::Prompt;
use crate::packet::recovery::RepairBlock;
use crate::packet::state::Mode;

/// A prompt and the options in force for it.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// The prompt.
    pub prompt: &'a Prompt,
    /// The options.
    pub options: &'a Options,
}

impl<'a> Setting<'a> {
    /// The working folder (spec P41).
    pub fn cwd(&self) -> &'a Path {
        self.packet.scope(self.prompt).root
    }
}

/// One attempt, as a provider is given it.
#[derive(Debug)]
pub struct Job<'a> {
    /// The prompt and its options.
    pub setting: Setting<'a>,
    /// What is sent: the prompt's body, in a repair with the block below it (spec P96, P97).
    pub text: &'a str,
    /// The block of a repair, also in a retry that follows one.
    pub repair: Option<&'a RepairBlock>,
    /// The unmet items that the repair is about, as reports write them (spec P143).
    pub failures: &'a [Value],
    /// The attempt's number in this invocation, from 1.
    pub attempt: u64,
    /// What the attempt is.
    pub mode: Mode,
    /// When the session's time is over.
    pub deadline: Deadline,
    /// What ends the session from outside.
    pub interrupt: &'a Interrupt,
    /// Where a session may leave files for its resumes, and the start of their names:
    /// `.prompt_runner/sessions/prompt-ID-TIME`. The folder need not be there.
    pub files: PathBuf,
}
