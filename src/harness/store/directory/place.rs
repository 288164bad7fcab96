//! Where a path leads under the root.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::super::backend::{BackendError, EntryKind};

/// What stands at a path. The file system's paths in it are free of links.
pub(super) enum Place<'a> {
    /// A regular file.
    File(PathBuf),
    /// A directory.
    Directory(PathBuf),
    /// Nothing: `names` are missing from `directory` on.
    Absent {
        /// The nearest directory above.
        directory: PathBuf,
        /// The rest of the path.
        names: &'a str,
    },
    /// Nothing, since a file stands above.
    BelowFile,
    /// Nothing of this spelling, but the file system takes another for it (spec S61).
    OtherSpelling,
}

/// Looks a path up, one name after the other.
///
/// # Errors
///
/// `permission_denied` for a link that leaves the root or leads nowhere; `unsupported` for
/// anything that is neither file nor directory; the file system's own.
pub(super) fn find<'a>(root: &Path, path: &'a str) -> Result<Place<'a>, BackendError> {
    let mut directory = root.to_owned();
    let mut left = Some(path);
    while let Some(names) = left {
        let (name, after) = match names.split_once('/') {
            Some((name, after)) => (name, Some(after)),
            None => (names, None),
        };
        let mut entry = directory.join(name);
        let mut metadata = match fs::symlink_metadata(&entry) {
            Err(error) if is_absence(&error) => return Ok(Place::Absent { directory, names }),
            metadata => metadata?,
        };
        if !is_spelled(&directory, name)? {
            return Ok(Place::OtherSpelling);
        }
        if metadata.is_symlink() {
            entry = follow(root, &entry, path)?;
            metadata = fs::symlink_metadata(&entry)?;
        }
        match (EntryKind::of(metadata.file_type()), after) {
            (Some(EntryKind::Directory), _) => directory = entry,
            (_, Some(_)) => return Ok(Place::BelowFile),
            (Some(EntryKind::File), None) => return Ok(Place::File(entry)),
            (None, None) => return Err(neither()),
        }
        left = after;
    }
    Ok(Place::Directory(directory))
}

/// Whether the system says that nothing is there: no such name, a file above it, or a name the
/// file system cannot hold.
pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename
    )
}

/// What is said of pipes, sockets and devices, which are never opened.
pub(super) fn neither() -> BackendError {
    BackendError::Unsupported("it is neither a file nor a directory".to_owned())
}

/// Whether an entry that the file system finds by `name` is spelled so (spec S61).
///
/// Only where the same name in another case is found too can this be otherwise, so only then is
/// the directory read. Apple's file systems also fold Unicode forms.
pub(super) fn is_spelled(directory: &Path, name: &str) -> io::Result<bool> {
    let lower = name.to_lowercase();
    let other = if lower == name {
        name.to_uppercase()
    } else {
        lower
    };
    let folded = other != name && fs::symlink_metadata(directory.join(other)).is_ok();
    if folded || (cfg!(target_vendor = "apple") && !name.is_ascii()) {
        is_listed(directory, name)
    } else {
        Ok(true)
    }
}

fn is_listed(directory: &Path, name: &str) -> io::Result<bool> {
    for entry in fs::read_dir(directory)? {
        if entry?.file_name() == name {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Where a link leads, all links on the way followed.
fn follow(root: &Path, link: &Path, path: &str) -> Result<PathBuf, BackendError> {
    match fs::canonicalize(link) {
        Ok(real) if real.starts_with(root) => Ok(real),
        Ok(_) => Err(BackendError::PermissionDenied(format!(
            "{path} escapes the store root"
        ))),
        Err(error) if is_absence(&error) => Err(BackendError::PermissionDenied(format!(
            "{path} passes through a dangling link"
        ))),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_spelled_as_the_directory_lists_it() -> io::Result<()> {
        let directory = tempfile::tempdir()?;
        fs::write(directory.path().join("Notes"), "")?;
        assert!(is_listed(directory.path(), "Notes")?);
        assert!(!is_listed(directory.path(), "notes")?);
        assert!(is_spelled(directory.path(), "Notes")?);
        fs::write(directory.path().join("notes"), "")?;
        assert!(is_spelled(directory.path(), "Notes")?);
        Ok(())
    }
}
