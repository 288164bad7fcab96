//! What turns a written configuration into one that is resolved, and what goes wrong with it (spec
//! T155, T157, T159).

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest prelude that is read, in bytes.
const PRELUDE_CAP: u64 = 1 << 20;

/// Why a unit cannot be built (spec T159). Its text is the reason that a refused run names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// There is no such program.
    NoCommand(String),
    /// A variable that the configuration names is not set.
    NoVariable(String),
    /// The prelude's file cannot be read, or is no UTF-8.
    UnreadablePrelude {
        /// The file, as it was written.
        path: String,
        /// What went wrong.
        error: String,
    },
    /// The prelude is no Lua; with the compiler's message.
    BadPrelude(String),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCommand(command) => write!(f, "cannot find the command {command}"),
            Self::NoVariable(name) => write!(f, "environment variable {name} is not set"),
            Self::UnreadablePrelude { path, error } => {
                write!(f, "cannot read the prelude {path}: {error}")
            }
            Self::BadPrelude(message) => write!(f, "the prelude does not compile: {message}"),
        }
    }
}

impl std::error::Error for BuildError {}

/// Puts the values of variables in place of `${NAME}`, and a dollar sign in place of `$$` (spec
/// T157). A name is a letter or `_`, and letters, digits and `_` after it; any other `$` stands for
/// itself. A value is put in as it is, and not looked at again.
///
/// # Errors
/// [`BuildError::NoVariable`] for the first variable that is not set.
pub fn expand(
    text: &str,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<OsString, BuildError> {
    let mut out = OsString::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push(before);
        rest = after;
        if let Some(after) = rest.strip_prefix('$') {
            out.push("$");
            rest = after;
        } else if let Some((name, after)) = braced(rest) {
            out.push(variable(name).ok_or_else(|| BuildError::NoVariable(name.to_owned()))?);
            rest = after;
        } else {
            out.push("$");
        }
    }
    out.push(rest);
    Ok(out)
}

/// The name in braces that a text begins with, and what follows them.
fn braced(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('{')?;
    let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let (name, after) = inner.split_at(inner.find(|char| !is_part(char))?);
    let is_name = name.starts_with(|char: char| !char.is_ascii_digit());
    after
        .strip_prefix('}')
        .filter(|_| is_name)
        .map(|after| (name, after))
}

/// The variables of the host that every server gets (spec T157), those of them that are set.
pub fn inherited(variable: impl Fn(&str) -> Option<OsString>) -> Vec<(OsString, OsString)> {
    const EVERYWHERE: [&str; 8] = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TMPDIR",
    ];
    const WINDOWS: &[&str] = match cfg!(windows) {
        true => &["SYSTEMROOT", "APPDATA", "TEMP"],
        false => &[],
    };
    let names = EVERYWHERE.iter().chain(WINDOWS);
    let set = names.filter_map(|name| Some((OsString::from(name), variable(name)?)));
    set.collect()
}

/// The program that a command names: a path, from `cwd` where it is relative, or a name that is
/// looked for in the folders of `path`, the host's `PATH` (spec T155).
///
/// # Errors
/// [`BuildError::NoCommand`], where there is no file that may be run.
pub fn find_command(
    command: &str,
    cwd: &Path,
    path: Option<&OsStr>,
) -> Result<PathBuf, BuildError> {
    let is_path = command.contains(std::path::is_separator);
    let folders: Vec<PathBuf> = match is_path {
        true => vec![cwd.to_owned()],
        false => std::env::split_paths(path.unwrap_or_default()).collect(),
    };
    let candidates = folders
        .iter()
        .filter(|folder| !folder.as_os_str().is_empty())
        .flat_map(|folder| {
            ENDINGS
                .iter()
                .map(move |end| folder.join(format!("{command}{end}")))
        });
    // A relative path would be looked for from the server's own folder.
    let found = candidates
        .filter_map(|file| std::path::absolute(file).ok())
        .find(|file| may_run(file));
    found
        .filter(|_| !command.is_empty())
        .ok_or_else(|| BuildError::NoCommand(command.to_owned()))
}

/// What a program's file may have after its name.
const ENDINGS: &[&str] = match cfg!(windows) {
    true => &["", ".com", ".exe", ".bat", ".cmd"],
    false => &[""],
};

