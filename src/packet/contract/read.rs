//! Reads files of the work. What is no regular file is never opened (spec P39).

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::entry::Place;
use super::verdict::Verdict;
use crate::harness::regular::{self, Irregular};

/// The largest file that is read at once.
const CAP: u64 = 64 << 20;

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// There is nothing at its path.
    Absent,
    /// It is a FIFO, a device or a socket.
    Special,
    /// It is too large to be read at once.
    TooLarge,
    /// Anything else.
    Failed(String),
}

impl Unreadable {
    /// The verdict that every clause gives of it, if it is no matter of the clause.
    pub(super) fn verdict(&self, place: &Place) -> Option<Verdict> {
        let Place { path, .. } = place;
        match self {
            Self::Special => Some(Verdict::fail(format!("{path}: not a regular file"))),
            Self::TooLarge => {
                let megabytes = CAP >> 20;
                Some(Verdict::fail(format!(
                    "{path}: larger than {megabytes} MiB"
                )))
            }
            Self::Absent | Self::Failed(_) => None,
        }
    }

    /// Why, in a few words.
    pub(super) fn cause(&self) -> String {
        match self {
            Self::Absent => "there is no such file".to_owned(),
            Self::Special => "not a regular file".to_owned(),
            Self::TooLarge => format!("larger than {} MiB", CAP >> 20),
            Self::Failed(cause) => cause.clone(),
        }
    }
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        match (Irregular::of(&error), error.kind()) {
            (Some(Irregular::Special), _) => Self::Special,
            (Some(Irregular::Folder), _) => Self::Failed("it is a folder".to_owned()),
            (Some(Irregular::Larger(_)), _) => Self::TooLarge,
            (None, ErrorKind::NotFound | ErrorKind::NotADirectory) => Self::Absent,
            (None, _) => Self::Failed(cause(&error)),
        }
    }
}

/// Opens a file.
pub(super) fn open(path: &Path) -> Result<File, Unreadable> {
    Ok(regular::reader(path)?)
}

/// Reads a file whole.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Unreadable> {
    Ok(regular::read(path, CAP)?)
}

/// What an error of the system says, without its number.
pub(super) fn cause(error: &io::Error) -> String {
    let said = match Irregular::of(error) {
        Some(irregular) => irregular.to_string(),
        None => error.to_string(),
    };
    match said.split_once(" (os error ") {
        Some((said, _)) => said.to_owned(),
        None => said,
    }
}
