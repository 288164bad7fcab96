//! Outputs that a command must make anew: the old ones are set aside, and come back unless it does
//! (spec P65).

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::packet::contract::read::cause;

/// What the name of a file ends in that is set aside.
const BACKUP: &str = ".runvil-verifier-backup";

/// Outputs, the old ones of them set aside. What is neither kept nor restored is restored when this
/// is dropped.
#[derive(Debug)]
pub(super) struct SetAside {
    paths: Vec<PathBuf>,
    is_settled: bool,
}

impl SetAside {
    /// Sets aside what is there of these outputs. What an earlier command left aside, and is not
    /// there, is put back first.
    ///
    /// # Errors
    /// Details that name the output which cannot be set aside; the others are where they were.
    pub(super) fn begin(paths: &[PathBuf]) -> Result<Self, String> {
        let mut aside = Self {
            paths: Vec::new(),
            is_settled: false,
        };
        for path in paths {
            set_aside(path).map_err(|error| {
                let cause = cause(&error);
                format!("cannot set output aside: {}: {cause}", path.display())
            })?;
            aside.paths.push(path.clone());
        }
        Ok(aside)
    }

    /// The outputs that are no regular files with a byte in them.
    pub(super) fn missing(&self) -> Vec<String> {
        let is_made = |path: &&PathBuf| {
            fs::symlink_metadata(path).is_ok_and(|known| known.is_file() && known.len() > 0)
        };
        let missing = self.paths.iter().filter(|path| !is_made(path));
        missing.map(|path| shown(path)).collect()
    }

    /// Keeps the new outputs and removes the old ones. Gives their paths.
    ///
    /// # Errors
    /// Details that name an old one which cannot be removed.
    pub(super) fn keep(&mut self) -> Result<Vec<String>, String> {
        self.is_settled = true;
        for path in &self.paths {
            remove(&backup(path)).map_err(|error| {
                let cause = cause(&error);
                format!(
                    "cannot remove the old output of {}: {cause}",
                    path.display()
                )
            })?;
        }
        Ok(self.paths.iter().map(|path| shown(path)).collect())
    }

    /// Removes the new outputs and puts the old ones back.
    ///
    /// # Errors
    /// Details that name the first that cannot be put back; the others are.
    pub(super) fn restore(&mut self) -> Result<(), String> {
        self.is_settled = true;
        let mut failed = Ok(());
        for path in &self.paths {
            let restored = remove(path).and_then(|()| put_back(path));
            if let Err(error) = restored
                && failed.is_ok()
            {
                let cause = cause(&error);
                failed = Err(format!(
                    "cannot put back output: {}: {cause}",
                    path.display()
                ));
            }
        }
        failed
    }
}

impl Drop for SetAside {
    fn drop(&mut self) {
        if !self.is_settled {
            // There is nobody to tell; what stays aside is put back by the next command.
            let _ = self.restore();
        }
    }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Where an output is kept meanwhile.
fn backup(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(BACKUP);
    name.into()
}

fn set_aside(path: &Path) -> io::Result<()> {
    let backup = backup(path);
    if is_there(&backup)? {
        if is_there(path)? {
            let (old, new) = (backup.display(), path.display());
            let beside = format!(
                "{old} lies beside it, as a check was cut off: move it to {new} to have the old \
                 output back, or remove it to keep the new one"
            );
            return Err(io::Error::other(beside));
        }
        fs::rename(&backup, path)?;
    }
    match fs::symlink_metadata(path) {
        Ok(known) if known.is_file() => fs::rename(path, backup),
        Ok(_) => Err(io::Error::other("not a regular file")),
        Err(error) if is_absence(&error) => Ok(()),
        Err(error) => Err(error),
    }
}

fn put_back(path: &Path) -> io::Result<()> {
    match fs::rename(backup(path), path) {
        Err(error) if is_absence(&error) => Ok(()),
        renamed => renamed,
    }
}

/// Removes what is at a path, if anything.
fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(known) if known.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if is_absence(&error) => Ok(()),
        removed => removed,
    }
}

fn is_there(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if is_absence(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
