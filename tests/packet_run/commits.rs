//! What is committed, and what is not (spec P102, P103).

use crate::fixture::{Packet, is_clean, prompt};
use crate::process::finish;

/// A setting that hides new files from `git status` does not keep them out of the commit.
#[test]
fn new_files_are_committed_that_a_setting_hides() {
    let keys = "simulate: {attempts: {writes: {path: x, text: x}}}\nverify: {files_exist: [x]}";
    let packet = Packet::new(&[("prompts/01_a.prompt.md", &prompt("01", keys))]);
    packet.shell("git -C app config status.showUntrackedFiles no");
    let finished = packet.run(&["run"]);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    assert_eq!(packet.progress(), ["01:completed:SHA"]);
    assert_eq!(packet.shell("git -C app ls-files x"), "x\n");
}

/// What `git status` lists and `git add` takes nothing of is no change, and no failed commit.
#[test]
fn what_there_is_nothing_to_store_of_is_no_change() {
    // Line ends that are stored alike, and work inside a submodule.
    let setups = [
        "cd app && git config core.autocrlf true && printf '# Repo\\r\\n' > README.md",
        "mkdir m && cd m && git init -q -b main && touch m && git add -A && git commit -qm m && \
         cd ../app && git -c protocol.file.allow=always submodule --quiet add ../m m && \
         git commit -qm m && echo y > m/m",
    ];
    for setup in setups {
        let keys = "verify: {files_exist: [README.md]}";
        let packet = Packet::new(&[("prompts/01_a.prompt.md", &prompt("01", keys))]);
        packet.shell(setup);
        assert!(!is_clean(&packet.path("app")), "{setup}");
        let before = packet.shell("git -C app rev-parse HEAD");
        let finished = packet.run(&["run"]);
        assert_eq!(finished.status, Some(0), "{setup}: {}", finished.stderr);
        assert_eq!(packet.progress(), ["01:completed:no_changes"]);
        assert_eq!(packet.shell("git -C app rev-parse HEAD"), before);
    }
}

/// Where git would refuse the commit for want of a name, no session is spent before.
#[test]
fn a_commit_without_a_name_is_refused_before_the_run() {
    let keys = "simulate: {attempts: {writes: {path: x, text: x}}}\nverify: {files_exist: [x]}";
    let packet = Packet::new(&[("prompts/01_a.prompt.md", &prompt("01", keys))]);
    packet.shell("git -C app config user.useConfigOnly true");
    let nameless = |words: &[&str]| {
        let mut command = packet.command(words);
        for name in ["NAME", "EMAIL"] {
            command.env_remove(format!("GIT_AUTHOR_{name}"));
            command.env_remove(format!("GIT_COMMITTER_{name}"));
        }
        finish(&mut command, "")
    };
    let expected = format!(
        "repo app: {}: git knows nobody to commit as: set user.name and user.email with git config\n",
        packet.path("app").display()
    );
    let refused = nameless(&["run"]);
    assert_eq!(refused.status, Some(1));
    assert_eq!(refused.stderr, format!("ERROR: {expected}"));
    assert!(packet.prompt("01").is_null());
    let told = nameless(&["preflight"]);
    assert_eq!(told.status, Some(1));
    assert!(told.stdout.contains("\"kind\": \"git_identity_missing\""));
    assert_eq!(nameless(&["verify"]).stderr, "");
    for words in [&["run", "--no-commit"][..], &["run", "--committer", "noop"]] {
        let finished = nameless(words);
        assert_eq!(finished.status, Some(0), "{}", finished.stderr);
        assert!(finished.stderr.contains(&format!("WARNING: {expected}")));
    }
}

/// Of what git says, a hint is not the reason.
#[test]
fn a_hint_is_not_the_reason() {
    let keys = "simulate: {attempts: {writes: {path: x, text: x}}}\nverify: {files_exist: [x]}";
    let packet = Packet::new(&[("prompts/01_a.prompt.md", &prompt("01", keys))]);
    packet.write(
        "app/.git/hooks/pre-commit",
        "#!/bin/sh\necho no such luck\necho hint: try again\nexit 1\n",
    );
    packet.shell("chmod +x app/.git/hooks/pre-commit");
    let finished = packet.run(&["run"]);
    assert_eq!(finished.status, Some(1));
    let expected = "ERROR: commit failed in app: no such luck\n";
    assert!(finished.stderr.ends_with(expected), "{}", finished.stderr);
}
