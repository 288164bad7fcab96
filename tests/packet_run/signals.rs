//! Interruption (spec P121, P122; K50).

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::fixture::{Packet, prompt};
use crate::locks::{await_file, slow};

fn start(packet: &Packet, words: &[&str]) -> Child {
    let mut command = packet.command(words);
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Whether this process, and so what it starts, has SIGHUP ignored.
fn ignores_hangups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
}

/// P122, K50.
#[test]
fn the_first_signal_interrupts_a_session_and_is_recorded() {
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        // Under `nohup`, as these tests may be.
        if signal == Signal::HUP && ignores_hangups() {
            continue;
        }
        let packet = slow();
        let child = start(&packet, &["run"]);
        await_file(&packet, "app/begun");
        let begun = Instant::now();
        send(&child, signal);
        let output = child.wait_with_output().unwrap();
        assert!(
            begun.elapsed() < Duration::from_secs(5),
            "{:?}",
            begun.elapsed()
        );
        assert_eq!(output.status.code(), Some(status));
        let stderr = String::from_utf8(output.stderr).unwrap();
        let expected = "Interrupted: prompt 01 was running; continue with --remaining\n";
        assert_eq!(stderr, expected);
        assert_eq!(packet.attempts("01"), "run: interrupted");
        assert_eq!(packet.prompt("01")["status"], "interrupted");
        assert!(packet.progress().is_empty());
        assert_eq!(packet.read(".prompt_runner/run.pid"), None);
        let run = packet.generation();
        assert_eq!(run["state"], "interrupted");

        let again = start(&packet, &["run", "--remaining"]);
        for _ in 0..1000 {
            if packet.attempts("01") == "run: interrupted; run: running" {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        send(&again, Signal::INT);
        assert_eq!(again.wait_with_output().unwrap().status.code(), Some(130));
        assert_eq!(packet.generation()["run_id"], run["run_id"]);
        assert_eq!(packet.attempts("01"), "run: interrupted; run: interrupted");
    }
}

/// A git that does not end, as its index is a FIFO.
#[test]
fn the_look_at_repositories_is_interrupted() {
    let packet = Packet::new(&[("prompts/01_a.prompt.md", &prompt("01", ""))]);
    packet.shell("rm app/.git/index && mkfifo app/.git/index");
    let mut child = start(&packet, &["run"]);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(child.try_wait().unwrap(), None);
    let begun = Instant::now();
    send(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_eq!(output.status.code(), Some(130));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr, "Interrupted: continue with --remaining\n");
    assert!(packet.state().is_null());
}

/// P95, P122: the attempt stays as it ended, and the prompt says what it waited for.
#[test]
fn a_waiting_retry_stops_waiting() {
    let keys = "recovery: {retry: {base_delay_ms: 60000, max_delay_ms: 60000}}\n\
                simulate: {attempts: {error: {kind: provider_capacity}}}";
    let packet = Packet::new(&[("prompts/01_a.prompt.md", &prompt("01", keys))]);
    let child = start(&packet, &["run"]);
    for _ in 0..2000 {
        let text = packet.read(".prompt_runner/state.json").unwrap_or_default();
        if text.contains("retry_scheduled") {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let begun = Instant::now();
    send(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(packet.attempts("01"), "run: failed");
    let kept = packet.prompt("01");
    assert_eq!(kept["status"], "interrupted");
    assert_eq!(kept["failure_class"], "provider_capacity");
    assert_eq!(kept["reason"], "simulated failure");
    let delay = kept["retry_delay_ms"].as_u64().unwrap();
    assert!((30_000..=60_000).contains(&delay), "{delay}");
    assert!(packet.progress().is_empty());
}

/// A command of a contract is killed with all that it started.
#[test]
fn a_running_check_is_killed() {
    let keys = "verify: {commands: [{exec: sh, args: ['-c', 'echo x > checking; sleep 73 & sleep \
                73'], timeout_ms: 90000}]}";
    let packet = Packet::new(&[("prompts/01_a.prompt.md", &prompt("01", keys))]);
    let child = start(&packet, &["run"]);
    await_file(&packet, "app/checking");
    send(&child, Signal::TERM);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143));
    assert_eq!(packet.attempts("01"), "run: interrupted");
    let left = packet.shell("ps -eo args | grep -c '^sleep 73$' || true");
    assert_eq!(left.trim(), "0");
}

/// A commit that was begun is let finish, and its outcome stands.
#[test]
fn a_commit_is_let_finish() {
    let keys = "simulate: {attempts: {writes: {path: x, text: x}}}\nverify: {files_exist: [x]}";
    let packet = Packet::new(&[
        ("prompts/01_a.prompt.md", &prompt("01", keys)),
        ("prompts/02_b.prompt.md", &prompt("02", "")),
    ]);
    packet.write(
        "app/.git/hooks/pre-commit",
        "#!/bin/sh\necho x > ../committing\nsleep 1\n",
    );
    packet.shell("chmod +x app/.git/hooks/pre-commit");
    let child = start(&packet, &["run"]);
    await_file(&packet, "committing");
    send(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(packet.progress(), ["01:completed:SHA"]);
    assert_eq!(packet.prompt("01")["status"], "completed");
    assert!(packet.prompt("02").is_null());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr, "Interrupted: continue with --remaining\n");
    assert_eq!(packet.generation()["state"], "interrupted");
    assert_eq!(packet.run(&["run", "--remaining"]).status, Some(0));
}

/// A second signal waits for nothing more.
#[test]
fn a_second_signal_ends_the_run_at_once() {
    let keys = "simulate: {attempts: {writes: {path: x, text: x}}}";
    let packet = Packet::new(&[("prompts/01_a.prompt.md", &prompt("01", keys))]);
    packet.write(
        "app/.git/hooks/pre-commit",
        "#!/bin/sh\necho x > ../committing\nexec sleep 74\n",
    );
    packet.shell("chmod +x app/.git/hooks/pre-commit");
    let child = start(&packet, &["run"]);
    await_file(&packet, "committing");
    let begun = Instant::now();
    send(&child, Signal::INT);
    std::thread::sleep(Duration::from_millis(100));
    send(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(output.status.code(), Some(130));
    assert!(packet.progress().is_empty());
    assert_eq!(packet.prompt("01")["status"], "interrupted");
    let left = packet.shell("ps -eo args | grep -c '^sleep 74$' || true");
    assert_eq!(left.trim(), "0");
}
