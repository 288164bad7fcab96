//! A runner that is killed at any moment leaves a state from which another goes on, without losing
//! or repeating finished work (spec P123; K51).

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::fixture::{Packet, is_clean, prompt};
use crate::locks::{await_file, slow};

/// How many packets have their runners killed, and how often each: a packet takes several kills
/// before it is done.
const KILLERS: u32 = 3;
const ROUNDS: u32 = 10;
const KILLS: u32 = 4;

/// How many prompts the packet has.
const PROMPTS: usize = 4;

/// Each prompt appends a line to a file of its own and has it committed; work that is done twice
/// shows.
fn packet() -> Packet {
    let mut files = Vec::new();
    for number in 1..=PROMPTS {
        let id = format!("{number:02}");
        let keys = format!(
            "simulate: {{attempts: [{{writes: {{path: f{id}, text: \"x\\n\", append: true}}, \
             delay_ms: 3}}]}}\nverify: {{contains: {{path: f{id}, text: x}}}}"
        );
        files.push((format!("prompts/{id}_s.prompt.md"), prompt(&id, &keys)));
    }
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    Packet::new(&files)
}

/// The prompts that are on record as completed.
fn completed(packet: &Packet) -> Vec<String> {
    let lines = packet.progress();
    let done = lines
        .iter()
        .filter_map(|line| line.split_once(":completed"));
    done.map(|(id, _)| id.to_owned()).collect()
}

#[test]
fn a_killed_runner_loses_and_repeats_nothing() {
    // Every moment of a run is reached: delays grow evenly over the time that one takes.
    let whole = {
        let packet = packet();
        let begun = Instant::now();
        assert_eq!(packet.run(&["run", "--remaining"]).status, Some(0));
        begun.elapsed()
    };
    std::thread::scope(|scope| {
        for killer in 0..KILLERS {
            scope.spawn(move || kill_runners(killer, whole));
        }
    });
    println!("crash: {} passed", KILLERS * ROUNDS * KILLS);
}

/// Kills the runners of some packets.
fn kill_runners(killer: u32, whole: Duration) {
    let mut moment = killer * 11;
    for _ in 0..ROUNDS {
        let packet = packet();
        let mut before: Vec<String> = Vec::new();
        let mut attempts: BTreeMap<String, String> = BTreeMap::new();
        for _ in 0..KILLS {
            let mut command = packet.command(&["run", "--remaining"]);
            let command = command.stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn().unwrap();
            moment = (moment + 37) % 100;
            std::thread::sleep(whole * moment / 100);
            child.kill().unwrap();
            child.wait().unwrap();
            let after = completed(&packet);
            assert!(after.starts_with(&before), "{before:?} became {after:?}");
            before = after;
            for id in &before {
                let had = packet.attempts(id);
                let first = attempts.entry(id.clone()).or_insert(had.clone());
                assert_eq!(*first, had, "{id} was begun again");
            }
            // A commit that was under way leaves git's own lock behind, as any killed git does.
            packet.shell(
                "while pgrep -f \"git -C $PWD/app\" > /dev/null; do sleep 0.01; done; \
                 rm -f app/.git/index.lock app/.git/HEAD.lock app/.git/refs/heads/*.lock",
            );
        }
        let finished = packet.run(&["run", "--remaining"]);
        let (stdout, stderr) = (&finished.stdout, &finished.stderr);
        assert_eq!(finished.status, Some(0), "{stdout}\n{stderr}");
        check(&packet, &before);
        for (id, had) in &attempts {
            assert_eq!(packet.attempts(id), *had, "{id} was begun again");
        }
    }
}

/// All is done, nothing twice that was on record, and nothing is left open.
fn check(packet: &Packet, recorded: &[String]) {
    let mut all = completed(packet);
    assert!(all.starts_with(recorded));
    all.sort();
    let expected: Vec<String> = (1..=PROMPTS).map(|number| format!("{number:02}")).collect();
    assert_eq!(all, expected, "each prompt is completed once");
    for id in &expected {
        let fields = packet.prompt(id);
        assert_eq!(fields["status"], "completed", "{fields}");
        for attempt in fields["attempts"].as_array().into_iter().flatten() {
            assert!(attempt["status"] != "running", "{fields}");
        }
        let lines = packet.read(&format!("app/f{id}")).unwrap().lines().count();
        let attempts = fields["attempts"].as_array().map_or(0, Vec::len);
        assert!(
            lines >= 1 && lines <= attempts.max(1),
            "{lines} lines by {attempts} attempts"
        );
    }
    assert!(is_clean(&packet.path("app")));
    // Only who was killed at the very end, with nothing left to do, has not ended its run.
    let state = packet.generation()["state"].clone();
    assert!(state == "completed" || recorded.len() == PROMPTS, "{state}");
    // One run all along: what was made and never begun does not count.
    let script = "grep -lE 'run_(running|resumed)' .prompt_runner/runs/*/journal.jsonl | wc -l";
    let runs = packet.shell(script);
    assert_eq!(runs.trim(), "1");
    let finished = packet.run(&["run", "--remaining"]);
    assert!(
        finished.stdout.starts_with("Nothing remaining"),
        "{}",
        finished.stdout
    );
}

