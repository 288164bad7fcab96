//! What a run is asked for.

use serde_yaml::Mapping;

use super::context::Committer;
use crate::packet::packet::Packet;
use crate::packet::selection::Selectors;

/// A run of a packet.
#[derive(Clone, Copy, Debug)]
pub struct RunRequest<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// Options of the command line, under the names of the manifest's keys.
    pub flags: &'a Mapping,
    /// Which prompts.
    pub selectors: &'a Selectors,
    /// Whether a run that has not ended is given up (spec P117).
    pub new_run: bool,
    /// Whether contracts are checked before sessions; `None` where the selection decides (spec
    /// P72).
    pub verify_first: Option<bool>,
    /// Who commits.
    pub committer: Committer,
    /// Whether readiness is not asked for (spec P33).
    pub skip_readiness: bool,
}

/// A repair of one prompt (spec P100).
#[derive(Clone, Copy, Debug)]
pub struct RepairRequest<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// Options of the command line, under the names of the manifest's keys.
    pub flags: &'a Mapping,
    /// The prompt's id, as written.
    pub id: &'a str,
    /// Who commits.
    pub committer: Committer,
}
