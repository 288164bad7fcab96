//! `runvil packet verify`, the real binary (spec P21, P25, P26).

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::bounds::{assert_gone, nap, processes};
use crate::fixture::Fixture;

/// A packet of prompts, each with its contract.
fn packet(contracts: &[&str]) -> Fixture {
    let fixture = Fixture::app();
    let manifest = "---\nrepos: {app: {path: ../app, default: true}}\nprovider: simulated\n---\n";
    fixture.write("packet/prompt_runner_packet.md", manifest);
    for (at, verify) in contracts.iter().enumerate() {
        let id = at + 1;
        let prompt = format!("---\nid: {id}\ntargets: [app]\nverify: {verify}\n---\n# Step\n");
        fixture.write(&format!("packet/prompts/{id:02}_step.prompt.md"), prompt);
    }
    fixture
}

fn runvil(fixture: &Fixture, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_runvil"));
    command
        .args(["packet", "verify"])
        .args(words)
        .current_dir(fixture.path("packet"))
        .env_remove("HOME")
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("RUNVIL_PACKET_HOME")
        .stdin(Stdio::null());
    command
}

/// The exit status and what was printed.
fn verify(fixture: &Fixture, words: &[&str]) -> (Option<i32>, String, String) {
    ended(&runvil(fixture, words).output().unwrap())
}

fn ended(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

const MET: &str = "{files_exist: README.md}";
const UNMET: &str = "{files_exist: [README.md, gone], commands: [{exec: sh, args: ['-c', 'echo one; echo two; exit 1']}], repos_clean: [{pushed: true}]}";
const BROKEN: &str = "{commands: no-such-tool, files_exist: gone}";

#[test]
fn met_contracts_are_counted() {
    let fixture = packet(&[MET, "null"]);
    let said = "  02 has no contract: nothing to check\n\
                2 prompt(s) checked: 0 failed, 0 faulted, 1 without a contract\n";
    assert_eq!(
        verify(&fixture, &[]),
        (Some(0), said.to_owned(), String::new())
    );
}

#[test]
fn what_fails_is_named_with_its_first_line() {
    let fixture = packet(&[MET, UNMET]);
    let head = fixture.head("app");
    let said = format!(
        "  02 file_exists gone: missing\n  \
         02 command sh -c 'echo one; echo two; exit 1': one\n  \
         02 repos_clean {}: no upstream for main at {head}, and pushed: true needs one\n\
         2 prompt(s) checked: 1 failed, 0 faulted\n",
        fixture.root().join("app").display(),
    );
    assert_eq!(verify(&fixture, &["."]), (Some(1), said, String::new()));
}

#[test]
fn a_fault_is_no_failure() {
    let fixture = packet(&[UNMET, BROKEN, MET]);
    let (status, said, _) = verify(&fixture, &["2", "03"]);
    let expected = "  02 file_exists gone: missing\n  \
                    02 command no-such-tool: verifier_fault: command not found (exit 127)\n\
                    2 prompt(s) checked: 0 failed, 1 faulted\n";
    assert_eq!((status, said.as_str()), (Some(3), expected));
    let (status, said, _) = verify(&fixture, &["--json"]);
    assert_eq!(status, Some(3));
    assert_eq!(said.lines().count(), 1);
    let found: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(found["schema"], "prompt_runner.verify/v1");
    assert_eq!(found["pass?"], false);
    assert_eq!(found["prompts"], 3);
    assert_eq!(found["failures"], 1);
    assert_eq!(found["faults"], 1);
    assert_eq!(found["reports"][1]["prompt_id"], "02");
    assert_eq!(found["reports"][1]["faults"][0]["exit_code"], 127);
    assert_eq!(found["reports"][2]["pass?"], true);
}

#[test]
fn nothing_is_written() {
    let fixture = packet(&[UNMET]);
    let before = fixture.shell("find . -type f ! -path './app/.git/*' | sort | xargs sha256sum");
    verify(&fixture, &[]);
    let after = fixture.shell("find . -type f ! -path './app/.git/*' | sort | xargs sha256sum");
    assert_eq!(before, after);
}

#[test]
fn what_cannot_be_loaded_is_refused() {
    let fixture = packet(&[MET]);
    let (status, said, error) = verify(&fixture, &["07"]);
    let expected = "ERROR: unknown prompts: 07 (known: 01)\n";
    assert_eq!(
        (status, said.as_str(), error.as_str()),
        (Some(2), "", expected)
    );
    let (status, _, error) = verify(&fixture, &["--packet", "../app"]);
    assert_eq!(status, Some(2));
    assert!(error.starts_with("ERROR: "), "{error}");
}

#[test]
fn without_git_or_a_shell_there_are_faults() {
    let contract = "{commands: ['true'], changed_paths_only: [x], repos_clean: app}";
    let fixture = packet(&[contract]);
    fs::create_dir(fixture.path("empty")).unwrap();
    let mut command = runvil(&fixture, &[]);
    let output = command.env("PATH", fixture.path("empty")).output().unwrap();
    let (status, said, _) = ended(&output);
    let expected = format!(
        "  01 command true: executable not found on PATH: bash\n  \
         01 changed_paths_only app: executable not found on PATH: git\n  \
         01 repos_clean {}: executable not found on PATH: git\n\
         1 prompt(s) checked: 0 failed, 1 faulted\n",
        fixture.root().join("app").display(),
    );
    assert_eq!((status, said), (Some(3), expected), "spec P56, P67");
}

#[test]
fn git_is_not_led_elsewhere_by_the_environment() {
    let fixture = packet(&["{repos_clean: app}"]);
    let mut command = runvil(&fixture, &[]);
    command
        .env("GIT_DIR", "/nowhere")
        .env("GIT_WORK_TREE", "/nowhere");
    let (status, said, _) = ended(&command.output().unwrap());
    assert_eq!(status, Some(0), "spec P45: {said}");
}

/// Waits until a process with this word runs.
fn wait_for(word: &str) {
    let begun = Instant::now();
    while processes(word).is_empty() {
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "{word} never ran"
        );
        thread::sleep(Duration::from_millis(10));
    }
}