/// K51.
#[test]
fn a_session_without_a_farewell_was_interrupted() {
    let packet = slow();
    packet.shell("sed -i 's/delay_ms: 60000}, {}/delay_ms: 60000}/' prompts/01_a.prompt.md");
    let mut child = packet
        .command(&["run"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    await_file(&packet, "app/begun");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(packet.attempts("01"), "run: running");
    let run = packet.generation();
    assert_eq!(run["state"], "running");
    let watched = packet.run(&["watch", "--once"]);
    assert!(
        watched.stdout.contains("runner=DOWN prompt=01 "),
        "{}",
        watched.stdout
    );
    let mut again = packet
        .command(&["run", "--remaining"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    for _ in 0..2000 {
        if packet.attempts("01") == "run: interrupted; run: running" {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(packet.attempts("01"), "run: interrupted; run: running");
    assert_eq!(packet.generation()["run_id"], run["run_id"]);
    again.kill().unwrap();
    again.wait().unwrap();
}

/// K51, its end: what was committed before the kill needs no session.
#[test]
fn committed_work_completes_without_a_session() {
    let keys = "simulate: {attempts: {writes: {path: x, text: x}}}\nverify: {files_exist: [x]}";
    let packet = Packet::new(&[("prompts/01_a.prompt.md", &prompt("01", keys))]);
    packet.write(
        "app/.git/hooks/post-commit",
        "#!/bin/sh\necho x > ../committed\nsleep 5\n",
    );
    packet.shell("chmod +x app/.git/hooks/post-commit");
    killed(&packet, "committed");
    assert!(packet.progress().is_empty());
    packet.shell("rm app/.git/hooks/post-commit");
    let finished = packet.run(&["run", "--remaining"]);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    assert_eq!(packet.progress(), ["01:completed:no_session"]);
    assert_eq!(packet.attempts("01"), "run: completed");
    assert_eq!(packet.prompt("01")["session_ran"], false);
    assert_eq!(packet.shell("git -C app rev-list --count HEAD").trim(), "2");
}

/// A completed prompt that is run again and killed is not done: the list says so, and `--remaining`
/// takes it up (spec P26, P31).
#[test]
fn a_rerun_that_is_killed_is_not_done() {
    let keys = "verify: {files_exist: [README.md]}";
    let packet = Packet::new(&[("prompts/01_a.prompt.md", &prompt("01", keys))]);
    assert_eq!(packet.run(&["run"]).status, Some(0));
    assert!(packet.run(&["list"]).stdout.contains("  [x] 01 "));
    let keys = "verify: {files_exist: [README.md]}\n\
                simulate: {attempts: [{writes: {path: begun, text: x}, delay_ms: 60000}]}";
    packet.write("prompts/01_a.prompt.md", &prompt("01", keys));
    let mut child = packet
        .command(&["run", "01"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    await_file(&packet, "app/begun");
    let running = packet.run(&["list"]).stdout;
    assert!(running.contains(" (running)\n0/1 completed\n"), "{running}");
    let status = packet.run(&["status", "--text"]).stdout;
    let expected = format!("0/1 completed, a run is under way: pid {}\n", child.id());
    assert!(status.contains(&expected), "{status}");
    child.kill().unwrap();
    child.wait().unwrap();
    let killed = packet.run(&["list"]).stdout;
    assert!(killed.contains("  [ ] 01 "), "{killed}");
    assert!(
        killed.contains(" (interrupted)\n0/1 completed\n"),
        "{killed}"
    );
    let finished = packet.run(&["run", "--remaining"]);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    let listed = packet.run(&["list"]).stdout;
    assert!(listed.contains("  [x] 01 "), "{listed}");
}

/// A runner that is killed once a file is there.
fn killed(packet: &Packet, file: &str) {
    let mut child = packet
        .command(&["run"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let came = (0..2000).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        packet.path(file).exists()
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(came, "{file} never came");
}

/// A commit that is under way goes on after its runner was killed; the next one waits for it.
#[test]
fn a_commit_that_outlives_its_runner_is_waited_for() {
    let keys = "simulate: {attempts: {writes: {path: x, text: x}}}\nverify: {files_exist: [x]}";
    // While files are added, which takes a while, the index is locked.
    let packet = Packet::new(&[("prompts/01_a.prompt.md", &prompt("01", keys))]);
    packet.shell(
        "cd app && echo 'x filter=slow' > .gitattributes && git add -A && git commit -qm a && \
         git config filter.slow.clean 'sleep 1; cat'",
    );
    killed(&packet, "app/.git/index.lock");
    let finished = packet.run(&["run", "--remaining"]);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    assert!(is_clean(&packet.path("app")));
    // A hook runs while it is not.
    let packet = Packet::new(&[("prompts/01_a.prompt.md", &prompt("01", keys))]);
    packet.write(
        "app/.git/hooks/pre-commit",
        "#!/bin/sh\ntouch ../begun\nsleep 2\n",
    );
    packet.shell("chmod +x app/.git/hooks/pre-commit");
    killed(&packet, "begun");
    let finished = packet.run(&["run", "--remaining"]);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    assert_eq!(packet.progress(), ["01:completed:no_session"]);
    assert_eq!(packet.shell("git -C app rev-list --count HEAD").trim(), "2");
}

/// Whether processes of this command line are left, the lines of a packet's `ps` aside.
fn is_left(packet: &Packet, line: &str) -> bool {
    let count = packet.shell(&format!(
        "ps -eo stat,args | grep -cE '^[^Z ]+ +{line}$' || true"
    ));
    count.trim() != "0"
}

/// What a killed runner left running is ended by the next; what has a session of its own is not.
#[test]
fn what_a_killed_runner_left_is_ended() {
    let keys = "verify: {commands: [{exec: sh, timeout_ms: 100000, args: [-c, \"trap '' TERM; \
                sleep 8191 & setsid sleep 8192 & touch begun; if test -e ../second; then exit 0; fi; wait\"]}]}";
    let packet = Packet::new(&[("prompts/01_a.prompt.md", &prompt("01", keys))]);
    killed(&packet, "app/begun");
    assert!(is_left(&packet, "sleep 8191") && is_left(&packet, "sleep 8192"));
    packet.write("second", "");
    packet.shell("sed -i 's/sleep 8191 . setsid sleep 8192 . //' prompts/01_a.prompt.md");
    let finished = packet.run(&["run", "--new-run"]);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    assert!(!is_left(&packet, "sleep 8191"));
    assert!(is_left(&packet, "sleep 8192"));
    // It ignores SIGTERM, as the shell that started it.
    packet.shell("kill -9 $(pgrep -fx 'sleep 8192')");
}

/// A check that was killed while outputs were set aside is undone by the next runner, before a
/// session or a check sees what it left (spec P65, P123).
#[test]
fn a_check_that_was_killed_is_undone() {
    let keys = "simulate: {attempts: {writes: {path: x, text: x}}}\n\
                verify: {commands: [{exec: sh, timeout_ms: 100000, regenerates: [a, b], \
                args: [-c, \"printf half > a; touch ../begun; \
                if test -e ../second; then printf new > a; printf new > b; else sleep 8193; fi\"]}]}";
    let packet = Packet::new(&[("prompts/01_a.prompt.md", &prompt("01", keys))]);
    packet.shell("cd app && printf old > a && printf old > b && git add -A && git commit -qm a");
    killed(&packet, "begun");
    let left = packet.shell("cd app && ls && cat a*");
    assert!(left.contains("b.runvil-verifier-backup"), "{left}");
    // The next one stops before its session: what it puts back is seen as it was.
    packet.shell("mv prompts/01_a.prompt.md aside && sed 's/^verify.*/verify: {files_exist: [x]}/' \
                  aside > prompts/02_b.prompt.md && sed -i 's/\"01\"/\"02\"/' prompts/02_b.prompt.md && \
                  mv aside prompts/01_a.prompt.md");
    packet.write("second", "");
    let finished = packet.run(&["run", "02", "--new-run"]);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    assert_eq!(
        packet.shell("cd app && ls && cat a b"),
        "README.md\na\nb\nx\noldold"
    );
    let finished = packet.run(&["run", "--remaining", "--new-run"]);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    assert_eq!(
        packet.shell("cd app && ls && cat a b"),
        "README.md\na\nb\nx\nnewnew"
    );
}

/// A command that tidies up around its outputs does not take the old ones along (spec P65).
#[test]
fn an_output_outlives_a_command_that_tidies_up() {
    let keys = "recovery: {repair: {enabled: false}}\n\
                verify: {commands: [{exec: sh, timeout_ms: 9000, regenerates: [o/a, b], \
                args: [-c, \"git clean -fdxq && rm -rf o && exit 1\"]}]}";
    let packet = Packet::new(&[("prompts/01_a.prompt.md", &prompt("01", keys))]);
    packet.shell("cd app && mkdir o && printf old > o/a && chmod 750 o/a && printf b > b");
    assert_eq!(packet.run(&["run"]).status, Some(1));
    let left = packet.shell("cd app && ls . o && stat -c %a o/a && cat o/a b");
    assert_eq!(left, ".:\nREADME.md\nb\no\n\no:\na\n750\noldb");
}
