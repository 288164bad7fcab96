//! State that was damaged, cannot be written, or is not ours (spec P31, P113, P117, P118).

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use crate::fixture::{Packet, prompt, with_identity};
use crate::process::finish;

fn packet() -> Packet {
    Packet::new(&[
        ("prompts/01_a.prompt.md", &prompt("01", "")),
        ("prompts/02_b.prompt.md", &prompt("02", "")),
    ])
}

/// A store that is damaged refuses a run, says where, and stays as it is.
#[test]
fn damaged_stores_refuse_a_run_and_stay() {
    let cases = [
        (
            "state.json",
            "",
            "state store is invalid: {}: EOF while parsing a value at line 1 column 0",
        ),
        (
            "state.json",
            "{\"version\":1,\n\"prompts\":",
            "state store is invalid: {}: EOF while parsing a value at line 2 column 10",
        ),
        (
            "state.json",
            "{\"version\":2,\"prompts\":{}}",
            "state store is invalid: {}: version 2 is not 1",
        ),
        (
            "state.json",
            "{\"version\":1,\"prompts\":{\"01\":{\"attempts\":3}}}",
            "state store is invalid: {}: prompts.01.attempts is not a list",
        ),
        (
            "runs/current.json",
            "{\"schema\":\"prompt_runner.run/v2\"}",
            "run generation is invalid: {}: schema \"prompt_runner.run/v2\" is not",
        ),
    ];
    for (file, text, message) in cases {
        let packet = packet();
        let path = format!(".prompt_runner/{file}");
        packet.write(&path, text);
        for words in [&["run"][..], &["run", "--remaining"], &["run", "--new-run"]] {
            let finished = packet.run(words);
            assert_eq!(
                finished.status,
                Some(4),
                "{file} {words:?}: {}",
                finished.stderr
            );
            let shown = packet.path(&path).display().to_string();
            let expected = format!("ERROR: {}", message.replace("{}", &shown));
            assert!(
                finished.stderr.starts_with(&expected),
                "{}",
                finished.stderr
            );
            assert_eq!(packet.read(&path).as_deref(), Some(text));
            assert_eq!(packet.read(".prompt_runner/run.pid"), None);
            assert!(packet.progress().is_empty());
        }
    }
}

#[test]
fn a_journal_with_a_bad_line_or_a_gap_refuses_a_run() {
    let packet = Packet::new(&[(
        "prompts/01_a.prompt.md",
        &prompt("01", "verify: {files_exist: [never]}"),
    )]);
    assert_eq!(packet.run(&["run"]).status, Some(1));
    let run_id = packet.generation()["run_id"].as_str().unwrap().to_owned();
    let journal = format!(".prompt_runner/runs/{run_id}/journal.jsonl");
    let whole = packet.read(&journal).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    for (text, line) in [
        (format!("{}\n{{\n{}\n", lines[0], lines[1]), 2),
        (format!("{}\n{}\n", lines[0], lines[2]), 2),
        (format!("{whole}{{\n"), 4),
    ] {
        packet.write(&journal, &text);
        let finished = packet.run(&["run"]);
        assert_eq!(finished.status, Some(4), "{}", finished.stderr);
        let expected = format!(
            "ERROR: run journal is corrupt: {}:{line}\n",
            packet.path(&journal).display()
        );
        assert_eq!(finished.stderr, expected);
        assert_eq!(packet.read(&journal), Some(text));
    }
    packet.write(&journal, &whole);
    assert_eq!(packet.run(&["run"]).status, Some(1));
}

/// Edits that keep the shape are kept: unknown keys, other prompts, attempts of another program.
#[test]
fn edits_are_kept() {
    let packet = packet();
    packet.write(
        ".prompt_runner/state.json",
        "{\"version\": 1, \"note\": \"mine\", \"prompts\": {\"99\": {\"status\": \"odd\"}, \"01\": \
         {\"status\": 7, \"own\": [1], \"attempts\": [{\"attempt\": \"x\"}]}}}",
    );
    assert_eq!(packet.run(&["run"]).status, Some(0));
    let state = packet.state();
    assert_eq!(state["note"], "mine");
    assert_eq!(state["prompts"]["99"]["status"], "odd");
    assert_eq!(state["prompts"]["01"]["own"][0], 1);
    assert_eq!(state["prompts"]["01"]["attempts"][0]["attempt"], "x");
    assert_eq!(state["prompts"]["01"]["status"], "completed");
}

