//! One runner at a time (spec P119).

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::error::StateError;
use super::folder::StateFolder;
use super::owner::{self, Owner};
use crate::harness::regular;

/// How often a file of a runner that is gone is replaced.
const REPLACEMENTS: u32 = 2;

/// How often, and after which pause each time, the owner of the advisory lock is looked for: it
/// takes the lock first and says then who it is.
const LOOKS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// The right to run a packet. It ends with the process, however that ends.
#[derive(Debug)]
pub struct RunLock {
    pid: PathBuf,
    line: String,
    has_ended_orphans: bool,
    /// The advisory lock is on this file for as long as it is open.
    _lock: File,
}

impl RunLock {
    /// Takes the lock of a packet, without waiting for it.
    ///
    /// # Errors
    /// [`StateError::Active`] where another runner is at work, [`StateError::Contended`] where the
    /// lock changes hands, and files that cannot be written.
    pub fn take(folder: &StateFolder) -> Result<Self, StateError> {
        let pid = folder.pid();
        let lock = folder.lock();
        let file = open(&lock).map_err(|error| StateError::write(&lock, &error))?;
        if !is_free(&file) {
            return Err(holder(&pid, &lock));
        }
        let owner = Owner::this();
        let line = owner.line();
        let mut gone: Vec<Owner> = Vec::new();
        for _ in 0..=REPLACEMENTS {
            match create(&pid, &line) {
                Ok(()) => {
                    // This may take a while, in which others are to see whose the lock is.
                    gone.iter().for_each(Owner::end_orphans);
                    return Ok(Self {
                        pid,
                        line,
                        has_ended_orphans: gone.iter().any(Owner::can_end_orphans),
                        _lock: file,
                    });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(StateError::write(&pid, &error)),
            }
            match Owner::read(&pid) {
                Some(owner) if owner.is_alive() => {
                    let pid_of_owner = owner.pid;
                    return Err(StateError::Active {
                        pid: pid_of_owner,
                        path: pid,
                    });
                }
                left => gone.extend(left),
            }
            match fs::remove_file(&pid) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(StateError::write(&pid, &error));
                }
                _ => {}
            }
        }
        Err(StateError::Contended(pid))
    }

    /// Whether the runner before was killed and nothing that it started runs any more, so that what
    /// it left halfway is left for good.
    pub fn has_ended_orphans(&self) -> bool {
        self.has_ended_orphans
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        if owner::line(&self.pid).is_some_and(|line| line == self.line) {
            // What stays behind names a process that is gone, and is replaced.
            let _ = fs::remove_file(&self.pid);
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    regular::open(path, options.write(true).create(true).truncate(false))
}

fn create(path: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let written = file.write_all(line.as_bytes());
    if written.is_err() {
        // The disk is full; an empty file would be in the way.
        let _ = fs::remove_file(path);
    }
    written
}

/// Takes the advisory lock. Where the file system has none, the other file must do.
#[cfg(unix)]
fn is_free(file: &File) -> bool {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;

    !matches!(
        flock(file, FlockOperation::NonBlockingLockExclusive),
        Err(Errno::WOULDBLOCK)
    )
}

#[cfg(not(unix))]
fn is_free(_file: &File) -> bool {
    true
}

/// Who holds the advisory lock.
fn holder(pid: &Path, lock: &Path) -> StateError {
    for _ in 0..LOOKS {
        if let Some(owner) = Owner::read(pid).filter(Owner::is_alive) {
            return StateError::Active {
                pid: owner.pid,
                path: pid.to_owned(),
            };
        }
        thread::sleep(PAUSE);
    }
    StateError::Contended(lock.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, StateFolder) {
        let packet = tempfile::tempdir().unwrap();
        let folder = StateFolder::of(packet.path());
        folder.make().unwrap();
        (packet, folder)
    }

    /// K33.
    #[test]
    fn what_a_runner_that_is_gone_left_is_replaced() {
        let (_packet, folder) = folder();
        let this = std::process::id();
        for left in ["junk".to_owned(), format!("{this} 0\n"), String::new()] {
            fs::write(folder.pid(), &left).unwrap();
            let lock = RunLock::take(&folder).unwrap();
            let line = fs::read_to_string(folder.pid()).unwrap();
            assert!(line.starts_with(&format!("{this} ")), "{line}");
            drop(lock);
            assert!(!folder.pid().exists());
        }
    }

    #[test]
    fn a_second_runner_is_refused() {
        let (_packet, folder) = folder();
        let _lock = RunLock::take(&folder).unwrap();
        let before = fs::read_to_string(folder.pid()).unwrap();
        let error = RunLock::take(&folder).unwrap_err();
        let pid = std::process::id();
        let expected = format!("run already active: pid {pid} ({})", folder.pid().display());
        assert_eq!(error.to_string(), expected);
        assert_eq!(fs::read_to_string(folder.pid()).unwrap(), before);
    }

    #[test]
    fn a_live_owner_of_the_file_alone_is_respected() {
        let (_packet, folder) = folder();
        fs::write(folder.pid(), Owner::this().line()).unwrap();
        let error = RunLock::take(&folder).unwrap_err();
        assert!(matches!(error, StateError::Active { .. }), "{error}");
        assert!(folder.pid().exists());
    }

    #[test]
    fn a_line_that_is_not_ours_stays() {
        let (_packet, folder) = folder();
        let lock = RunLock::take(&folder).unwrap();
        fs::write(folder.pid(), "1 1\n").unwrap();
        drop(lock);
        assert_eq!(fs::read_to_string(folder.pid()).unwrap(), "1 1\n");
    }
}
