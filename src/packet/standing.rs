//! Where prompts stand: how they ended by `progress.log`, and what `state.json` says of a turn that
//! began since (spec P31).

use std::collections::BTreeMap;
use std::path::Path;

use super::error::PacketError;
use super::fingerprint;
use super::progress::{Progress, Recorded};
use super::prompt::Prompt;
use super::prompt_id::PromptId;
use super::state::{Fields, PromptStatus, StateFolder, StateStore, live_owner};

/// What is recorded of the prompts of a packet.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    progress: Progress,
    prompts: BTreeMap<String, Kept>,
}

/// What a prompt counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It is done.
    Completed,
    /// Its newest turn failed.
    Failed,
    /// Neither.
    Open,
}

/// What `state.json` says of a prompt.
#[derive(Clone, Debug)]
struct Kept {
    /// Where it stands, in a word.
    status: String,
    /// The contract that it was completed under.
    contract: Option<String>,
}

/// The words for a turn that has begun and not ended.
const UNENDED: [PromptStatus; 5] = [
    PromptStatus::Running,
    PromptStatus::RetryScheduled,
    PromptStatus::Repairing,
    PromptStatus::Interrupted,
    PromptStatus::VerifierFault,
];

/// Those of them that only a live runner leaves behind.
const UNDER_WAY: [PromptStatus; 3] = [
    PromptStatus::Running,
    PromptStatus::RetryScheduled,
    PromptStatus::Repairing,
];

/// The words for a turn that failed.
const FAILED: [PromptStatus; 3] = [
    PromptStatus::Failed,
    PromptStatus::VerificationFailed,
    PromptStatus::CommitFailed,
];

impl Standing {
    /// Reads what is recorded of a packet. No files are nothing recorded.
    ///
    /// # Errors
    /// [`PacketError::Progress`] and [`PacketError::State`]: a file that cannot be read, or does not
    /// hold what it should.
    pub fn read(root: &Path) -> Result<Self, PacketError> {
        let progress = Progress::read(root)?;
        let folder = StateFolder::of(root);
        let store = StateStore::open(&folder).map_err(PacketError::State)?;
        let is_live = live_owner(&folder).is_some();
        let prompts = store.prompts();
        let prompts =
            prompts.filter_map(|(id, fields)| Some((id.to_owned(), kept(fields, is_live)?)));
        Ok(Self {
            progress,
            prompts: prompts.collect(),
        })
    }

    /// The newest line of a prompt in `progress.log`.
    #[must_use]
    pub fn recorded(&self, id: &PromptId) -> Option<&Recorded> {
        self.progress.get(id)
    }

    /// What a prompt counts as: what its newest line says, unless a turn has begun since that has
    /// not ended, or whose end is not in the log yet.
    #[must_use]
    pub fn mark(&self, id: &PromptId) -> Mark {
        let status = self.status(id);
        if status.is_some_and(|status| is_one_of(&UNENDED, status)) {
            return Mark::Open;
        }
        if status.is_some_and(|status| is_one_of(&FAILED, status)) {
            return Mark::Failed;
        }
        match self.recorded(id) {
            Some(recorded) if recorded.is_completed() => Mark::Completed,
            Some(recorded) if recorded.is_failed() => Mark::Failed,
            _ => Mark::Open,
        }
    }

    /// Whether a prompt counts as completed.
    #[must_use]
    pub fn is_completed(&self, id: &PromptId) -> bool {
        self.mark(id) == Mark::Completed
    }

    /// The status of a prompt where it says more than its mark does.
    #[must_use]
    pub fn detail(&self, id: &PromptId) -> Option<&str> {
        let told = [PromptStatus::Completed, PromptStatus::Failed];
        self.status(id).filter(|status| !is_one_of(&told, status))
    }

    /// Whether a prompt was completed under another contract than it has now. A prompt whose
    /// completion says nothing of its contract was not.
    #[must_use]
    pub fn has_other_contract(&self, prompt: &Prompt) -> bool {
        let kept = self.prompts.get(prompt.id.as_str());
        let contract = kept.and_then(|kept| kept.contract.as_deref());
        self.is_completed(&prompt.id)
            && contract.is_some_and(|contract| contract != fingerprint::contract(prompt))
    }

    fn status(&self, id: &PromptId) -> Option<&str> {
        let kept = self.prompts.get(id.as_str())?;
        Some(kept.status.as_str())
    }
}

fn is_one_of(statuses: &[PromptStatus], word: &str) -> bool {
    statuses.iter().any(|status| status.name() == word)
}

/// What a prompt's fields say. Nothing is under way where nobody runs the packet.
fn kept(fields: &Fields, is_live: bool) -> Option<Kept> {
    let status = fields.get("status")?.as_str()?;
    let status = match !is_live && is_one_of(&UNDER_WAY, status) {
        true => PromptStatus::Interrupted.name(),
        false => status,
    };
    let contract = fields
        .get("contract_fingerprint")
        .and_then(|it| it.as_str());
    Some(Kept {
        status: status.to_owned(),
        contract: contract.map(str::to_owned),
    })
}
