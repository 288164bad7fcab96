//! The provider `model`: a conversation with file tools (spec P146 to P150; K49). A script answers.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::fixture::{Packet, prompt};
use crate::process::Finished;

/// A packet whose prompt `01` a model works on, which answers by this script.
fn packet(keys: &str, script: &str) -> Packet {
    let manifest = "---\nname: demo\nprovider: model\nrepos:\n  app: {path: app, default: true}\n\
                    recovery: {repair: {enabled: false}, retry: {base_delay_ms: 0, max_delay_ms: 0, \
                    class_attempts: {provider_runtime_claim: 0, transport_timeout: 0}}}\n---\n";
    let packet = Packet::new(&[
        ("prompt_runner_packet.md", manifest),
        ("prompts/01_a.prompt.md", &prompt("01", keys)),
        ("script.yaml", script),
    ]);
    packet.write("app/two.txt", "one\ntwo two\n");
    packet.shell("cd app && git add -A && git commit -qm two");
    packet
}

fn run(packet: &Packet) -> Finished {
    packet.run(&["run", "--script", "script.yaml"])
}

/// A script that calls tools once, all in one reply, and is done.
fn calls(calls: &str) -> String {
    format!("rounds:\n  - calls: [{calls}]\n    times: 1\n  - reply: Done.\n")
}