/// A file of terminal statuses that cannot take more: the run ends, nothing is said to be done
/// that is not on record, and a later run goes on.
#[test]
fn a_file_that_takes_no_more_ends_a_run_and_loses_nothing() {
    let packet = packet();
    let log = packet.path(".prompt_runner/progress.log");
    // The next line goes over the limit of 64 KiB.
    let line = "09:failed:2026-11-30T08:00:00Z\n";
    let before = line.repeat((64 << 10) / line.len());
    packet.write(".prompt_runner/progress.log", &before);
    let mut limited = Command::new("bash");
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$@\"";
    limited.args(["-c", script, "bash", env!("CARGO_BIN_EXE_runvil")]);
    limited.args(["packet", "run"]).current_dir(packet.root());
    let limited = with_identity(&mut limited)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let finished = finish(limited, "");
    assert_eq!(finished.status, Some(1), "{}", finished.stderr);
    let expected = format!(
        "ERROR: cannot write {}: File too large (os error 27)\n",
        log.display()
    );
    assert_eq!(packet.read(".prompt_runner/progress.log"), Some(before));
    assert_eq!(finished.stderr, expected);
    assert!(
        !finished.stdout.contains("Completed prompt"),
        "{}",
        finished.stdout
    );
    assert_eq!(packet.read(".prompt_runner/run.pid"), None);
    assert_eq!(packet.generation()["state"], "failed");
    assert!(packet.prompt("02").is_null());
    fs::remove_file(&log).unwrap();
    assert_eq!(packet.run(&["run", "--remaining"]).status, Some(0));
    let expected = ["01:completed:no_changes", "02:completed:no_changes"];
    assert_eq!(packet.progress(), expected);
}

/// Standard output that takes nothing ends no run; the status says so.
#[test]
fn a_full_standard_output_ends_no_run() {
    let packet = packet();
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut command = packet.command(&["run"]);
    let status = command.stdout(full).status().unwrap();
    assert_eq!(status.code(), Some(1));
    assert_eq!(packet.progress().len(), 2);
}

/// Logs that cannot be written are reported and end no run.
#[test]
fn logs_are_no_reason_to_end_a_run() {
    let packet = packet();
    packet.write(".prompt_runner/logs", "no folder");
    let finished = packet.run(&["run"]);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    let path = packet.path(".prompt_runner/logs");
    let expected = format!("WARNING: cannot write {}: ", path.display());
    assert!(
        finished.stderr.starts_with(&expected),
        "{}",
        finished.stderr
    );
}

/// Whoever is not allowed to write the state runs nothing. The superuser is allowed everything.
#[test]
fn a_folder_that_cannot_be_written_runs_nothing() {
    let packet = packet();
    let root = packet.root();
    fs::set_permissions(&root, Permissions::from_mode(0o555)).unwrap();
    let may_write = fs::create_dir(root.join("probe")).is_ok();
    if !may_write {
        let finished = packet.run(&["run"]);
        assert_eq!(finished.status, Some(4));
        let expected = format!(
            "ERROR: cannot make {}: ",
            root.join(".prompt_runner").display()
        );
        assert!(
            finished.stderr.starts_with(&expected),
            "{}",
            finished.stderr
        );
    }
    fs::set_permissions(&root, Permissions::from_mode(0o755)).unwrap();
    // A file in the place of the folder stops everybody.
    packet.write(".prompt_runner", "a file");
    let finished = packet.run(&["run"]);
    assert_eq!(finished.status, Some(4));
    let expected = format!(
        "ERROR: cannot make {}: ",
        root.join(".prompt_runner").display()
    );
    assert!(
        finished.stderr.starts_with(&expected),
        "{}",
        finished.stderr
    );
    assert!(!finished.stdout.contains("Prompt"), "{}", finished.stdout);
}

/// A `progress.log` that nothing can be appended to is found before a session is spent, and a
/// session that replaces it loses nothing (spec P25, P110).
#[test]
fn a_progress_log_is_looked_at_first_and_opened_for_each_line() {
    for put in ["mkfifo", "mkdir"] {
        let packet = packet();
        packet.shell(&format!(
            "mkdir .prompt_runner && {put} .prompt_runner/progress.log"
        ));
        for words in [&["run"][..], &["repair", "01"]] {
            let finished = packet.run(words);
            let stderr = &finished.stderr;
            assert_eq!(finished.status, Some(4), "{put} {words:?}: {stderr}");
            assert!(
                stderr.ends_with("progress.log: not a regular file\n"),
                "{stderr}"
            );
            assert_eq!(packet.attempts("01"), "");
        }
    }
    let replace = "verify: {commands: [{exec: sh, timeout_ms: 9000, args: [-c, \"cd \
                   ../.prompt_runner && cp progress.log p && mv p progress.log\"]}]}";
    let packet = Packet::new(&[
        ("prompts/01_a.prompt.md", &prompt("01", "")),
        ("prompts/02_b.prompt.md", &prompt("02", replace)),
    ]);
    assert_eq!(packet.run(&["run"]).status, Some(0));
    let expected = ["01:completed:no_changes", "02:completed:no_changes"];
    assert_eq!(packet.progress(), expected);
}
