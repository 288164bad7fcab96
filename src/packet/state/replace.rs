//! Writes a file whole or not at all (spec P110).

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Puts a text in the place of a file: it is written to a temporary file beside it, flushed to
/// disk, and renamed. Whoever reads the file sees all of the one or all of the other.
///
/// # Errors
/// A file that cannot be written. What was there before is still there.
pub(super) fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let beside = beside(path);
    let written = write_through(&beside, text).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // It may not be there, and a leftover is taken away by the next.
        let _ = fs::remove_file(&beside);
    }
    written
}

fn write_through(path: &Path, text: &[u8]) -> io::Result<()> {
    // What a crash left, or somebody laid here, is taken away and never written through.
    let _ = fs::remove_file(path);
    let mut file = File::create_new(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => io::Error::other(format!("{} is in the way", path.display())),
        _ => error,
    })?;
    file.write_all(text)?;
    file.sync_all()
}

/// The name of the temporary file. One runner at a time writes a packet's state, so it needs no
/// other name, and what a crash leaves is found again.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(".tmp");
    path.with_file_name(name)
}
