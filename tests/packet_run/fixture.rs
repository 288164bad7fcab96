//! A packet of the cases' shape, in a folder of its own, and what a run left in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::process::{Finished, finish, runvil};

/// The fixture of the spec's cases: a repo `app` with a committed `README.md`, provider
/// `simulated`, no delays.
pub const MANIFEST: &str = "---\nprovider: simulated\nrepos:\n  app: {path: app, default: true}\n\
     recovery: {retry: {base_delay_ms: 0, max_delay_ms: 0, jitter: false}}\n---\n";

/// A packet's folder.
pub struct Packet {
    folder: TempDir,
}

impl Packet {
    /// The fixture, with these files written over it or beside it.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let packet = Self::empty();
        packet.write("prompt_runner_packet.md", MANIFEST);
        packet.repo("app");
        for (path, text) in files {
            packet.write(path, text);
        }
        packet
    }

    /// A folder with nothing in it.
    pub fn empty() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub fn write(&self, path: &str, text: &str) {
        let file = self.path(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    pub fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    /// A git repository with one commit.
    pub fn repo(&self, name: &str) {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("README.md"), "# Repo\n").unwrap();
        self.shell(&format!(
            "cd {name} && git init -q -b main && git add -A && git commit -qm init"
        ));
    }

    /// Runs a script in the packet's folder; its output.
    pub fn shell(&self, script: &str) -> String {
        self.try_shell(script).unwrap()
    }

    /// The output of a script in the packet's folder, or what it says of a failure.
    pub fn try_shell(&self, script: &str) -> Result<String, String> {
        let mut command = Command::new("bash");
        command.args(["-ec", script]).current_dir(self.root());
        let output = with_identity(&mut command).output().unwrap();
        match output.status.success() {
            true => Ok(String::from_utf8(output.stdout).unwrap()),
            false => Err(format!("{script}{output:?}")),
        }
    }

    /// `runvil packet` with these words, in the packet's folder.
    pub fn command(&self, words: &[&str]) -> Command {
        let words = ["packet"].iter().chain(words);
        let mut command = runvil(&self.root(), words);
        with_identity(&mut command);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run(&self, words: &[&str]) -> Finished {
        finish(&mut self.command(words), "")
    }

    /// What `state.json` says of a prompt; null where it says nothing.
    pub fn prompt(&self, id: &str) -> Value {
        self.state()["prompts"][id].clone()
    }

    pub fn state(&self) -> Value {
        let text = self.read(".prompt_runner/state.json");
        text.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap())
    }

    /// The attempts of a prompt: `run: failed; retry: completed`.
    pub fn attempts(&self, id: &str) -> String {
        let prompt = self.prompt(id);
        let attempts = prompt["attempts"].as_array().cloned().unwrap_or_default();
        let words = attempts.iter().map(|attempt| {
            let word = |key: &str| attempt[key].as_str().unwrap().to_owned();
            format!("{}: {}", word("mode"), word("status"))
        });
        words.collect::<Vec<_>>().join("; ")
    }

    /// The lines of `progress.log` without their times, hashes as `SHA`.
    pub fn progress(&self) -> Vec<String> {
        let text = self.read(".prompt_runner/progress.log").unwrap_or_default();
        text.lines().map(without_time).collect()
    }

    /// The newest snapshot of a run.
    pub fn generation(&self) -> Value {
        let text = self.read(".prompt_runner/runs/current.json").unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

/// A line of `progress.log` without its time, and with `SHA` for each hash.
fn without_time(line: &str) -> String {
    let parts: Vec<&str> = line.splitn(3, ':').collect();
    let suffix = parts[2].split_once("Z:").map(|(_, suffix)| suffix);
    let mut out = format!("{}:{}", parts[0], parts[1]);
    if let Some(suffix) = suffix {
        let shown = suffix.split(',').map(|part| match part.split_once('=') {
            Some((repo, sha)) => format!("{repo}={}", hash(sha)),
            None => hash(part),
        });
        out += &format!(":{}", shown.collect::<Vec<_>>().join(","));
    }
    out
}

fn hash(word: &str) -> String {
    let is_sha = word.len() == 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_sha {
        "SHA".to_owned()
    } else {
        word.to_owned()
    }
}

/// Gives git somebody to commit as, and no configuration of this machine.
pub fn with_identity(command: &mut Command) -> &mut Command {
    for (name, value) in [("NAME", "t"), ("EMAIL", "t@example.org")] {
        command.env(format!("GIT_AUTHOR_{name}"), value);
        command.env(format!("GIT_COMMITTER_{name}"), value);
    }
    command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env_remove("RUNVIL_PACKET_HOME")
}

/// A prompt file of the cases' shape.
pub fn prompt(id: &str, keys: &str) -> String {
    format!("---\nid: \"{id}\"\ntargets: [app]\ncommit: \"chore: step\"\n{keys}\n---\n# B\n")
}

/// Whether a folder holds nothing that is not committed.
pub fn is_clean(root: &Path) -> bool {
    let mut command = Command::new("git");
    command.args(["status", "--porcelain"]).current_dir(root);
    with_identity(&mut command)
        .output()
        .unwrap()
        .stdout
        .is_empty()
}
