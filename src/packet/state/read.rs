//! Reads a file of the state.

use std::io::{self, ErrorKind};
use std::path::Path;

use crate::harness::regular;

/// The most bytes of one file.
const CAP: u64 = 1 << 30;

/// The bytes of a file; `None` where there is none.
///
/// # Errors
/// A file that cannot be read, or is no regular one.
pub(super) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match regular::read(path, CAP) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
