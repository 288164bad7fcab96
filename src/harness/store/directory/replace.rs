//! Writes that happen as a whole or not at all: a temporary sibling, then a rename (spec S60).

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::super::backend::BackendError;
use super::place::{Place, find};

/// What stays of a file's contents before the new bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    Nothing,
    Contents,
}

/// Puts a file at `path`. A failure leaves everything as it was.
pub(super) fn replace(
    root: &Path,
    path: &str,
    keep: Keep,
    bytes: &[u8],
) -> Result<(), BackendError> {
    let mut made = MadeDirectories::default();
    let (target, old) = match find(root, path)? {
        Place::File(target) => {
            let old = fs::metadata(&target)?;
            refuse_read_only(&old)?;
            (target, Some(old))
        }
        Place::Absent { directory, names } => (made.make_above(directory, names)?, None),
        Place::Directory(_) => return Err(BackendError::IsADirectory),
        Place::BelowFile => return Err(BackendError::NotADirectory),
        Place::OtherSpelling => return Err(BackendError::AlreadyExists),
    };
    let mut sibling = sibling_of(root, &target)?;
    if let Some(old) = old {
        if keep == Keep::Contents {
            io::copy(&mut File::open(&target)?, sibling.as_file_mut())?;
        }
        sibling.as_file().set_permissions(old.permissions())?;
    }
    sibling.as_file_mut().write_all(bytes)?;
    sibling.persist(&target).map_err(|failed| failed.error)?;
    made.keep();
    Ok(())
}

/// A file marked read-only is neither replaced nor removed, though its directory would allow it.
pub(super) fn refuse_read_only(metadata: &Metadata) -> Result<(), BackendError> {
    if metadata.permissions().readonly() {
        Err(BackendError::PermissionDenied(
            "the file is read-only".to_owned(),
        ))
    } else {
        Ok(())
    }
}

/// A new file beside `target`. Its name ends in a dot, so that no prompt can name it and no glob
/// lists it, should a crash leave it there.
fn sibling_of(root: &Path, target: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".runvil-").suffix(".");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(target.parent().unwrap_or(root))
}

/// Directories made for a file that is not there yet; removed again unless [kept](Self::keep).
#[derive(Default)]
struct MadeDirectories(Vec<PathBuf>);

impl MadeDirectories {
    /// Makes the directories among `names`, which are missing from `directory` on, and gives the
    /// path of the last name.
    fn make_above(&mut self, mut directory: PathBuf, names: &str) -> io::Result<PathBuf> {
        let (above, file) = match names.rsplit_once('/') {
            Some((above, file)) => (Some(above), file),
            None => (None, names),
        };
        for name in above.into_iter().flat_map(|above| above.split('/')) {
            directory.push(name);
            match fs::create_dir(&directory) {
                Ok(()) => self.0.push(directory.clone()),
                Err(error)
                    if error.kind() == ErrorKind::AlreadyExists
                        && fs::symlink_metadata(&directory)?.is_dir() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(directory.join(file))
    }

    fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for MadeDirectories {
    fn drop(&mut self) {
        for directory in self.0.iter().rev() {
            // One that is not empty by now is in use, and stays.
            let _ = fs::remove_dir(directory);
        }
    }
}
