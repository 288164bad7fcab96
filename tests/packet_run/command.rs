//! The provider `command`: agents that are small scripts (spec P134 to P139; K44 to K46).

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};
use std::{fs, thread};

use rustix::process::{Pid, Signal, kill_process};

use crate::fixture::{Packet, prompt};
use crate::locks::await_file;

/// A packet whose prompt `01` is run by a script, under these keys of the block `command` and of
/// the manifest.
fn packet(script: &str, command: &str, keys: &str, of_prompt: &str) -> Packet {
    let manifest = format!(
        "---\nprovider: command\nrepos:\n  app: {{path: app, default: true}}\n  docs: {{path: docs}}\n\
         recovery: {{resume_attempts: 0, retry: {{max_attempts: 0, class_attempts: {NO_RETRIES}}}, \
         repair: {{enabled: false}}}}\ncommand:\n  {command}\n{keys}\n---\n"
    );
    let packet = Packet::new(&[
        ("prompt_runner_packet.md", &manifest),
        ("prompts/01_a.prompt.md", &prompt("01", of_prompt)),
    ]);
    packet.repo("docs");
    write_agent(&packet, script);
    packet
}

const NO_RETRIES: &str = "{provider_capacity: 0, provider_rate_limit: 0, provider_auth_claim: 0, \
    provider_config_claim: 0, provider_runtime_claim: 0, transport_disconnect: 0, \
    transport_timeout: 0, protocol_error: 0, unknown: 0}";

fn write_agent(packet: &Packet, script: &str) {
    packet.write("agent", &format!("#!/bin/sh\n{script}\n"));
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(packet.path("agent"), mode).unwrap();
}

/// The class and the message of the failure of prompt `01`.
fn failure(packet: &Packet) -> (String, String) {
    let attempt = &packet.prompt("01")["attempts"][0];
    let failure = &attempt["failure"];
    let text = |key: &str| failure[key].as_str().unwrap_or_default().to_owned();
    (text("class"), text("message"))
}

/// The failure of a run of such a packet.
fn failed(script: &str, command: &str) -> (String, String) {
    let packet = packet(script, command, "", "verify: {files_exist: [x]}");
    let finished = packet.run(&["run"]);
    assert_eq!(
        finished.status,
        Some(1),
        "{}{}",
        finished.stdout,
        finished.stderr
    );
    failure(&packet)
}

fn is(class: &str, message: &str) -> (String, String) {
    (class.to_owned(), message.to_owned())
}

const ARGV: &str = "argv: [./agent]";
const JSON: &str = "argv: [./agent]\n  output: jsonl";

fn transcript(packet: &Packet) -> String {
    packet.shell("cat .prompt_runner/logs/*.log")
}

/// No process is left whose command line is exactly this.
fn assert_gone(packet: &Packet, line: &str) {
    let left = packet.shell(&format!("ps -eo args | grep -cx '{line}' || true"));
    assert_eq!(left.trim(), "0", "{line}");
}

#[test]
fn the_text_comes_by_standard_input_and_the_work_is_committed() {
    let script = "cat > got; env | grep ^RUNVIL_ | sed 's/[0-9]*:[0-9]*:[0-9]*$/PID:START:SESSION/' | sort > env; pwd > cwd; echo Working.";
    let packet = packet(script, ARGV, "", "verify: {files_exist: [got]}");
    let finished = packet.run(&["run"]);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    assert_eq!(packet.read("app/got").as_deref(), Some("# B\n"));
    let root = packet.root();
    let root = root.display();
    let expected = format!(
        "RUNVIL_ATTEMPT=1\nRUNVIL_MODE=run\nRUNVIL_PACKET_ROOT={root}\nRUNVIL_PROMPT_ID=01\nRUNVIL_RUNNER=PID:START:SESSION\n"
    );
    assert_eq!(packet.read("app/env"), Some(expected));
    assert_eq!(packet.read("app/cwd"), Some(format!("{root}/app\n")));
    assert_eq!(packet.progress(), ["01:completed:SHA"]);
    assert!(transcript(&packet).contains("\nWorking.\n"));
}

