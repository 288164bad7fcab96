//! Whether a path lies in a folder (spec P59, P65).

use std::path::{Component, Path, PathBuf};

/// A path without `.` and `..`, by its words alone. What exists of a resolved path has none.
pub(super) fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(clean.pop()),
            component => clean.push(component),
        }
    }
    clean
}

/// Whether a clean path is a folder or lies in it.
pub(super) fn is_inside(path: &Path, folder: &Path) -> bool {
    path.starts_with(folder)
}
