//! Reads the text files of a packet: regular files, of a bounded size, in UTF-8.

use std::io::{self, ErrorKind};
use std::path::Path;

use super::error::PacketError;
use crate::harness::regular;

/// The largest manifest, prompt, profile or template that is read.
const CAP: u64 = 64 << 20;

/// Reads a file that messages name as `name`.
///
/// # Errors
/// A file that is not there, no regular file, too large, or no UTF-8 text.
pub(super) fn read(file: &Path, name: &str) -> Result<String, PacketError> {
    let bytes = regular::read(file, CAP).map_err(|error| PacketError::File {
        deed: "read",
        file: name.to_owned(),
        cause: cause(&error),
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let before = error
            .as_bytes()
            .iter()
            .take(error.utf8_error().valid_up_to());
        PacketError::Syntax {
            file: name.to_owned(),
            line: before.filter(|byte| **byte == b'\n').count() + 1,
            cause: "not UTF-8 text".to_owned(),
        }
    })
}

/// What an error of the system says, in words that need no knowledge of it.
pub(super) fn cause(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}
