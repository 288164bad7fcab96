//! A packet with repositories, in a folder of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use runvil::harness::CancelToken;
use runvil::packet::Mapping;
use runvil::packet::contract::{Report, Scope, evaluate};
use tempfile::TempDir;

/// Identity and configuration of every git, whatever the machine has.
const GIT: [(&str, &str); 10] = [
    ("GIT_AUTHOR_NAME", "Ada"),
    ("GIT_AUTHOR_EMAIL", "ada@example.org"),
    ("GIT_COMMITTER_NAME", "Ada"),
    ("GIT_COMMITTER_EMAIL", "ada@example.org"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_CONFIG_KEY_0", "init.defaultBranch"),
    ("GIT_CONFIG_VALUE_0", "main"),
    ("LC_ALL", "C"),
];

/// Repositories below a folder, and the packet beside them.
pub struct Fixture {
    folder: TempDir,
    root: PathBuf,
    pub scope: Scope,
}

impl Fixture {
    /// The repos each hold `README.md`, committed; `targets` are those of the prompt. A repo whose
    /// name begins with `no-path` has none, and one that begins with `gone` is not there.
    pub fn new(repos: &[String], targets: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("packet")).unwrap();
        let mut paths = BTreeMap::new();
        for name in repos {
            let path = root.join(name);
            if name.starts_with("no-path") {
                paths.insert(name.clone(), None);
                continue;
            }
            if !name.starts_with("gone") {
                fs::create_dir(&path).unwrap();
                fs::write(path.join("README.md"), "# Repo\n").unwrap();
                shell(&path, "git init -q && git add -A && git commit -qm first");
            }
            paths.insert(name.clone(), Some(path));
        }
        let default = repos.first().cloned();
        Self {
            scope: Scope::new(root.join("packet"), paths, default, targets),
            folder,
            root,
        }
    }

    /// One repo, `app`, which is the prompt's target.
    pub fn app() -> Self {
        Self::new(&["app".to_owned()], &["app".to_owned()])
    }

    /// The folder that holds everything.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    /// Runs a script in the folder.
    pub fn shell(&self, script: &str) -> String {
        shell(&self.root, script)
    }

    /// The commit at HEAD of a repo, as messages show it.
    pub fn head(&self, repo: &str) -> String {
        self.shell(&format!("git -C {repo} rev-parse HEAD 2>/dev/null || true"))
            .get(..7)
            .unwrap_or_default()
            .to_owned()
    }

    pub fn check(&self, verify: &str) -> Report {
        self.check_with(verify, &CancelToken::default())
    }

    pub fn check_with(&self, verify: &str, cancel: &CancelToken) -> Report {
        evaluate(&self.scope, "01", Some(&contract(verify)), cancel).unwrap()
    }
}

/// A contract as YAML.
pub fn contract(verify: &str) -> Mapping {
    serde_yaml::from_str(verify).unwrap()
}

/// Runs a script in a folder, and gives what it says.
pub fn shell(folder: &Path, script: &str) -> String {
    let output = Command::new("sh")
        .args(["-euc", script])
        .current_dir(folder)
        .envs(GIT)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}\n{said}");
    String::from_utf8(output.stdout).unwrap()
}
