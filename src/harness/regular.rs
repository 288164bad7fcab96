//! Opens regular files and nothing else (spec P110). A FIFO waits for somebody at the other end, a
//! device does something when it is opened, and some files that the system makes up wait too.

use std::error::Error;
use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Why a file is not used that could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Irregular {
    /// It is a FIFO, a socket, a device, or waits like one.
    Special,
    /// It is a folder.
    Folder,
    /// It has more bytes than this.
    Larger(u64),
}

impl fmt::Display for Irregular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Special | Self::Folder => f.write_str("not a regular file"),
            Self::Larger(most) => write!(f, "larger than {} MiB", most >> 20),
        }
    }
}

impl Error for Irregular {}

impl From<Irregular> for io::Error {
    fn from(irregular: Irregular) -> Self {
        Self::other(irregular)
    }
}

impl Irregular {
    /// What an error of this file's functions says of that.
    pub(crate) fn of(error: &io::Error) -> Option<Self> {
        // A file that has no bytes at the moment would have had whoever reads it wait.
        if error.kind() == ErrorKind::WouldBlock {
            return Some(Self::Special);
        }
        error.get_ref()?.downcast_ref().copied()
    }

    fn refuse(known: &Metadata) -> io::Result<()> {
        match (known.is_file(), known.is_dir()) {
            (true, _) => Ok(()),
            (_, true) => Err(Self::Folder.into()),
            _ => Err(Self::Special.into()),
        }
    }
}

/// Opens a file in this way, links followed. It never waits.
///
/// # Errors
/// [`Irregular`], and the system's own.
pub(crate) fn open(path: &Path, options: &OpenOptions) -> io::Result<File> {
    // What is there is looked at first: to open a device may do something.
    match fs::metadata(path) {
        Ok(known) => Irregular::refuse(&known)?,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut options = options.clone();
    dont_wait(&mut options);
    let file = options.open(path)?;
    // Another may stand there now.
    Irregular::refuse(&file.metadata()?)?;
    Ok(file)
}

/// Opens a file to be appended to, and makes it where there is none.
///
/// # Errors
/// As [`open`].
pub(crate) fn append(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().append(true).create(true))
}

/// Opens a file to be written anew, and makes it where there is none.
///
/// # Errors
/// As [`open`].
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    open(path, options.write(true).create(true).truncate(true))
}

/// Opens a file to be read.
///
/// # Errors
/// As [`open`].
pub(crate) fn reader(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().read(true))
}

/// Reads a file of at most so many bytes.
///
/// # Errors
/// As [`open`].
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = reader(path)?;
    let length = file.metadata()?.len();
    if length > most {
        return Err(Irregular::Larger(most).into());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    file.take(most.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| match Irregular::of(&error) {
            Some(irregular) => irregular.into(),
            None => error,
        })?;
    match u64::try_from(bytes.len()) {
        Ok(length) if length <= most => Ok(bytes),
        _ => Err(Irregular::Larger(most).into()),
    }
}

/// Reads a file of at most so many bytes as UTF-8.
///
/// # Errors
/// As [`open`]; [`ErrorKind::InvalidData`].
pub(crate) fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let not_text = |_| io::Error::new(ErrorKind::InvalidData, "not UTF-8 text");
    String::from_utf8(read(path, most)?).map_err(not_text)
}

#[cfg(unix)]
fn dont_wait(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::OFlags;

    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    options.custom_flags(i32::try_from(flags).unwrap_or_default());
}

/// There are no such files here.
#[cfg(not(unix))]
fn dont_wait(_options: &mut OpenOptions) {}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    type Opens = fn(&Path) -> io::Result<File>;

    const ALL: [Opens; 3] = [append, create, reader];

    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let made = std::process::Command::new("mkfifo")
            .arg(at("fifo"))
            .status();
        assert!(made.unwrap().success());
        let _listener = UnixListener::bind(at("socket")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        std::os::unix::fs::symlink(at("fifo"), at("link")).unwrap();
        let null = Path::new("/dev/null").to_owned();
        for path in [at("fifo"), at("socket"), at("folder"), at("link"), null] {
            for open in ALL {
                let error = open(&path).unwrap_err();
                assert_eq!(error.to_string(), "not a regular file", "{path:?}");
            }
        }
    }

    #[test]
    fn a_file_is_read_up_to_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, vec![b'x'; 1 << 20]).unwrap();
        assert_eq!(read(&path, 1 << 20).unwrap().len(), 1 << 20);
        let error = read(&path, (1 << 20) - 1).unwrap_err();
        assert_eq!(
            Irregular::of(&error),
            Some(Irregular::Larger((1 << 20) - 1))
        );
        fs::write(&path, [0xff]).unwrap();
        assert_eq!(
            read_text(&path, 9).unwrap_err().to_string(),
            "not UTF-8 text"
        );
        let gone = read(&folder.path().join("gone"), 9).unwrap_err();
        assert_eq!(gone.kind(), ErrorKind::NotFound);
    }
}
