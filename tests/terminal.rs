//! The command line on a terminal and under Ctrl-C (spec C3, C4, C6).

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod process;

#[path = "terminal/operator.rs"]
mod operator;
#[path = "terminal/packets.rs"]
mod packets;
#[path = "terminal/person.rs"]
mod person;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use process::{Finished, finish, runvil};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

const HEAD: &str = "---\nname: t\ndescription: d\nrunvil: 0\n---\n# T\n";

const LUA: &str = "## Work\n\n```lua\n";

/// A prompt whose one block is this.
fn block(lua: &str) -> String {
    format!("{HEAD}\n{LUA}{lua}\n```\n")
}

/// A folder that holds `t.md`.
fn folder_with(prompt: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.md"), prompt).unwrap();
    folder
}

/// A terminal: the end that the person sees, and the end that a process writes to.
fn terminal() -> (OwnedFd, File) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap();
    let process = File::options()
        .read(true)
        .write(true)
        .open(name.to_str().unwrap())
        .unwrap();
    (person, process)
}

/// Everything that appears on a terminal until the last process has left it.
fn watch(person: OwnedFd) -> String {
    let mut bytes = Vec::new();
    let mut person = File::from(person);
    let mut chunk = [0; 4096];
    // The end of a terminal is an error, not an empty read.
    while let Ok(count @ 1..) = person.read(&mut chunk) {
        bytes.extend_from_slice(&chunk[..count]);
    }
    String::from_utf8(bytes).unwrap()
}

/// Runs with standard output on a terminal; gives what the person sees there.
fn on_terminal(prompt: &str, words: &[&str], set: fn(&mut Command, File)) -> (String, Finished) {
    on_terminal_with(prompt, words, "", set)
}

/// The same, with a standard input.
fn on_terminal_with(
    prompt: &str,
    words: &[&str],
    stdin: &str,
    set: fn(&mut Command, File),
) -> (String, Finished) {
    let folder = folder_with(prompt);
    let (person, process) = terminal();
    let mut command = runvil(folder.path(), words);
    command
        .env("TERM", "xterm")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    set(&mut command, process);
    let seen = thread::spawn(move || watch(person));
    let finished = finish(&mut command, stdin);
    // The command holds the process's end of the terminal.
    drop(command);
    (seen.join().unwrap(), finished)
}

fn stdout_on(command: &mut Command, terminal: File) {
    command.stdout(terminal);
}

fn stderr_on(command: &mut Command, terminal: File) {
    command.stderr(terminal);
}

#[test]
fn a_result_on_a_terminal_is_escaped_and_ends_its_line() {
    let (seen, finished) =
        on_terminal(&block("return 'a\\27[2J\\tb'"), &["run", "t.md"], stdout_on);
    assert_eq!(
        (seen.as_str(), finished.stderr.as_str()),
        ("a\\u{1b}[2J\tb\r\n", "")
    );
    let (seen, _) = on_terminal(&block("return 'line\\n'"), &["run", "t.md"], stdout_on);
    assert_eq!(seen, "line\r\n");
    let (seen, _) = on_terminal(&block("return ''"), &["run", "t.md"], stdout_on);
    assert_eq!(seen, "\r\n");
}

/// A prompt that talks to its model, `first` and then `second`.
const TALK: &str = "---\nname: t\ndescription: d\nrunvil: 0\nmodels:\n  any: {}\n---\n# T\n\n\
    ```lua\nmodels.default('any')\n```\n\n## Two \u{7f}\n\n```lua\n\
    local talk = messages.new():user('first')\nmodels.loop(talk)\n\
    talk:user('second')\nmodels.loop(talk)\nreturn 'x'\n```\n";

/// Replies that stay long enough to be seen.
const SLOW: &str = "rounds:\n\
    - { when: { contains: first }, reasoning: \"so \\e[1m\\n so\", reply: \"one\\ntwo 日本\", delay_ms: 400 }\n\
    - { reply: done, delay_ms: 400 }\n";

/// Runs `TALK` with a script from standard input.
fn talk(script: &str, words: &[&str]) -> (String, Finished) {
    let words = [&["run", "t.md", "--script", "-"], words].concat();
    on_terminal_with(TALK, &words, script, stderr_on)
}

/// Every block of lines that was drawn, in turn, without what draws it.
fn drawn(seen: &str) -> Vec<Vec<String>> {
    let blocks = seen.split("\r\u{1b}[?7l").skip(1);
    let text = |line: &str| line.replace("\u{1b}[K", "").replace("\u{1b}[J", "");
    blocks
        .map(|block| {
            let block = block.split("\u{1b}[?7h").next().unwrap();
            let block = block.strip_prefix("\u{1b}[1A").unwrap_or(block);
            block.split("\r\n").map(text).collect()
        })
        .collect()
}

#[test]
fn a_run_is_followed_by_a_block_that_goes_away() {
    let (seen, finished) = talk(SLOW, &[]);
    assert_eq!((finished.stdout.as_str(), finished.status), ("x", Some(0)));
    let mut blocks = drawn(&seen).into_iter();
    let expected = [
        (
            "Two \\u{7f} · 1 round, 1 under way",
            Some("  > one two 日本"),
        ),
        ("Two \\u{7f} · 2 rounds, 1 under way", Some("  > done")),
        ("", None),
    ];
    for (head, reply) in expected {
        let is_it = |block: Vec<String>| {
            block[0].starts_with(head) && block.get(1).map(String::as_str) == reply
        };
        assert!(blocks.any(is_it), "{head}: {seen:?}");
    }
    assert!(seen.ends_with("\u{1b}[J\u{1b}[?7h"), "{seen:?}");
}

