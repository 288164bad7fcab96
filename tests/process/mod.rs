//! Runs the real binary.

use std::env;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

/// What a finished process left.
#[derive(Debug)]
pub struct Finished {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// The binary, to be run in a folder with an environment that does not change its output.
pub fn runvil<S: AsRef<OsStr>>(folder: &Path, words: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_runvil"));
    command
        .args(words)
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .env_remove("TERM")
        .env_remove("HOME")
        .env_remove("XDG_CONFIG_HOME");
    let is_ours = |name: &OsStr| {
        let name = name.to_string_lossy();
        name.starts_with("RUNVIL_") || name.starts_with("PROMPTFORGE_")
    };
    for (name, _) in env::vars_os().filter(|(name, _)| is_ours(name)) {
        command.env_remove(name);
    }
    command
}

/// Feeds a process its standard input and waits for it to end. Streams that the command has not
/// set yet are collected.
pub fn finish(command: &mut Command, stdin: &str) -> Finished {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        // A process may end without reading its input, which is no fault of it.
        scope.spawn(move || drop(input.write_all(stdin.as_bytes())));
        let stderr = scope.spawn(|| read_all(stderr));
        let stdout = read_all(stdout);
        let stderr = stderr.join().unwrap();
        let status = child.wait().unwrap().code();
        Finished {
            status,
            stdout,
            stderr,
        }
    })
}

fn read_all(stream: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        stream.read_to_end(&mut bytes).unwrap();
    }
    String::from_utf8(bytes).unwrap()
}