#[cfg(unix)]
fn may_run(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn may_run(file: &Path) -> bool {
    file.extension().is_some() && file.is_file()
}

/// Reads a prelude's text, of at most 1 MiB. `shown` is its path as it was written.
///
/// # Errors
/// [`BuildError::UnreadablePrelude`].
pub fn read_prelude(file: &Path, shown: &str) -> Result<String, BuildError> {
    let unreadable = |error: String| BuildError::UnreadablePrelude {
        path: shown.to_owned(),
        error,
    };
    let mut bytes = Vec::new();
    let opened = File::open(file);
    let read = opened.and_then(|file| file.take(PRELUDE_CAP + 1).read_to_end(&mut bytes));
    let read = read.map_err(|error| unreadable(error.to_string()))?;
    if u64::try_from(read).is_ok_and(|read| read > PRELUDE_CAP) {
        let most = PRELUDE_CAP >> 20;
        return Err(unreadable(format!("it is larger than {most} MiB")));
    }
    String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str) -> Option<OsString> {
        match name {
            "HOME" => Some("/home/ada".into()),
            "_a1" => Some("${HOME}$$".into()),
            "EMPTY" => Some(OsString::new()),
            _ => None,
        }
    }

    #[test]
    fn variables_are_put_in() {
        // spec T157
        for (text, expected) in [
            ("", ""),
            ("plain", "plain"),
            ("${HOME}/kiln", "/home/ada/kiln"),
            ("a${HOME}${HOME}b", "a/home/ada/home/adab"),
            ("${_a1}", "${HOME}$$"),
            ("x${EMPTY}y", "xy"),
            ("$$", "$"),
            ("$${HOME}", "${HOME}"),
            ("$$$${HOME}", "$${HOME}"),
            ("$$${HOME}", "$/home/ada"),
            ("5$ or $HOME", "5$ or $HOME"),
            ("${", "${"),
            ("${}", "${}"),
            ("${HOME", "${HOME"),
            ("${1A}", "${1A}"),
            ("${HO ME}", "${HO ME}"),
            ("${é}$", "${é}$"),
        ] {
            assert_eq!(expand(text, set), Ok(expected.into()), "{text}");
        }
        let error = expand("${HOME}${GONE}${ALSO}", set).expect_err("not set");
        assert_eq!(error.to_string(), "environment variable GONE is not set");
    }

    #[test]
    fn few_variables_are_inherited() {
        // spec T157
        let all = inherited(|name| Some(format!("of {name}").into()));
        assert!(all.contains(&("LANG".into(), "of LANG".into())));
        assert!(all.iter().all(|(name, _)| name != "ACME_TOKEN"));
        assert_eq!(inherited(set), [("HOME".into(), "/home/ada".into())]);
    }

    #[cfg(unix)]
    #[test]
    fn commands_are_found() {
        // spec T155, T159
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).expect("made");
        for (name, mode) in [("runs", 0o755), ("text", 0o644)] {
            let file = bin.join(name);
            std::fs::write(&file, "").expect("written");
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).expect("set");
        }
        let path = std::env::join_paths([folder.path(), &bin]).expect("a path");
        let find = |command: &str| {
            find_command(command, folder.path(), Some(&path)).map_err(|error| error.to_string())
        };
        assert_eq!(find("runs"), Ok(bin.join("runs")));
        assert_eq!(find("bin/runs"), Ok(bin.join("runs")));
        assert!(find("./bin/runs").is_ok());
        assert_eq!(
            find(&bin.join("runs").to_string_lossy()),
            Ok(bin.join("runs"))
        );
        for missing in ["", "text", "bin", "./runs", "runs/", "gone", "bin/gone"] {
            let expected = format!("cannot find the command {missing}");
            assert_eq!(find(missing), Err(expected), "{missing}");
        }
        let nowhere = find_command("runs", folder.path(), None);
        assert_eq!(nowhere, Err(BuildError::NoCommand("runs".to_owned())));
    }

    #[test]
    fn preludes_are_text() {
        // spec T159
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("kiln.lua");
        let gone = read_prelude(&file, "kiln.lua")
            .expect_err("gone")
            .to_string();
        assert!(
            gone.starts_with("cannot read the prelude kiln.lua: "),
            "{gone}"
        );
        std::fs::write(&file, [b'-', 0xff]).expect("written");
        let binary = read_prelude(&file, "kiln.lua")
            .expect_err("no text")
            .to_string();
        assert_eq!(binary, "cannot read the prelude kiln.lua: it is not UTF-8");
        let cap = usize::try_from(PRELUDE_CAP).expect("in memory");
        std::fs::write(&file, vec![b'-'; cap + 1]).expect("written");
        let large = read_prelude(&file, "kiln.lua")
            .expect_err("too large")
            .to_string();
        assert_eq!(
            large,
            "cannot read the prelude kiln.lua: it is larger than 1 MiB"
        );
        std::fs::write(&file, vec![b'-'; cap]).expect("written");
        assert_eq!(
            read_prelude(&file, "kiln.lua").map(|text| text.len()),
            Ok(cap)
        );
        std::fs::write(&file, "kiln = {}").expect("written");
        assert_eq!(read_prelude(&file, "kiln.lua"), Ok("kiln = {}".to_owned()));
    }
}
