//! Finds the program of a command, once (spec P61, P63).

use std::path::{Path, PathBuf};

use crate::packet::contract::verdict::Verdict;
use crate::packet::program::{self, NotFound};

/// A program that is there.
#[derive(Debug)]
pub(super) struct Program {
    /// Its file.
    pub(super) file: PathBuf,
    /// Whether the entry names it relative to the repository, so that the work may have made it.
    pub(super) is_work: bool,
}

/// Finds a program. `is_absolute` says that it was written as a place in a repo.
pub(super) fn find(name: &str, is_absolute: bool, cwd: &Path) -> Result<Program, Verdict> {
    let is_absolute = is_absolute || Path::new(name).is_absolute();
    match program::find(name, cwd) {
        Ok(file) => Ok(Program {
            file,
            is_work: !is_absolute && name.contains('/'),
        }),
        Err(NotFound::OnPath) => Err(Verdict::fault(format!(
            "executable not found on PATH: {name}"
        ))),
        Err(NotFound::At(file)) => {
            let details = format!("executable not found: {}", file.display());
            Err(match is_absolute {
                true => Verdict::fault(details),
                false => Verdict::fail(details),
            })
        }
    }
}