#[test]
fn the_text_comes_in_a_file_or_as_an_argument() {
    let command = "argv: [./agent, --in, '{prompt_file}', '{{x}}']\n  prompt: file";
    let by_file = packet("cp \"$2\" got; echo \"$3\" >> got", command, "", "");
    assert_eq!(by_file.run(&["run"]).status, Some(0));
    assert_eq!(by_file.read("app/got").as_deref(), Some("# B\n{x}\n"));
    let kept = by_file.shell("cat .prompt_runner/sessions/prompt-01-*.prompt.md");
    assert_eq!(kept, "# B\n");

    let command = "argv: [./agent, '<{prompt}>']\n  prompt: arg";
    let by_word = packet("printf %s \"$1\" > got; cat > in", command, "", "");
    assert_eq!(by_word.run(&["run"]).status, Some(0));
    assert_eq!(by_word.read("app/got").as_deref(), Some("<# B\n>"));
    assert_eq!(by_word.read("app/in").as_deref(), Some(""));
    by_word.write(
        "prompts/01_a.prompt.md",
        &format!("---\nid: 1\n---\n{}", "x".repeat(131_073)),
    );
    let refused = by_word.run(&["preflight"]);
    assert_eq!(refused.status, Some(1));
    let expected = "ERROR: prompt of 131073 bytes is too long for an argument\n";
    assert_eq!(refused.stderr, expected);
}

/// K45.
#[test]
fn the_template_is_filled() {
    let command = "argv: [./agent, ['--model', '{model}'], '{repo_args}', '{prompt_id}', \
                   '{attempt}', '{mode}', ['{permission_mode}'], '{repo:docs}', '-']\n  \
                   repo_args: ['--add-dir', '{path}', '{name}']";
    let script = "for word; do echo \"$word\" >> words; done";
    let keys = "targets: [app, docs]";
    let mut packet = packet(script, command, "", "");
    let file = prompt("01", "").replace("targets: [app]", keys);
    packet.write("prompts/01_a.prompt.md", &file);
    assert_eq!(packet.run(&["run", "--no-commit"]).status, Some(0));
    let docs = packet.path("docs").display().to_string();
    let expected = format!("--add-dir\n{docs}\ndocs\n01\n1\nrun\n{docs}\n-\n");
    assert_eq!(packet.read("app/words"), Some(expected));

    packet = self::packet("", "argv: [./agent, '{model}']", "", "");
    let refused = packet.run(&["run"]);
    assert_eq!(refused.status, Some(1));
    assert_eq!(
        refused.stderr,
        "ERROR: command template: {model} has no value\n"
    );
    assert!(packet.prompt("01").is_null());
}

/// What readiness says of a block (spec P35, P127, P135, P138).
#[test]
fn what_cannot_be_started_is_no_ready_packet() {
    for (command, keys, expected) in [
        (
            "argv: [no-such-agent]",
            "",
            "provider command not found: no-such-agent",
        ),
        ("argv: [./gone]", "", "provider command not found: ./gone"),
        ("argv: []", "", "command: argv is empty"),
        (
            "output: text",
            "",
            "command: argv is missing: the program and its arguments, as a list",
        ),
        (
            "argv: [./agent]\n  resum_argv: [x]",
            "",
            "command: unknown key \"resum_argv\" (known: argv, prompt, output, events, kinds, \
             exit_codes, require_done, resume_argv, repo_args, env, unset, idle_timeout_ms, \
             max_output_bytes)",
        ),
        (
            "argv: [./agent]\n  output: xml",
            "",
            "command: invalid output: \"xml\"",
        ),
        (
            "argv: [./agent, {a: b}]",
            "",
            "command: invalid argv: [\"./agent\",{\"a\":\"b\"}]",
        ),
        (
            "argv: [./agent]\n  exit_codes: {'75': capacity}",
            "",
            "command: invalid exit_codes.75: \"capacity\"",
        ),
        (
            "argv: [./agent]\n  env: {'A=B': x}",
            "",
            "command: invalid env: \"x\"",
        ),
        (
            "argv: [./agent]\n  unset: ['A=B']",
            "",
            "command: invalid unset: [\"A=B\"]",
        ),
        (
            "argv: [./agent]\n  prompt: file",
            "",
            "command template: {prompt_file} is missing",
        ),
        (
            "argv: [./agent]\n  resume_argv: [./agent, '{sesion_id}']",
            "",
            "command template: {sesion_id} has no value",
        ),
        (
            "argv: [./agent, '{session_id}']",
            "",
            "command template: {session_id} has no value",
        ),
        (
            ARGV,
            "max_turns: 3",
            "command template: {max_turns} is missing, and max_turns is set",
        ),
    ] {
        let packet = packet("true", command, keys, "");
        let refused = packet.run(&["preflight"]);
        assert_eq!(refused.status, Some(1), "{command}");
        assert_eq!(refused.stderr, format!("ERROR: {expected}\n"), "{command}");
    }
    let packet = packet("true", ARGV, "", "");
    packet.shell("chmod -x agent");
    let expected = format!(
        "ERROR: provider command cannot run: {}: permission denied\n",
        packet.path("agent").display()
    );
    assert_eq!(packet.run(&["preflight"]).stderr, expected);
    // Nobody asked beforehand: nothing can start, and nothing is tried again.
    assert_eq!(packet.run(&["run", "--skip-preflight"]).status, Some(1));
    assert_eq!(failure(&packet).0, "provider_unavailable");
    assert_eq!(packet.attempts("01"), "run: failed");
}

