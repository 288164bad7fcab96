//! Writes the file that a prompt's `output:` declares (spec C2).

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::Builder;

use super::status::SetupError;

/// Why a file could not be written, where that is plain before anything runs.
pub fn obstacle(file: &Path) -> Option<String> {
    let folder = folder_of(file);
    if file.is_dir() {
        Some("it is a folder".to_owned())
    } else if !folder.exists() {
        Some(format!("there is no folder `{}`", folder.display()))
    } else if !folder.is_dir() {
        Some(format!("`{}` is no folder", folder.display()))
    } else {
        None
    }
}

/// Refuses to write a file that is there already, unless that is wanted, and one that cannot be
/// written, where that is plain before.
pub fn check_new(file: &Path, force: bool) -> Result<(), SetupError> {
    let why = match file.is_file() && !force {
        true => Some("it is there already; `--force` writes over it".to_owned()),
        false => obstacle(file),
    };
    match why {
        Some(why) => Err(SetupError(format!(
            "cannot write `{}`: {why}",
            file.display()
        ))),
        None => Ok(()),
    }
}

/// Writes a file as [`write`] does, but does not replace one unless that is wanted.
pub fn write_new(file: &Path, bytes: &[u8], force: bool) -> io::Result<()> {
    put(file, bytes, force)
}

/// Writes a file whole or not at all: to a temporary sibling that then takes its name. A link is
/// followed, so the file it names is the one replaced; what is no regular file, such as a pipe or
/// a device, is written through, since it cannot be replaced.
pub fn write(file: &Path, bytes: &[u8]) -> io::Result<()> {
    put(file, bytes, true)
}

fn put(file: &Path, bytes: &[u8], replaces: bool) -> io::Result<()> {
    let target = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let known = fs::metadata(&target).ok();
    if let Some(known) = &known
        && !known.is_file()
    {
        return File::options().write(true).open(&target)?.write_all(bytes);
    }
    let mut builder = Builder::new();
    #[cfg(unix)]
    {
        // The usual permissions of a new file, which the process's mask cuts down.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    // The errors of the sibling would name it, which says nothing to anyone.
    let unnamed = |error: io::Error| io::Error::from(error.kind());
    let mut sibling = builder.tempfile_in(folder_of(&target)).map_err(unnamed)?;
    sibling.write_all(bytes).map_err(unnamed)?;
    if let Some(known) = known {
        fs::set_permissions(sibling.path(), known.permissions())?;
    }
    match replaces {
        true => sibling.persist(&target)?,
        false => sibling.persist_noclobber(&target)?,
    };
    Ok(())
}

/// The folder a file stands in.
fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}