/// What was said, a message a line.
fn conversation(packet: &Packet) -> Vec<Value> {
    let text = packet.shell("cat .prompt_runner/sessions/prompt-01-*.jsonl");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The results of tools, in order.
fn results(packet: &Packet) -> Vec<String> {
    let said = conversation(packet);
    let told = said.iter().filter(|message| message["role"] == "tool");
    told.map(|message| message["content"].as_str().unwrap().to_owned())
        .collect()
}

/// P146: the system text and the rounds.
#[test]
fn a_model_works_with_files_until_it_is_done() {
    let script = calls(
        "{name: list_files, arguments: {}}, \
         {name: read_file, arguments: {path: two.txt, start_line: 2, lines: 1}}, \
         {name: search_files, arguments: {pattern: 'tw+o'}}, \
         {name: write_file, arguments: {path: new/a.txt, content: hi}}, \
         {name: edit_file, arguments: {path: two.txt, old: one, new: three}}, \
         {name: edit_file, arguments: {path: two.txt, old: two, new: four, all: true}}, \
         {name: delete_file, arguments: {path: README.md}}, \
         {name: read_file, arguments: {repo: packet, path: script.yaml, lines: 1}}",
    );
    let packet = packet(
        "verify: {contains: [{path: new/a.txt, text: hi}, {path: two.txt, text: \"three\\nfour four\\n\"}]}",
        &script,
    );
    packet.shell("chmod 755 app/two.txt");
    let finished = run(&packet);
    assert_eq!((finished.status, finished.stderr.as_str()), (Some(0), ""));
    assert_eq!(packet.progress(), ["01:completed:SHA"]);
    assert_eq!(
        results(&packet),
        [
            "README.md\ntwo.txt",
            "two two\n",
            "two.txt:2: two two",
            "wrote 2 bytes to new/a.txt",
            "replaced 1",
            "replaced 2",
            "deleted README.md",
            "rounds:\n",
        ]
    );
    let mode = fs::metadata(packet.path("app/two.txt"))
        .unwrap()
        .permissions();
    assert_eq!(mode.mode() & 0o777, 0o755);
    let said = conversation(&packet);
    let system = said[0]["content"].as_str().unwrap();
    assert!(system.ends_with("\n\nRepositories:\n- app"), "{system}");
    assert_eq!(said[1]["content"], "# B\n");
    assert_eq!(said.last().unwrap()["content"], "Done.");
}

/// P148, K49: nothing outside is touched, and the session goes on.
#[test]
fn a_model_keeps_to_its_repositories() {
    let script = calls(
        "{name: read_file, arguments: {path: ../x}}, \
         {name: read_file, arguments: {path: /etc/passwd}}, \
         {name: write_file, arguments: {path: .git/hooks/pre-commit, content: x}}, \
         {name: write_file, arguments: {path: ln/x, content: x}}, \
         {name: read_file, arguments: {path: in/config}}, \
         {name: edit_file, arguments: {path: two.txt, old: two, new: x}}, \
         {name: edit_file, arguments: {path: two.txt, old: four, new: x}}, \
         {name: write_file, arguments: {repo: packet, path: x, content: x}}, \
         {name: read_file, arguments: {repo: docs, path: x}}, \
         {name: read_file, arguments: {}}, \
         {name: read_file, arguments: {path: 5}}, \
         {name: list_files, arguments: {path: [a]}}, \
         {name: read_file, arguments: {path: two.txt, repo: 5}}, \
         {name: read_file, arguments: {path: fifo}}, \
         {name: write_file, arguments: {path: sub/.GIT/x, content: x}}, \
         {name: list_files, arguments: {path: .}}, \
         {name: write_file, arguments: {path: a}}, \
         {name: run_shell, arguments: {}}, \
         {name: read_file, arguments: {path: odd}}, \
         {name: edit_file, arguments: {path: two.txt, old: two, new: 2, all: true}}",
    );
    let packet = packet("", &script);
    fs::create_dir(packet.path("outside")).unwrap();
    symlink("../outside", packet.path("app/ln")).unwrap();
    symlink(".git", packet.path("app/in")).unwrap();
    fs::write(packet.path("app/odd"), b"\xff").unwrap();
    packet.shell("mkfifo app/fifo; mkdir app/.GIT; touch app/.GIT/config");
    // Git itself adds no `.GIT`.
    let finished = packet.run(&["run", "--script", "script.yaml", "--no-commit"]);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    assert_eq!(
        results(&packet),
        [
            "refused: path leaves the repository",
            "refused: absolute path",
            "refused: .git is not accessible",
            "refused: path leaves the repository",
            "refused: .git is not accessible",
            "old text occurs 2 times in two.txt",
            "old text not found in two.txt",
            "refused: read-only",
            "repo \"docs\" is not known",
            "path must be a string",
            "path must be a string",
            "path must be a string",
            "repo must be a string",
            "it is neither a file nor a directory",
            "refused: .GIT is not accessible",
            "README.md\nodd\ntwo.txt",
            "content must be a string",
            "there is no tool \"run_shell\"",
            "not a text file: odd",
            "new must be a string",
        ]
    );
    assert_eq!(fs::read_dir(packet.path("outside")).unwrap().count(), 0);
    assert_eq!(packet.read("app/.git/hooks/pre-commit"), None);
}

/// P147: no result is large, whatever the file is.
#[test]
fn what_a_tool_tells_is_bounded() {
    let script = calls(
        "{name: read_file, arguments: {path: huge}}, \
         {name: edit_file, arguments: {path: huge, old: a, new: b}}, \
         {name: read_file, arguments: {path: line}}, \
         {name: search_files, arguments: {pattern: xx}}, \
         {name: search_files, arguments: {pattern: '^y'}}, \
         {name: search_files, arguments: {pattern: '^z'}}, \
         {name: list_files, arguments: {path: many}}, \
         {name: list_files, arguments: {path: exact}}",
    );
    let packet = packet("", &script);
    packet.shell("truncate -s 300G app/huge");
    let line = "é".repeat(150_000) + "xx";
    packet.write("app/line", &line);
    packet.write("app/a", "axx\n");
    packet.write("app/y", &"y\n".repeat(201));
    packet.write("app/z", &"z\n".repeat(200));
    packet.shell("mkdir app/many app/exact; touch app/many/{1..1001} app/exact/{1..1000}");
    let finished = packet.run(&["run", "--script", "script.yaml", "--no-commit"]);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    let results = results(&packet);
    assert_eq!(results[0], "the file is larger than 64 MiB");
    assert_eq!(results[1], results[0]);
    assert_eq!(results[2].len(), (256 << 10) + "[cut]".len());
    assert!(results[2].ends_with("é[cut]"));
    assert_eq!(results[3], "a:1: axx\n[cut]");
    let (found, all) = (&results[4], &results[5]);
    assert!(found.ends_with("\ny:200: y\n[cut]"), "{found}");
    assert!(all.ends_with("\nz:200: z"), "{all}");
    assert!(results[6].ends_with("\n[more]"), "{}", results[6]);
    assert_eq!(results[6].lines().count(), 1001);
    assert_eq!(results[7].lines().count(), 1000);
}

#[test]
fn only_what_is_allowed_is_offered() {
    let both = "{name: write_file, arguments: {path: a, content: b}}, \
                {name: edit_file, arguments: {path: two.txt, old: one, new: b}}";
    for (keys, expected) in [
        (
            "allowed_tools: [Read, Edit, Bash]",
            ["there is no tool \"write_file\"", "replaced 1"],
        ),
        (
            "permission_mode: plan",
            [
                "there is no tool \"write_file\"",
                "there is no tool \"edit_file\"",
            ],
        ),
    ] {
        let packet = packet(keys, &calls(both));
        assert_eq!(run(&packet).status, Some(0));
        assert_eq!(results(&packet), expected, "{keys}");
    }
}

#[test]
fn a_session_has_a_bound_of_rounds() {
    let script = "rounds:\n  - calls: [{name: list_files, arguments: {}}]\n";
    let packet = packet(
        "max_turns: 3\nsystem_prompt: S\nappend_system_prompt: A",
        script,
    );
    assert_eq!(run(&packet).status, Some(1));
    let failure = &packet.prompt("01")["attempts"][0]["failure"];
    assert_eq!(failure["class"], "provider_runtime_claim");
    assert_eq!(failure["message"], "turn limit of 3 reached");
    assert_eq!(results(&packet).len(), 3);
    let said = conversation(&packet);
    assert_eq!(said[0]["content"], "S\n\nA\n\nRepositories:\n- app");
}

/// P149, P150: the same conversation goes on.
#[test]
fn a_broken_conversation_is_taken_up_again() {
    let script = "rounds:\n  - when: {contains: Continue}\n    reply: Done.\n  \
                  - when: {tool_result: list_files}\n    error: {timeout: true}\n  \
                  - calls: [{name: list_files, arguments: {}}]\n";
    let packet = packet("", script);
    let finished = run(&packet);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    assert_eq!(packet.prompt("01")["attempts"][0]["resumes"], 1);
    let roles: Vec<String> = conversation(&packet)
        .iter()
        .map(|message| message["role"].as_str().unwrap().to_owned())
        .collect();
    let expected = ["system", "user", "assistant", "tool", "user", "assistant"];
    assert_eq!(roles, expected);
}

#[test]
fn without_a_model_the_packet_is_not_ready() {
    let packet = packet("", "rounds: []\n");
    let mut command = packet.command(&["preflight"]);
    command.env_remove("RUNVIL_GATEWAY_URL");
    command.env("XDG_CONFIG_HOME", packet.path("none"));
    let refused = crate::process::finish(&mut command, "");
    assert_eq!(refused.status, Some(1), "{}", refused.stdout);
    let expected = "ERROR: provider model has no model: there is no gateway and no script\n";
    assert_eq!(refused.stderr, expected);
}

#[test]
fn a_waiting_model_is_interrupted() {
    let packet = packet("", "rounds:\n  - reply: Late.\n    delay_ms: 60000\n");
    let mut command = packet.command(&["run", "--script", "script.yaml"]);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    for _ in 0..2000 {
        if packet.attempts("01") == "run: running" {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(200));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(packet.attempts("01"), "run: interrupted");
}
