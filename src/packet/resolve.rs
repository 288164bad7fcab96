//! Paths of a packet (spec P3).

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// A path below a base, or the path itself where it is absolute; made canonical as far as it
/// exists, the rest kept as written.
#[must_use]
pub fn resolve(base: &Path, path: impl AsRef<Path>) -> PathBuf {
    let joined = base.join(path);
    let mut rest: Vec<OsString> = Vec::new();
    let mut existing = joined.as_path();
    loop {
        if let Ok(mut found) = existing.canonicalize() {
            found.extend(rest.iter().rev());
            return found;
        }
        // `..` and `.` have no file name; they are kept like any other part.
        let Some(last) = existing.components().next_back() else {
            return joined;
        };
        match last {
            Component::Normal(_) | Component::ParentDir | Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return joined,
        }
        rest.push(last.as_os_str().to_owned());
        let Some(parent) = existing.parent() else {
            return joined;
        };
        existing = parent;
    }
}
