//! Readiness asks git about each folder once (spec P34).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use crate::case::{repository, with_name};
use crate::process::{finish, runvil};

#[test]
fn git_is_asked_once_of_each_repository_whatever_the_prompts() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    repository(&root.join("app"));
    repository(&root.join("docs"));
    let bin = root.join("bin");
    fs::create_dir(&bin).unwrap();
    let calls = root.join("calls");
    let git = bin.join("git");
    let path = std::env::var("PATH").unwrap();
    let script = format!(
        "#!/bin/sh\necho \"$GIT_OPTIONAL_LOCKS $LC_ALL $*\" >> '{}'\nPATH='{path}' exec git \"$@\"\n",
        calls.display()
    );
    fs::write(&git, script).unwrap();
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
    let packet = root.join("p");
    fs::create_dir_all(packet.join("prompts")).unwrap();
    let manifest = "---\nprovider: simulated\nrepos: {app: ../app, docs: ../docs, same: ../app, gone: ../gone}\n---\n";
    fs::write(packet.join("prompt_runner_packet.md"), manifest).unwrap();
    for id in 1..20 {
        let text = format!("---\ntargets: [app, docs, same]\nid: {id}\n---\n");
        fs::write(packet.join(format!("prompts/{id:02}_a.prompt.md")), text).unwrap();
    }
    let mut command = runvil(&packet, ["packet", "doctor"]);
    command.env("PATH", format!("{}:{path}", bin.display()));
    with_name(&mut command);
    let finished = finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()), "");
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let root = root.canonicalize().unwrap();
    let called = |name: &str| {
        let folder = root.join(name);
        let asked = [
            "rev-parse --is-inside-work-tree --absolute-git-dir",
            "ls-files --unmerged --full-name -z -- :/",
            "var GIT_AUTHOR_IDENT",
            "var GIT_COMMITTER_IDENT",
        ];
        asked.map(|words| {
            let folder = folder.display();
            format!("0 C -C {folder} -c core.fsmonitor=false {words}\n")
        })
    };
    let calls = fs::read_to_string(calls).unwrap();
    assert_eq!(calls, [called("app"), called("docs")].concat().concat());
}
