//! Writes the files of a packet that people own: whole, or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

use super::error::PacketError;
use super::source::cause;

/// Writes a file, whatever is there; a file that is there keeps its permissions. `name` is what
/// messages call it.
pub(super) fn write(path: &Path, text: &str, name: &str) -> Result<(), PacketError> {
    let written = sibling(path, text).and_then(|sibling| {
        if let Ok(known) = fs::metadata(path) {
            fs::set_permissions(sibling.path(), known.permissions())?;
        }
        sibling.persist(path)?;
        Ok(())
    });
    written.map_err(|error| failed(&error, name))
}

/// Writes a file that must not be there yet; gives whether it was not.
pub(super) fn create(path: &Path, text: &str, name: &str) -> Result<bool, PacketError> {
    let sibling = sibling(path, text).map_err(|error| failed(&error, name))?;
    match sibling.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(&error.error, name)),
    }
}

/// A temporary file beside the one to write.
fn sibling(path: &Path, text: &str) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut builder = Builder::new();
    builder.prefix(".runvil-");
    #[cfg(unix)]
    {
        // The usual permissions of a new file, which the process's mask cuts down.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    // The errors of the sibling would name it, which says nothing to anyone.
    let unnamed = |error: io::Error| io::Error::from(error.kind());
    let mut sibling = builder.tempfile_in(folder).map_err(unnamed)?;
    sibling.write_all(text.as_bytes()).map_err(unnamed)?;
    Ok(sibling)
}

fn failed(error: &io::Error, name: &str) -> PacketError {
    PacketError::File {
        deed: "write",
        file: name.to_owned(),
        cause: cause(error),
    }
}