#[test]
fn what_is_logged_stands_above_the_block() {
    let script = "rounds: [{ when: { contains: first }, reply: one, delay_ms: 300 }]\n";
    let (seen, finished) = talk(script, &[]);
    assert_eq!(finished.status, Some(1));
    let logged = "\u{1b}[J\u{1b}[?7hthe script has no rule for round 1, whose last message \
                  is: second\r\n";
    assert!(seen.contains(logged), "{seen:?}");
    let failure = "error[Completion]\u{1b}[0m: the connection to the model backend failed\r\n";
    assert!(seen.contains(failure), "{seen:?}");
}

#[test]
fn progress_stays_away_where_it_is_not_wanted() {
    for words in [&["-q"][..], &["--quiet", "--json"]] {
        let (seen, finished) = talk(SLOW, words);
        assert_eq!((seen.as_str(), finished.status), ("", Some(0)));
    }
    let dumb = |command: &mut Command, terminal| {
        command.env("TERM", "dumb").stderr(terminal);
    };
    let words = ["run", "t.md", "--script", "-"];
    let (seen, _) = on_terminal_with(TALK, &words, SLOW, dumb);
    assert_eq!(seen, "");
    let (seen, _) = on_terminal(HEAD, &["run", "t.md", "--events", "--name", "n"], stderr_on);
    assert!(!seen.contains('\u{1b}'), "{seen:?}");
}

#[test]
fn errors_on_a_terminal_have_colours_unless_told_otherwise() {
    let (seen, _) = on_terminal("x", &["check", "t.md"], stderr_on);
    assert!(
        seen.starts_with("\u{1b}[1;31merror[Parse/Frontmatter]\u{1b}[0m: "),
        "{seen:?}"
    );
    let plain = "error[Parse/Frontmatter]: file must begin with a --- frontmatter delimiter\r\n \
                 --> t.md\r\n";
    let no_color = |command: &mut Command, terminal| {
        command.env("NO_COLOR", "1").stderr(terminal);
    };
    assert_eq!(on_terminal("x", &["check", "t.md"], no_color).0, plain);
    let never = ["check", "t.md", "--color", "never"];
    assert_eq!(on_terminal("x", &never, stderr_on).0, plain);
}

/// Starts a run with `--events` and waits until one of the events is of a kind.
fn start_until(folder: &Path, words: &[&str], kind: &str) -> Child {
    let mut command = runvil(folder, ["run", "t.md", "--events", "--name", "n"]);
    command
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut events = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains(&format!("\"kind\":\"{kind}\"")) {
        line.clear();
        assert_ne!(events.read_line(&mut line).unwrap(), 0, "no {kind} came");
    }
    // What else it writes is of no interest, but it must be able to write it.
    thread::spawn(move || std::io::copy(&mut events, &mut std::io::sink()));
    thread::sleep(Duration::from_millis(100));
    child
}

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

#[test]
fn the_first_ctrl_c_cancels_the_run() {
    let folder = folder_with(&block("while true do end"));
    let child = start_until(folder.path(), &["--json"], "parse_succeeded");
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let object = "{\"outcome\":\"cancelled\",\"run\":\"n\"}\n";
    assert_eq!(String::from_utf8(output.stdout).unwrap(), object);
}

/// Waits for an event, asks for a stop, and gives what the run then came to.
fn stopped(lua: &str, script: &str, kind: &str) -> (Option<i32>, String) {
    let lua = format!("models.use('m') {lua}");
    let folder = folder_with(&block(&lua).replace("runvil: 0", "runvil: 0\nmodels: {m: {}}"));
    fs::write(folder.path().join("s.yaml"), script).unwrap();
    let child = start_until(folder.path(), &["--script", "s.yaml"], kind);
    kill_process(Pid::from_child(&child), Signal::QUIT).unwrap();
    let output = child.wait_with_output().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
    )
}

const STALLED: &str =
    "rounds:\n  - reply: late\n    delay_ms: 60000\n    times: 1\n  - reply: next\n";

#[test]
fn sigquit_stops_the_round_in_flight_and_the_run_goes_on() {
    let lua = "log('asks') local ok, e = pcall(models.infer, 'x') \
               return tostring(ok) .. ' ' .. e.kind .. ' ' .. tostring(e) .. ' ' .. models.infer('y')";
    let expected = "false cancelled interrupted by Ctrl-C next";
    assert_eq!(stopped(lua, STALLED, "lua"), (Some(0), expected.to_owned()));
    let uncaught = "log('asks') return models.infer('x')";
    assert_eq!(
        stopped(uncaught, STALLED, "lua"),
        (Some(130), String::new())
    );
}

#[test]
fn sigquit_with_nothing_in_flight_changes_nothing() {
    let lua = "for i = 1, 3e7 do end return models.infer('x')";
    let script = "rounds:\n  - reply: on time\n";
    assert_eq!(
        stopped(lua, script, "parse_succeeded"),
        (Some(0), "on time".to_owned())
    );
}

/// A run that is over, but cannot get rid of its result.
fn start_stuck() -> (tempfile::TempDir, Child) {
    let folder = folder_with(&block("return string.rep('x', 1 << 20)"));
    let child = start_until(folder.path(), &[], "run_succeeded");
    (folder, child)
}

#[test]
fn the_second_ctrl_c_kills_the_process() {
    let (_folder, mut child) = start_stuck();
    interrupt(&child);
    thread::sleep(Duration::from_millis(100));
    assert_eq!(child.try_wait().unwrap(), None, "one is not enough");
    interrupt(&child);
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::INT.as_raw()));
}

#[test]
#[cfg(target_os = "linux")]
fn a_run_that_asks_for_nothing_starts_no_thread() {
    let (_folder, mut child) = start_stuck();
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(status.contains("\nThreads:\t1\n"), "{status}");
}
