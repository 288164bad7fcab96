//! One process at a time writes a record.

use std::fs::File;

/// Has the record be this process's to write, until the file is closed.
///
/// # Errors
/// Another process has it. A system that has no such locks lets everybody.
#[cfg(unix)]
pub(in crate::harness) fn lock(record: &File) -> Result<(), InUse> {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;

    // Devices and pipes are shared, and each keeps what it is given.
    if record.metadata().is_ok_and(|known| !known.is_file()) {
        return Ok(());
    }
    match flock(record, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(InUse),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
pub(in crate::harness) fn lock(_: &File) -> Result<(), InUse> {
    Ok(())
}

/// Another process has the record.
#[derive(Debug)]
pub(in crate::harness) struct InUse;
