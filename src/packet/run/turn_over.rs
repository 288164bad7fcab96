//! Takes a packet over from the runner before, however that ended (spec P119, P123).

use crate::packet::contract::{self, Scope};
use crate::packet::packet::Packet;
use crate::packet::state::{ProgressLog, RunLock, StateError, StateFolder};

/// Takes the lock of a packet. Where its last runner was killed in the middle of a check, what the
/// check had set aside is put back before anything else sees it.
///
/// # Errors
/// As for [`RunLock::take`]; a `progress.log` that cannot be appended to.
pub(super) fn take_over(packet: &Packet, folder: &StateFolder) -> Result<RunLock, StateError> {
    let lock = RunLock::take(folder)?;
    ProgressLog::of(folder).check()?;
    if lock.has_ended_orphans() {
        for prompt in &packet.prompts {
            contract::roll_back(&Scope::of(packet, prompt), prompt.verify.as_ref());
        }
    }
    Ok(lock)
}
