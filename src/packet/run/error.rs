//! Why a run did not take place, or could not go on.

use std::fmt;

use crate::packet::error::PacketError;
use crate::packet::readiness::ReadinessError;
use crate::packet::state::StateError;

/// Why a run did not take place, or could not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The packet, its options or the selection.
    Packet(PacketError),
    /// What keeps the packet from running (spec P33 to P35).
    NotReady(Vec<ReadinessError>),
    /// A prompt to be repaired that is not there (spec P100).
    PromptNotFound(String),
    /// The state of the packet refused the run; nothing has started.
    State(StateError),
    /// The state could not be written while the run was under way.
    Broken(StateError),
}

impl RunError {
    /// The same error of a run that is under way.
    pub(super) fn under_way(self) -> Self {
        match self {
            Self::State(error) => Self::Broken(error),
            other => other,
        }
    }
}

impl From<StateError> for RunError {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

impl From<PacketError> for RunError {
    fn from(error: PacketError) -> Self {
        Self::Packet(error)
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packet(error) => error.fmt(f),
            Self::NotReady(errors) => {
                let messages: Vec<&str> = errors.iter().map(|it| it.message.as_str()).collect();
                write!(f, "the packet is not ready: {}", messages.join("; "))
            }
            Self::PromptNotFound(id) => write!(f, "prompt {id} not found"),
            Self::State(error) | Self::Broken(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}