fn signal(signal: &str, id: u32) {
    let sent = Command::new("kill")
        .args([signal, &id.to_string()])
        .status();
    assert!(sent.unwrap().success());
}

/// A contract whose command makes `figure` anew and goes on.
fn slow(word: &str) -> String {
    let script = format!("echo $$ > ../at; printf new > figure; sleep {word}; true");
    format!("{{commands: [{{exec: sh, args: ['-c', '{script}'], regenerates: [figure]}}]}}")
}

#[test]
fn ctrl_c_ends_the_command_and_puts_its_outputs_back() {
    let word = &nap(98765);
    let fixture = packet(&[&slow(word)]);
    fixture.write("app/figure", "old");
    let mut command = runvil(&fixture, &[]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for(word);
    signal("-INT", child.id());
    let (status, said, error) = ended(&child.wait_with_output().unwrap());
    assert_eq!((status, said.as_str()), (Some(130), ""), "{error}");
    assert_gone(word);
    assert_eq!(fixture.read("app/figure").as_deref(), Some("old"));
}

#[test]
fn what_a_killed_runner_set_aside_is_put_back_by_the_next() {
    let word = &nap(98766);
    let fixture = packet(&[&slow(word)]);
    fixture.write("app/figure", "old");
    let mut child = runvil(&fixture, &[]).stdout(Stdio::null()).spawn().unwrap();
    wait_for(word);
    signal("-KILL", child.id());
    child.wait().unwrap();
    let shell = fixture.read("at").unwrap();
    signal("-KILL", shell.trim().parse().unwrap());
    for path in processes(word) {
        signal("-KILL", id(&path));
    }
    // The crash came before the command had made anything.
    fs::remove_file(fixture.path("app/figure")).unwrap();
    let contract = "---\nid: 1\ntargets: [app]\nverify: {commands: [{exec: 'true', regenerates: [figure]}]}\n---\n";
    fixture.write("packet/prompts/01_step.prompt.md", contract);
    let (status, said, _) = verify(&fixture, &[]);
    assert_eq!(status, Some(1), "{said}");
    assert_eq!(
        fixture.read("app/figure").as_deref(),
        Some("old"),
        "spec P65"
    );
    assert_eq!(fixture.read("app/figure.runvil-verifier-backup"), None);
}

fn id(path: &Path) -> u32 {
    path.file_name().unwrap().to_str().unwrap().parse().unwrap()
}
