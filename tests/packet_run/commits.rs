//! What is committed, and what is not (spec P102, P103).

use crate::fixture::{Packet, is_clean, prompt};

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
