//! Where the configuration is (spec C2).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The file in the current folder.
const LOCAL: &str = "runvil.yaml";

/// The file to read: the one that was named, whether it is there or not; else `runvil.yaml` in the
/// current folder; else `runvil/config.yaml` in the user's folder of configurations, which is
/// `$XDG_CONFIG_HOME`, or `$HOME/.config` where that is not an absolute path. `None` for none.
pub fn find(
    named: Option<&Path>,
    variable: impl Fn(&str) -> Option<OsString>,
    is_there: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    if let Some(named) = named {
        return Some(named.to_owned());
    }
    let folder = |name: &str| {
        let folder = variable(name).map(PathBuf::from);
        folder.filter(|folder| folder.is_absolute())
    };
    let users = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")));
    let users = users.map(|folder| folder.join("runvil").join("config.yaml"));
    let mut files = [Some(PathBuf::from(LOCAL)), users].into_iter().flatten();
    files.find(|file| is_there(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_found(
        named: Option<&str>,
        home: &[(&str, &str)],
        there: &[&str],
        file: Option<&str>,
    ) {
        let variable = |name: &str| {
            let mut set = home.iter().filter(|(set, _)| *set == name);
            set.next().map(|(_, value)| OsString::from(value))
        };
        let is_there = |file: &Path| there.iter().any(|there| Path::new(there) == file);
        let found = find(named.map(Path::new), variable, is_there);
        assert_eq!(found.as_deref(), file.map(Path::new));
    }

    #[test]
    fn the_nearest_configuration_is_found() {
        let xdg = [("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")];
        let (local, of_xdg, of_home) = (
            "runvil.yaml",
            "/x/runvil/config.yaml",
            "/h/.config/runvil/config.yaml",
        );
        let all = [local, of_xdg, of_home];
        assert_found(Some("c.yaml"), &xdg, &all, Some("c.yaml"));
        assert_found(None, &xdg, &all, Some(local));
        assert_found(None, &xdg, &all[1..], Some(of_xdg));
        assert_found(None, &xdg, &all[2..], None);
        assert_found(None, &xdg[1..], &all[1..], Some(of_home));
        let empty = [("XDG_CONFIG_HOME", ""), ("HOME", "/h")];
        assert_found(None, &empty, &all[2..], Some(of_home));
        assert_found(None, &[], &all[1..], None);
    }
}