/// P78, P137, K44.
#[test]
fn the_end_of_the_program_says_how_it_failed() {
    let long = "for i in 1 2 3; do echo; echo e$i >&2; done; echo o; exit 3";
    for (script, command, expected) in [
        ("exit 3", ARGV, is("provider_runtime_claim", "exit 3")),
        (
            long,
            ARGV,
            is("provider_runtime_claim", "exit 3: e1\ne2\ne3"),
        ),
        (
            "echo too busy; exit 1",
            ARGV,
            is("provider_capacity", "exit 1: too busy"),
        ),
        (
            "exit 75",
            "argv: [./agent]\n  exit_codes: {'75': provider_capacity}",
            is("provider_capacity", "exit 75"),
        ),
        (
            "kill -9 $$",
            ARGV,
            is("transport_disconnect", "provider killed by signal 9"),
        ),
        // A status above 128 is a status.
        ("exit 137", ARGV, is("provider_runtime_claim", "exit 137")),
        (
            r#"echo '{"event":"error","kind":"rate_limit","message":"slow"}'; echo '{"event":"error","message":"later"}'"#,
            JSON,
            is("provider_rate_limit", "slow"),
        ),
        (
            r#"echo '{"event":"error","kind":"E7","message":"slow"}'"#,
            "argv: [./agent]\n  output: jsonl\n  kinds: {E7: guardrail_blocked}",
            is("guardrail_blocked", "slow"),
        ),
        (
            r#"echo '{"event":"error","kind":"rate_limit","message":{}}'"#,
            JSON,
            is("provider_rate_limit", "rate_limit"),
        ),
        (
            r#"echo '{"event":"error","kind":"","message":[]}'"#,
            JSON,
            is("provider_runtime_claim", "provider reported an error"),
        ),
        (
            r#"echo '{"event":"error","message":{"code":5}}'"#,
            JSON,
            is("provider_runtime_claim", "{\"code\":5}"),
        ),
        (
            r#"echo '{"event":"error","recovery":{"class":"odd-one"},"message":"m"}'"#,
            JSON,
            is("odd_one", "m"),
        ),
        (
            r#"echo '{"event":"message","text":"m"}'"#,
            "argv: [./agent]\n  output: jsonl\n  require_done: true",
            is("protocol_error", "stream ended without a final event"),
        ),
        (
            "printf 'a\\377b' >&2; exit 1",
            ARGV,
            is("provider_runtime_claim", "exit 1: a\u{fffd}b"),
        ),
    ] {
        assert_eq!(failed(script, command), expected, "{script}");
    }
}

#[test]
fn a_status_may_stand_for_success() {
    let command = "argv: [./agent]\n  exit_codes: {3: ok}";
    let packet = packet("exit 3", command, "", "");
    assert_eq!(packet.run(&["run"]).status, Some(0));
}

/// P136.
#[test]
fn events_are_told_and_other_lines_logged() {
    let script = r#"cat <<'END'
not JSON
{"event":"session","id":"s-1","model":"m1"}
{"event":"message","text":"Hello"}
{"event":"tool_start","name":"edit"}
{"event":"tool_end","name":"edit","output":"ok"}
{"event":"tool_failed","name":"run","output":"no"}
{"event":"usage","input":3,"output":4,"cost_usd":0.5}
{"event":"strange"}
{"event":"done","reason":"end_turn"}
END"#;
    let packet = packet(script, JSON, "model: m1\nevents_mode: full", "");
    let finished = packet.run(&["run"]);
    assert_eq!((finished.status, finished.stderr.as_str()), (Some(0), ""));
    let events = packet.shell("cat .prompt_runner/logs/*.events.jsonl");
    let types: Vec<String> = events
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|event| event["type"].as_str().unwrap().to_owned())
        .collect();
    let expected = [
        "run_started",
        "message_streamed",
        "tool_call_started",
        "tool_call_completed",
        "tool_call_failed",
        "token_usage_updated",
        "run_completed",
    ];
    assert_eq!(types, expected);
    let log = transcript(&packet);
    for line in [
        "not JSON",
        "{\"event\":\"strange\"}",
        "SESSION_RECOVERY action=checkpoint provider=command provider_session_id=s-1",
        "LLM_AUDIT_RESULT status=matched configured=m1 confirmed=m1",
        "[completed] end_turn",
    ] {
        assert!(log.contains(&format!("\n{line}\n")), "{line}: {log}");
    }
}

