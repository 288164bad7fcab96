//! Finds the program of a command, once (spec P61, P63).

use std::env;
use std::path::{Path, PathBuf};

use crate::harness::mcp::find_command;
use crate::packet::contract::verdict::Verdict;

/// A program that is there.
#[derive(Debug)]
pub(super) struct Program {
    /// Its file.
    pub(super) file: PathBuf,
    /// Whether the entry names it relative to the repository, so that the work may have made it.
    pub(super) is_work: bool,
}

/// Finds a program: by its path, which is relative to `cwd` unless it is absolute, or in the folders
/// of `PATH`. `is_absolute` says that it was written as a place in a repo.
pub(super) fn find(name: &str, is_absolute: bool, cwd: &Path) -> Result<Program, Verdict> {
    let is_absolute = is_absolute || Path::new(name).is_absolute();
    if !is_absolute && !name.contains('/') {
        let path = env::var_os("PATH");
        return match find_command(name, cwd, path.as_deref()) {
            Ok(file) => Ok(Program {
                file,
                is_work: false,
            }),
            Err(_) => Err(Verdict::fault(format!(
                "executable not found on PATH: {name}"
            ))),
        };
    }
    // Links stay as they are: a program may ask by which name it was called.
    let file: PathBuf = cwd.join(name).components().collect();
    if file.is_file() {
        return Ok(Program {
            file,
            is_work: !is_absolute,
        });
    }
    let details = format!("executable not found: {}", file.display());
    Err(match is_absolute {
        true => Verdict::fault(details),
        false => Verdict::fail(details),
    })
}
