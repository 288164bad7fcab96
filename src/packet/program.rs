//! Finds the file of a program (spec P61).

use std::env;
use std::path::{Path, PathBuf};

use crate::harness::mcp::find_command;

/// Where a program is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NotFound {
    /// In no folder of `PATH`.
    OnPath,
    /// There is no such file.
    At(PathBuf),
}

/// The file of a program: by its path, which is relative to `base` unless it is absolute, or in the
/// folders of `PATH` where it is a bare name.
///
/// # Errors
/// Where it was looked for in vain.
pub(super) fn find(name: &str, base: &Path) -> Result<PathBuf, NotFound> {
    if !name.contains('/') {
        let path = env::var_os("PATH");
        return find_command(name, base, path.as_deref()).map_err(|_| NotFound::OnPath);
    }
    // Links stay as they are: a program may ask by which name it was called.
    let file: PathBuf = base.join(name).components().collect();
    match file.is_file() {
        true => Ok(file),
        false => Err(NotFound::At(file)),
    }
}
