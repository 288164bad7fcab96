//! The commit that a repository is at, without starting git where its files tell.

use std::path::{Path, PathBuf};

use super::git::Git;
use crate::harness::{CancelToken, regular};

/// The most bytes of one of the repository's files; git reads larger ones itself.
const CAP: u64 = 64 << 20;

/// What `HEAD` of the work tree around a folder names; `None` before the first commit, and where
/// there is no repository.
pub(super) fn head(root: &Path, cancel: &CancelToken) -> Option<String> {
    if let Some(commit) = read(root) {
        return Some(commit);
    }
    let commit = Git::new(root, cancel).line(&["rev-parse", "--verify", "--quiet", "HEAD"]);
    commit.ok().filter(|commit| is_commit(commit))
}

/// Reads the commit from the repository's files; `None` where they do not hold it plainly.
fn read(root: &Path) -> Option<String> {
    let folder = git_folder(root)?;
    let head = regular::read_text(&folder.join("HEAD"), CAP).ok()?;
    let head = head.trim();
    let Some(name) = head.strip_prefix("ref: ") else {
        return is_commit(head).then(|| head.to_owned());
    };
    // A linked work tree has its own HEAD and shares the branches.
    let common = regular::read_text(&folder.join("commondir"), CAP).ok();
    let common = common.map_or_else(|| folder.clone(), |path| folder.join(path.trim()));
    if let Ok(commit) = regular::read_text(&common.join(name), CAP) {
        let commit = commit.trim();
        return is_commit(commit).then(|| commit.to_owned());
    }
    let packed = regular::read_text(&common.join("packed-refs"), CAP).ok()?;
    let mut pairs = packed.lines().filter_map(|line| line.split_once(' '));
    let (commit, _) = pairs.find(|(commit, packed)| is_commit(commit) && *packed == name)?;
    Some(commit.to_owned())
}

/// The folder that holds the repository: `.git`, or where a file of that name leads.
fn git_folder(root: &Path) -> Option<PathBuf> {
    let mut found = root.ancestors().map(|folder| folder.join(".git"));
    let found = found.find(|path| path.exists())?;
    if found.is_dir() {
        return Some(found);
    }
    let text = regular::read_text(&found, CAP).ok()?;
    let path = text.strip_prefix("gitdir:")?.trim();
    Some(found.parent()?.join(path))
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    fn git(root: &Path, words: &[&str]) -> String {
        let mut command = Command::new("git");
        command.arg("-C").arg(root).args(words);
        for (name, value) in [("NAME", "t"), ("EMAIL", "t@t")] {
            command.env(format!("GIT_AUTHOR_{name}"), value);
            command.env(format!("GIT_COMMITTER_{name}"), value);
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    #[test]
    fn a_commit_is_read_as_git_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let cancel = CancelToken::default();
        git(root, &["init", "-q", "-b", "main"]);
        assert_eq!(head(root, &cancel), None);
        let commit = |message: &str| {
            git(root, &["commit", "-q", "--allow-empty", "-m", message]);
            git(root, &["rev-parse", "HEAD"])
        };
        let loose = commit("one");
        assert_eq!(read(root).as_deref(), Some(loose.as_str()));
        fs::create_dir(root.join("deep")).unwrap();
        assert_eq!(head(&root.join("deep"), &cancel), Some(loose.clone()));
        git(root, &["pack-refs", "--all"]);
        assert_eq!(read(root).as_deref(), Some(loose.as_str()));
        let tree = root.join("tree");
        let words = ["worktree", "add", "-q", "-b", "side"];
        git(root, &[&words[..], &[tree.to_str().unwrap()]].concat());
        assert_eq!(read(&tree).as_deref(), Some(loose.as_str()));
        git(root, &["checkout", "-q", "--detach"]);
        let detached = commit("two");
        assert_eq!(read(root).as_deref(), Some(detached.as_str()));
        assert_ne!(detached, loose);
        let elsewhere = tempfile::tempdir().unwrap();
        assert_eq!(head(elsewhere.path(), &cancel), None);
    }
}
