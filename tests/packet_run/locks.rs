//! One runner at a time (spec P119, P120; K33).

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use crate::fixture::{Packet, prompt};
use crate::process::finish;

/// Waits for a file that somebody is to make.
pub fn await_file(packet: &Packet, path: &str) -> String {
    for _ in 0..2000 {
        if let Some(text) = packet.read(path).filter(|text| !text.is_empty()) {
            return text;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{path} never came");
}

/// A packet whose prompt writes `begun` and then waits.
pub fn slow() -> Packet {
    let keys = "simulate: {attempts: [{writes: {path: begun, text: x}, delay_ms: 60000}, {}]}";
    Packet::new(&[("prompts/01_a.prompt.md", &prompt("01", keys))])
}

#[test]
fn a_second_runner_is_refused_and_changes_nothing() {
    let packet = slow();
    let mut first = packet
        .command(&["run"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    await_file(&packet, "app/begun");
    let pid = packet.read(".prompt_runner/run.pid").unwrap();
    assert!(pid.starts_with(&format!("{} ", first.id())), "{pid}");
    for words in [&["run"][..], &["repair", "01"], &["run", "--new-run"]] {
        let finished = packet.run(words);
        assert_eq!(finished.status, Some(4), "{words:?}");
        let expected = format!(
            "ERROR: run already active: pid {} ({})\n",
            first.id(),
            packet.path(".prompt_runner/run.pid").display()
        );
        assert_eq!(finished.stderr, expected);
        assert_eq!(packet.read(".prompt_runner/run.pid"), Some(pid.clone()));
    }
    let watched = packet.run(&["watch", "--once"]);
    assert!(
        watched.stdout.contains("runner=UP prompt=01 "),
        "{}",
        watched.stdout
    );
    first.kill().unwrap();
    first.wait().unwrap();
    let watched = packet.run(&["watch", "--once"]);
    assert!(
        watched.stdout.contains("runner=DOWN "),
        "{}",
        watched.stdout
    );
}

/// Of many runners that start at once, one runs; the others are refused.
#[test]
fn of_many_runners_one_runs() {
    let keys = "simulate: {attempts: {writes: {path: ran, text: x, append: true}, delay_ms: 300}}";
    let packet = Packet::new(&[("prompts/01_a.prompt.md", &prompt("01", keys))]);
    let finished: Vec<_> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| finish(&mut packet.command(&["run"]), "")))
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let ended = |status| {
        finished
            .iter()
            .filter(|it| it.status == Some(status))
            .count()
    };
    let ran = packet.attempts("01").matches("completed").count();
    assert!(ran >= 1);
    assert_eq!((ended(0), ended(4)), (ran, 8 - ran), "{finished:?}");
    assert_eq!(packet.read("app/ran").unwrap().len(), ran);
    for refused in finished.iter().filter(|it| it.status == Some(4)) {
        let is_known = ["run already active: pid ", "run lock contended: "];
        assert!(
            is_known.iter().any(|text| refused.stderr.contains(text)),
            "{refused:?}"
        );
    }
}

/// P120, K33.
#[test]
fn what_a_dead_runner_left_is_replaced() {
    let packet = Packet::new(&[(
        "prompts/01_a.prompt.md",
        &prompt("01", "verify: {files_exist: [never]}"),
    )]);
    let mut gone = std::process::Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let this = std::process::id();
    for left in [
        format!("{} 7\n", gone.id()),
        format!("{this} 0\n"),
        "junk".to_owned(),
    ] {
        packet.write(".prompt_runner/run.pid", &left);
        assert_eq!(packet.run(&["run"]).status, Some(1), "{left}");
        assert!(!packet.path(".prompt_runner/run.pid").exists());
    }
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let start = stat
        .rsplit_once(") ")
        .unwrap()
        .1
        .split(' ')
        .nth(19)
        .unwrap();
    packet.write(".prompt_runner/run.pid", &format!("{this} {start}\n"));
    assert_eq!(packet.run(&["run"]).status, Some(4));
}