/// P139, K46.
#[test]
fn the_model_is_confirmed() {
    let other = r#"echo '{"event":"session","id":"s","model":"m2"}'"#;
    for (script, demand, status, class, warning) in [
        (other, "require", 1, "cli_confirmation_mismatch", ""),
        ("true", "require", 1, "cli_confirmation_missing", ""),
        (
            other,
            "warn",
            0,
            "",
            "WARNING: provider model m2, configured m1\n",
        ),
        (
            "true",
            "warn",
            0,
            "",
            "WARNING: provider model n/a, configured m1\n",
        ),
        (other, "off", 0, "", ""),
    ] {
        let keys = format!("model: m1\ncli_confirmation: {demand}");
        let packet = packet(script, JSON, &keys, "");
        let finished = packet.run(&["run"]);
        assert_eq!(finished.status, Some(status), "{demand}");
        assert_eq!(failure(&packet).0, class, "{demand}");
        match status {
            0 => assert_eq!(finished.stderr, warning),
            _ => assert_eq!(packet.attempts("01"), "run: failed"),
        }
    }
    // Where no model was asked for, any is right.
    for script in [other, "true"] {
        let packet = packet(script, JSON, "cli_confirmation: require", "");
        assert_eq!(packet.run(&["run"]).status, Some(0), "{script}");
        assert!(transcript(&packet).contains("LLM_AUDIT_RESULT status=matched "));
    }
}

/// P134: the same conversation goes on.
#[test]
fn a_broken_session_is_resumed() {
    let script = "case $1 in\n\
        go) echo '{\"event\":\"session\",\"id\":\"s-9\"}'; \
            echo '{\"event\":\"error\",\"kind\":\"protocol_error\",\"message\":\"broken\"}';;\n\
        on) echo \"$2 $(cat)\" > resumed;;\nesac";
    let command =
        "argv: [./agent, go]\n  resume_argv: [./agent, on, '{session_id}']\n  output: jsonl";
    let verify = "recovery: {resume_attempts: 1}\nverify: {files_exist: [resumed]}";
    let packet = packet(script, command, "", verify);
    let finished = packet.run(&["run"]);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    assert_eq!(
        packet.read("app/resumed").as_deref(),
        Some("s-9 Continue\n")
    );
    assert_eq!(packet.prompt("01")["attempts"][0]["resumes"], 1);

    // An agent that named no session cannot be asked to go on with it.
    write_agent(
        &packet,
        "echo '{\"event\":\"error\",\"kind\":\"protocol_error\"}'; rm -f resumed",
    );
    assert_eq!(packet.run(&["run"]).status, Some(1));
    assert_eq!(packet.prompt("01")["attempts"][1]["resumes"], 0);
}

/// P125, K45: a deadline ends the whole group, also one that does not want to end.
#[test]
fn a_program_that_hangs_is_ended() {
    for (script, bounds, expected) in [
        (
            "sleep 8171 & sleep 8171",
            ("timeout: 300", ""),
            is("provider_runtime_claim", "run deadline of 300 ms exceeded"),
        ),
        (
            "trap '' TERM; sleep 8172 & sleep 8172; sleep 8172",
            ("timeout: 300", ""),
            is("provider_runtime_claim", "run deadline of 300 ms exceeded"),
        ),
        (
            "echo begun; sleep 8173",
            ("", "\n  idle_timeout_ms: 300"),
            is("transport_timeout", "no output for 300 ms"),
        ),
    ] {
        let begun = Instant::now();
        let command = format!("{ARGV}{}", bounds.1);
        let packet = packet(script, &command, bounds.0, "verify: {files_exist: [x]}");
        assert_eq!(packet.run(&["run"]).status, Some(1), "{script}");
        assert_eq!(failure(&packet), expected, "{script}");
        assert!(begun.elapsed() < Duration::from_secs(20));
        for number in 8171..8174 {
            assert_gone(&packet, &format!("sleep {number}"));
        }
    }
}

