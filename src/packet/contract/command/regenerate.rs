//! Outputs that a command must make anew: the old ones are set aside, and come back unless it does
//! (spec P65).

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek};
use std::path::{Path, PathBuf};

use crate::harness::regular;
use crate::packet::contract::read::cause;

/// What the name of a file ends in that is set aside.
const BACKUP: &str = ".runvil-verifier-backup";

/// Outputs, the old ones of them set aside. What is neither kept nor restored is restored when this
/// is dropped.
#[derive(Debug)]
pub(super) struct SetAside {
    outputs: Vec<Aside>,
    is_settled: bool,
}

/// An output and its old version, if it had one.
#[derive(Debug)]
struct Aside {
    path: PathBuf,
    was_there: bool,
    /// The old version, where it can be read: a command that tidies up may remove what it finds
    /// beside its outputs.
    old: Option<File>,
}

impl SetAside {
    /// Sets aside what is there of these outputs. What an earlier command left aside, and is not
    /// there, is put back first.
    ///
    /// # Errors
    /// Details that name the output which cannot be set aside; the others are where they were.
    pub(super) fn begin(paths: &[PathBuf]) -> Result<Self, String> {
        let mut aside = Self {
            outputs: Vec::new(),
            is_settled: false,
        };
        for path in paths {
            let output = set_aside(path).map_err(|error| {
                let cause = cause(&error);
                format!("cannot set output aside: {}: {cause}", path.display())
            })?;
            aside.outputs.push(output);
        }
        Ok(aside)
    }

    /// The outputs that are no regular files with a byte in them.
    pub(super) fn missing(&self) -> Vec<String> {
        let is_made = |path: &Path| {
            fs::symlink_metadata(path).is_ok_and(|known| known.is_file() && known.len() > 0)
        };
        let missing = self.paths().filter(|path| !is_made(path));
        missing.map(shown).collect()
    }

    /// Keeps the new outputs and removes the old ones. Gives their paths.
    ///
    /// # Errors
    /// Details that name an old one which cannot be removed.
    pub(super) fn keep(&mut self) -> Result<Vec<String>, String> {
        self.is_settled = true;
        for path in self.paths() {
            remove(&backup(path)).map_err(|error| {
                let cause = cause(&error);
                format!(
                    "cannot remove the old output of {}: {cause}",
                    path.display()
                )
            })?;
        }
        Ok(self.paths().map(shown).collect())
    }

    /// Removes the new outputs and puts the old ones back.
    ///
    /// # Errors
    /// Details that name the first that cannot be put back; the others are.
    pub(super) fn restore(&mut self) -> Result<(), String> {
        self.is_settled = true;
        let mut failed = Ok(());
        for output in &mut self.outputs {
            let restored = remove(&output.path).and_then(|()| output.put_back());
            if let Err(error) = restored
                && failed.is_ok()
            {
                let cause = cause(&error);
                failed = Err(format!(
                    "cannot put back output: {}: {cause}",
                    output.path.display()
                ));
            }
        }
        failed
    }

    fn paths(&self) -> impl Iterator<Item = &Path> {
        self.outputs.iter().map(|output| output.path.as_path())
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

/// Puts the old output back that a check which was killed had set aside; what its command made of
/// it goes. What is no regular file stays as it is: the next command says what is in its way.
pub(super) fn roll_back(path: &Path) {
    let backup = backup(path);
    let is_aside = fs::symlink_metadata(&backup).is_ok_and(|known| known.is_file());
    let is_free = match fs::symlink_metadata(path) {
        Ok(known) => known.is_file(),
        Err(error) => is_absence(&error),
    };
    if is_aside && is_free {
        // Where it fails both are as they were, and the next command names them.
        let _ = fs::rename(&backup, path);
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

impl Aside {
    /// Puts the old version where it was, if there was one.
    fn put_back(&mut self) -> io::Result<()> {
        match fs::rename(backup(&self.path), &self.path) {
            Err(error) if is_absence(&error) => {}
            renamed => return renamed,
        }
        match &mut self.old {
            Some(old) => copy_back(old, &self.path),
            None if self.was_there => Err(io::Error::other("its old version is gone")),
            None => Ok(()),
        }
    }
}

/// Writes a file anew from what is open of it.
fn copy_back(old: &mut File, path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = File::create_new(path)?;
    old.rewind()?;
    io::copy(old, &mut file)?;
    file.set_permissions(old.metadata()?.permissions())
}

fn set_aside(path: &Path) -> io::Result<Aside> {
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
    let (was_there, old) = match fs::symlink_metadata(path) {
        Ok(known) if known.is_file() => {
            fs::rename(path, &backup)?;
            (
                true,
                regular::open(&backup, OpenOptions::new().read(true)).ok(),
            )
        }
        Ok(_) => return Err(io::Error::other("not a regular file")),
        Err(error) if is_absence(&error) => (false, None),
        Err(error) => return Err(error),
    };
    Ok(Aside {
        path: path.to_owned(),
        was_there,
        old,
    })
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
