//! The file of a run's record (spec C2, R14).

use std::fmt;
use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, ErrorKind, Seek};
use std::path::{Path, PathBuf};

use runvil::harness::ResumeError;
use runvil::harness::record::{Head, Line, Reader, RecordError, Recorder, has_ended};

use super::args::RecordArgs;
use super::source::is_stdin;
use super::status::SetupError;

/// The file of a record that a run is about to write.
pub struct RecordFile {
    file: PathBuf,
    /// Whether it was not there before.
    is_new: bool,
}

impl RecordFile {
    /// Opens the file that the words name, so that nothing runs where it cannot be written. What it
    /// holds stays until the run begins. `taken` are the files that the run reads or writes beside,
    /// `store` is the folder of its store.
    pub fn open(
        args: &RecordArgs,
        taken: &[PathBuf],
        store: Option<&Path>,
    ) -> Result<Option<(Self, Recorder)>, SetupError> {
        let Some(file) = &args.record else {
            return Ok(None);
        };
        let blame = |why: &str| SetupError(format!("cannot record to `{}`: {why}", file.display()));
        if is_stdin(file) {
            return Err(blame(
                "a file has to be named; standard output holds the result",
            ));
        }
        let known = fs::metadata(file).ok();
        let is_regular = known.as_ref().is_some_and(Metadata::is_file);
        if known.as_ref().is_some_and(Metadata::is_dir) {
            return Err(blame("it is a folder"));
        }
        let may_hold = is_regular || known.is_none();
        if may_hold && taken.iter().any(|other| is_same(file, other)) {
            return Err(blame("the run has this file for something else"));
        }
        if may_hold && store.is_some_and(|store| is_within(file, store)) {
            return Err(blame("it is in the run's store"));
        }
        if is_regular && !args.force {
            return Err(blame("it is there already; `--force` writes over it"));
        }
        const IRREGULAR: &str = "`--durable` needs a regular file";
        if args.durable && !may_hold {
            return Err(blame(IRREGULAR));
        }
        let is_new = known.is_none();
        let opened = open_to_write(file, known.as_ref()).map_err(|error| match error.kind() {
            ErrorKind::NotFound => blame("there is no such folder"),
            _ => blame(&error.to_string()),
        })?;
        if args.durable {
            // Another may stand there now.
            if !opened.metadata().is_ok_and(|opened| opened.is_file()) {
                return Err(blame(IRREGULAR));
            }
            settle_name(file);
        }
        let recorder = match args.durable {
            true => Recorder::durable(opened),
            false => Recorder::file(opened),
        };
        recorder
            .claim()
            .map_err(|error| blame(&error.to_string()))?;
        let file = file.clone();
        Ok(Some((Self { file, is_new }, recorder)))
    }

    /// Nothing ran, so there is no record.
    pub fn discard(self) {
        if self.is_new {
            // One that stays is empty.
            let _ = fs::remove_file(self.file);
        }
    }
}

/// Opens a file of which this is known for writing, and makes it where nothing is. It never waits:
/// a FIFO would, for somebody to read it.
fn open_to_write(file: &Path, known: Option<&Metadata>) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(known.is_none());
    #[cfg(unix)]
    if known.is_some_and(|known| !known.is_file()) {
        use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};

        use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
        use rustix::io::Errno;

        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
        options.custom_flags(i32::try_from(flags).unwrap_or_default());
        let is_fifo = known.is_some_and(|known| known.file_type().is_fifo());
        let opened = options.open(file).map_err(|error| {
            match is_fifo && Errno::from_io_error(&error) == Some(Errno::NXIO) {
                true => io::Error::other("nobody reads it"),
                false => error,
            }
        })?;
        // Lines wait for room, as in any file.
        let flags = fcntl_getfl(&opened)?;
        fcntl_setfl(&opened, flags.difference(OFlags::NONBLOCK))?;
        return Ok(opened);
    }
    options.open(file)
}

/// Whether two names are of one file, be it by links.
fn is_same(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(one), Ok(other)) = (fs::metadata(one), fs::metadata(other)) {
        use std::os::unix::fs::MetadataExt;
        return (one.dev(), one.ino()) == (other.dev(), other.ino());
    }
    matches!((place(one), place(other)), (Some(one), Some(other)) if one == other)
}

/// Whether a file is in a folder, or below.
fn is_within(file: &Path, folder: &Path) -> bool {
    let folder = fs::canonicalize(folder);
    matches!((place(file), folder), (Some(file), Ok(folder)) if file.starts_with(&folder))
}

/// Where a file is, or will be made.
fn place(file: &Path) -> Option<PathBuf> {
    if let Ok(place) = fs::canonicalize(file) {
        return Some(place);
    }
    let folder = fs::canonicalize(folder_of(file)).ok()?;
    Some(folder.join(file.file_name()?))
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Has a new file's name on the disk too, where the system can do that.
fn settle_name(file: &Path) {
    let _ = File::open(folder_of(file)).and_then(|folder| folder.sync_all());
}

/// Opens a record for reading.
pub fn open(file: &Path) -> Result<File, SetupError> {
    if file.is_dir() {
        return Err(unreadable(file, "it is a folder"));
    }
    File::open(file).map_err(|error| match error.kind() {
        ErrorKind::NotFound => unreadable(file, "there is no such file"),
        _ => unreadable(file, error),
    })
}

/// Opens the record of a run that is to go on, for reading and writing.
pub fn open_to_go_on(file: &Path) -> Result<File, SetupError> {
    if is_stdin(file) {
        let text = "a run goes on in the file of its record, which `-` is not";
        return Err(SetupError(text.to_owned()));
    }
    let is_special = |known: Metadata| !known.is_file() && !known.is_dir();
    if fs::metadata(file).is_ok_and(is_special) {
        return Err(unreadable(file, "it is no regular file"));
    }
    let opened = File::options().read(true).write(true).open(file);
    let error = match opened {
        Ok(record) => return refuse_ended(file, &record).map(|()| record),
        Err(error) => error,
    };
    // What cannot be read is said first, and what needs no writing.
    refuse_ended(file, &open(file)?)?;
    let file = file.display();
    Err(SetupError(format!(
        "cannot write the record `{file}`: {error}"
    )))
}

/// The first line of a record.
pub fn head(file: &Path, record: &File) -> Result<Head, SetupError> {
    let mut reader = Reader::new(BufReader::new(record));
    match reader.next() {
        Some(Ok((_, Line::Head(head)))) => Ok(*head),
        Some(Ok((line, _))) => Err(unreadable(
            file,
            format!("line {line}: a record begins with its `run` line"),
        )),
        Some(Err(error)) => Err(unreadable(file, error)),
        None => Err(unreadable(file, RecordError::Empty)),
    }
}

/// Refuses a run that is over, for which nothing else matters (spec R16).
fn refuse_ended(file: &Path, mut record: &File) -> Result<(), SetupError> {
    let ended = has_ended(record);
    match ended.and_then(|ended| record.rewind().map(|()| ended)) {
        Ok(false) => Ok(()),
        Ok(true) => Err(cannot_resume(file, ResumeError::Ended)),
        Err(error) => Err(unreadable(file, error)),
    }
}

/// A run that does not go on (spec C15).
pub fn cannot_resume(file: &Path, why: impl fmt::Display) -> SetupError {
    SetupError(format!("cannot resume `{}`: {why}", file.display()))
}

/// A record that cannot be read (spec C4).
pub fn unreadable(file: &Path, why: impl fmt::Display) -> SetupError {
    SetupError(format!(
        "cannot read the record `{}`: {why}",
        file.display()
    ))
}