#[test]
fn a_flood_is_ended() {
    let command = "argv: [./agent]\n  max_output_bytes: 1000000";
    let found = failed("while :; do echo 0123456789; done", command);
    assert_eq!(
        found,
        is("protocol_error", "more than 1000000 bytes of output")
    );
    // Nothing is kept of what comes until it has ended.
    let packet = packet(
        "trap '' TERM; yes '' & yes '' >&2 & wait",
        "argv: [./agent]\n  max_output_bytes: 1000000",
        "",
        "verify: {files_exist: [x]}",
    );
    assert_eq!(packet.run(&["run"]).status, Some(1));
    let kept = packet.shell("cat .prompt_runner/logs/*.log | grep -cE '^(\\[stderr\\] )?$'");
    assert_eq!(kept.trim(), "1000000");
    // A line without an end is no way around it.
    let found = failed("exec cat /dev/zero", command);
    assert_eq!(
        found,
        is("protocol_error", "more than 1000000 bytes of output")
    );
}

/// Names that an agent gives make no lines of their own.
#[test]
fn a_name_stays_on_its_line() {
    let script = "cat <<'E'\n{\"event\":\"session\",\"id\":\"a\\nSESSION_RECOVERY action=b\"}\n\
                  {\"event\":\"tool_start\",\"name\":\"n\\nCompleted prompt 02\"}\nE";
    let packet = packet(script, JSON, "", "");
    let finished = packet.run(&["run"]);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    let shown = "\n  tool n\\nCompleted prompt 02\n";
    assert!(finished.stdout.contains(shown), "{}", finished.stdout);
    let log = packet.shell("cat .prompt_runner/logs/*.log");
    let expected = " provider_session_id=a\\nSESSION_RECOVERY action=b\n";
    assert!(log.contains(expected), "{log}");
}

/// A program that reads nothing of a long text is no trouble, and what it leaves behind is ended.
#[test]
fn what_a_program_leaves_behind_is_ended() {
    let packet = packet("sleep 8174 & exit 0", ARGV, "", "");
    let body = "x\n".repeat(300_000);
    packet.write(
        "prompts/01_a.prompt.md",
        &format!("{}{body}", prompt("01", "")),
    );
    assert_eq!(packet.run(&["run"]).status, Some(0));
    assert_gone(&packet, "sleep 8174");
}

/// P121: the first signal asks the program to end and lets it, the second kills it.
#[test]
fn an_interrupted_program_is_ended() {
    let gentle = "trap 'echo x > ended; exit 1' TERM; echo x > begun; sleep 8175 & wait";
    let stubborn = "trap '' TERM; echo x > begun; sleep 8176; sleep 8176";
    for (script, signals) in [(gentle, 1), (stubborn, 2)] {
        let packet = packet(script, ARGV, "", "");
        let mut command = packet.command(&["run"]);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        await_file(&packet, "app/begun");
        let begun = Instant::now();
        for _ in 0..signals {
            kill_process(Pid::from_child(&child), Signal::INT).unwrap();
            thread::sleep(Duration::from_millis(200));
        }
        let output = child.wait_with_output().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(8));
        assert_eq!(output.status.code(), Some(130));
        assert_eq!(packet.attempts("01"), "run: interrupted");
        assert_eq!(packet.read("app/ended").is_some(), signals == 1);
        assert_gone(&packet, "sleep 8175");
        assert_gone(&packet, "sleep 8176");
    }
}

/// P128: the aliases that are shipped as examples.
#[test]
fn every_shipped_alias_is_whole() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/providers");
    let files = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let names: Vec<String> = files
        .filter(|file| !file.ends_with("README.md"))
        .map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert!(names.len() >= 4, "{names:?}");
    for name in names {
        let packet = packet("cat > /dev/null", ARGV, "", "");
        let manifest = format!("---\nprovider: {name}\nrepos: {{app: app, docs: docs}}\n---\n");
        packet.write("prompt_runner_packet.md", &manifest);
        fs::create_dir(packet.path("home")).unwrap();
        packet.shell(&format!("cp -r {} home/providers", folder.display()));
        // Whatever it is called, it is the script.
        let alias = packet.read(&format!("home/providers/{name}.md")).unwrap();
        let program = alias.split("argv:").nth(1).unwrap();
        let program: String = program
            .chars()
            .skip_while(|character| !character.is_ascii_alphabetic())
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        packet.shell(&format!("mkdir bin; mv agent bin/{program}"));
        let path = format!(
            "{}:{}",
            packet.path("bin").display(),
            std::env::var("PATH").unwrap()
        );
        let mut command = packet.command(&["run"]);
        command
            .env("RUNVIL_PACKET_HOME", packet.path("home"))
            .env("PATH", path);
        let finished = crate::process::finish(&mut command, "");
        assert_eq!(finished.status, Some(0), "{name}: {}", finished.stderr);
    }
}
