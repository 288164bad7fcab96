//! The provider `runvil`: prompts that are programs (spec P140 to P145; K47, K48).

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::fixture::{Packet, prompt};
use crate::locks::await_file;

/// A packet whose prompt `01` is this program, under these keys.
fn program(body: &str, keys: &str) -> Packet {
    let manifest = "---\nname: demo\nprovider: runvil\nrepos:\n  app: {path: app, default: true}\n  \
                    docs: {path: docs}\nrecovery: {retry: {base_delay_ms: 0, max_delay_ms: 0}}\n---\n";
    let text = prompt("01", keys).replace("# B\n", body);
    let packet = Packet::new(&[
        ("prompt_runner_packet.md", manifest),
        ("prompts/01_a.prompt.md", &text),
    ]);
    packet.repo("docs");
    packet
}

/// One whose program is a block of Lua.
fn lua(block: &str, keys: &str) -> Packet {
    program(
        &format!("# Make\n\n## Write\n\n```lua\n{block}\n```\n"),
        keys,
    )
}

fn failure(packet: &Packet) -> (String, String) {
    let failure = &packet.prompt("01")["attempts"][0]["failure"];
    let text = |key: &str| failure[key].as_str().unwrap_or_default().to_owned();
    (text("class"), text("message"))
}

/// P145, K47.
#[test]
fn a_program_writes_the_repository_and_is_recorded() {
    let keys = "verify: {contains: [{path: hello.txt, text: hi}]}";
    let packet = lua("store.write('hello.txt', 'hi') return 'ok'", keys);
    let finished = packet.run(&["run"]);
    assert_eq!((finished.status, finished.stderr.as_str()), (Some(0), ""));
    assert_eq!(packet.progress(), ["01:completed:SHA"]);
    assert_eq!(packet.shell("git -C app show HEAD:hello.txt"), "hi");
    let record = packet.shell("cat .prompt_runner/sessions/prompt-01-*.record.jsonl");
    let head: Value = serde_json::from_str(record.lines().next().unwrap()).unwrap();
    assert!(head.to_string().contains("demo-01-1"), "{head}");
    let shown = packet.shell("cat .prompt_runner/logs/*.log");
    assert!(shown.contains("\nok\n[completed]"), "{shown}");
}

/// K47: what a program may not touch.
#[test]
fn a_program_keeps_to_its_grounds() {
    let packet = lua(
        "local lines = {}\n\
         local function try(deed, path, ...)\n\
           local ok, why = pcall(store[deed], path, ...)\n\
           lines[#lines + 1] = deed .. ' ' .. path .. ': ' .. (ok and 'ok' or why.reason .. ', ' .. why.message)\n\
         end\n\
         try('read', '.git/config')\n\
         try('write', 'sub/.prompt_runner/x', '')\n\
         try('read', 'link/config')\n\
         try('write', '.repos/packet/x', '')\n\
         try('read', '.repos/packet/prompt_runner_packet.md')\n\
         try('read', '.repos/docs/README.md')\n\
         try('write', '.repos/docs/x', '')\n\
         try('write', '.repos/app/through', 'x')\n\
         try('read', '.repos/docs/.git/HEAD')\n\
         try('write', '.runvil/attempt.json', '')\n\
         try('read', '.runvil/repair.md')\n\
         try('read', '.repos/none/x')\n\
         for _, pattern in ipairs{'**', '.repos/docs/*', '.repos/*/README.md', '.runvil/*'} do\n\
           lines[#lines + 1] = pattern .. ' = ' .. table.concat(store.glob(pattern), ' ')\n\
         end\n\
         store.write('seen.txt', table.concat(lines, '\\n') .. '\\n')",
        "",
    );
    symlink(".git", packet.path("app/link")).unwrap();
    let finished = packet.run(&["run", "--no-commit"]);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    let seen = packet.read("app/seen.txt").unwrap();
    let lines: Vec<&str> = seen.lines().collect();
    for (line, parts) in lines.iter().zip([
        &[
            "read .git/config: permission_denied",
            ".git is not accessible",
        ][..],
        &[
            "write sub/.prompt_runner/x: permission_denied",
            ".prompt_runner is not accessible",
        ],
        &[
            "read link/config: permission_denied",
            ".git is not accessible",
        ],
        &[
            "write .repos/packet/x: permission_denied",
            "the store is read-only",
        ],
        &["read .repos/packet/prompt_runner_packet.md: ok"],
        &["read .repos/docs/README.md: ok"],
        &[
            "write .repos/docs/x: permission_denied",
            "the store is read-only",
        ],
        &["write .repos/app/through: ok"],
        &[
            "read .repos/docs/.git/HEAD: permission_denied",
            ".git is not accessible",
        ],
        &[
            "write .runvil/attempt.json: permission_denied",
            "the store is read-only",
        ],
        &["read .runvil/repair.md: not_found"],
        &["read .repos/none/x: not_found"],
        &["** = README.md through"],
        &[".repos/docs/* = .repos/docs/README.md"],
        &[".repos/*/README.md = .repos/app/README.md .repos/docs/README.md"],
        &[".runvil/* = .runvil/attempt.json"],
    ]) {
        for part in parts {
            assert!(line.contains(part), "{line}\nlacks {part}");
        }
    }
    assert_eq!(lines.len(), 16, "{seen}");
}

#[test]
fn an_uncaught_failure_of_the_store_is_the_programs() {
    let packet = lua(
        "store.read('.git/config')",
        "recovery: {repair: {enabled: false}}",
    );
    assert_eq!(packet.run(&["run"]).status, Some(1));
    let (class, message) = failure(&packet);
    assert_eq!(class, "program_error");
    assert!(message.starts_with("Vfs: "), "{message}");
    assert_eq!(packet.attempts("01"), "run: failed");
}

#[test]
fn under_plan_nothing_is_written() {
    let packet = lua("store.write('a.txt', '')", "permission_mode: plan");
    assert_eq!(packet.run(&["run"]).status, Some(1));
    assert!(failure(&packet).1.contains("the store is read-only"));
    assert_eq!(packet.read("app/a.txt"), None);
}

/// P143, K48.
#[test]
fn a_repair_tells_the_program_what_is_left() {
    let block = "if store.exists('.runvil/repair.md') then\n\
                 store.write('b.txt', store.read('.runvil/attempt.json') .. store.read('.runvil/repair.md'))\n\
                 else store.write('a.txt', 'a') end";
    let packet = lua(block, "verify: {files_exist: [a.txt, b.txt]}");
    assert_eq!(packet.run(&["run"]).status, Some(0));
    assert_eq!(
        packet.attempts("01"),
        "run: verification_failed; repair: completed"
    );
    let told = packet.read("app/b.txt").unwrap();
    let (attempt, block) = told.split_once('\n').unwrap();
    let attempt: Value = serde_json::from_str(attempt).unwrap();
    assert_eq!(attempt["prompt_id"], "01");
    assert_eq!(
        (&attempt["attempt"], &attempt["mode"]),
        (&Value::from(2), &Value::from("repair"))
    );
    assert_eq!(attempt["targets"], serde_json::json!(["app"]));
    assert_eq!(attempt["failures"][0]["path"], "b.txt");
    assert!(block.starts_with("## Repair Instructions\n\n"), "{block}");
}

/// K48, P35, P127, P140, P142: what is no ready packet.
#[test]
fn a_program_that_cannot_run_is_seen_before() {
    let preflight = |packet: &Packet| {
        let refused = packet.run(&["preflight"]);
        assert_eq!(refused.status, Some(1), "{}", refused.stdout);
        refused.stderr
    };
    // The line is that of the prompt's file.
    let unclosed = program("# Make\n\n## Write\n\n```lua\nreturn 1\n", "");
    let text = unclosed.read("prompts/01_a.prompt.md").unwrap();
    let line = text.lines().position(|line| line == "```lua").unwrap() + 1;
    let said = preflight(&unclosed);
    assert!(said.starts_with("ERROR: Parse: "), "{said}");
    assert!(
        said.ends_with(&format!("(prompts/01_a.prompt.md:{line})\n")),
        "{said}"
    );

    // All of its Lua is compiled, that of the last section too.
    let broken = program(
        "# Make\n\n## Write\n\n```lua\nlocal a\n```\n\n## Later\n\n```lua\nlocal b = = 2\n```\n",
        "",
    );
    let text = broken.read("prompts/01_a.prompt.md").unwrap();
    let line = text.lines().position(|line| line.contains("= =")).unwrap() + 1;
    let said = preflight(&broken);
    let begin =
        format!("ERROR: Parse: lua compilation error at section `Later` prologue (line {line}): ");
    assert!(said.starts_with(&begin), "{said}");
    assert!(said.ends_with(" (prompts/01_a.prompt.md)\n"), "{said}");
    let refused = broken.run(&["run"]);
    assert_eq!((refused.status, refused.stderr), (Some(1), said));

    let own =
        "\n---\nname: own\ndescription: d\nrunvil: 0\n---\n# Own\n\n## Write\n\n```lua\nreturn 1\n";
    let unclosed = program(own, "");
    let text = unclosed.read("prompts/01_a.prompt.md").unwrap();
    let line = text.lines().position(|line| line == "```lua").unwrap() + 1;
    let said = preflight(&unclosed);
    assert!(
        said.ends_with(&format!("(prompts/01_a.prompt.md:{line})\n")),
        "{said}"
    );

    for (keys, expected) in [
        ("max_turns: 3", "provider runvil has no use for max_turns"),
        (
            "runvil: {stor: memory}",
            "runvil: unknown key \"stor\" (known: program, args, input, store, limits)",
        ),
        ("runvil: {store: disk}", "runvil: invalid store: \"disk\""),
        (
            "runvil: {limits: {memory: 0}}",
            "runvil: invalid limits.memory: 0",
        ),
        (
            "runvil: {program: gone.md}",
            "cannot read gone.md: there is no such file",
        ),
    ] {
        assert_eq!(
            preflight(&lua("return 1", keys)),
            format!("ERROR: {expected}\n")
        );
    }
    let taken = lua("return 1", "");
    fs::create_dir(taken.path("app/.runvil")).unwrap();
    let said = preflight(&taken);
    assert!(
        said.ends_with("/app/.runvil in its store: the name is taken\n"),
        "{said}"
    );
}

#[test]
fn a_program_may_be_a_file_with_arguments_and_input() {
    let text = "---\nname: own\ndescription: d\nrunvil: 0\ninput: {path: in.txt, description: i}\n---\n\
                # Own\n\n## Write\n\n```lua\nstore.write('got.txt', args .. ' ' .. store.read('in.txt'))\n```\n";
    let packet = program(
        "unused\n",
        "runvil: {program: 'docs:program.md', args: 'a b', input: {file: text.txt}}",
    );
    packet.write("docs/program.md", text);
    packet.write("text.txt", "told");
    let finished = packet.run(&["run"]);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    assert_eq!(packet.read("app/got.txt").as_deref(), Some("a b told"));
}

/// P143: a program that declares an input is given its text, and in a repair the block below it.
#[test]
fn a_repair_is_staged_below_the_input() {
    let text = "\n---\nname: own\ndescription: d\nrunvil: 0\ninput: {path: in.txt, description: i}\n---\n\
                # Own\n\n## Write\n\n```lua\nlocal told = store.read('in.txt')\n\
                local file = store.exists('.runvil/repair.md') and 'b.txt' or 'a.txt'\n\
                store.write(file, told)\n```\n";
    let keys = "runvil: {input: told}\nverify: {files_exist: [b.txt]}";
    let packet = program(text, keys);
    let finished = packet.run(&["run"]);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    assert_eq!(packet.read("app/a.txt").as_deref(), Some("told"));
    let told = packet.read("app/b.txt").unwrap();
    let below = "told\n\n## Repair Instructions\n\n";
    assert!(told.starts_with(below), "{told}");
    assert!(told.contains("\n  path: b.txt\n"), "{told}");
}

const CHAT: &str = "---\nname: own\ndescription: d\nrunvil: 0\nmodels: {main: {description: d}}\n---\n# Own\n\n## Ask\n\n\
                    ```lua\nmodels.use('main') store.write('said.txt', models.infer('Hello'))\n```\n";

/// P22, P141: `--script` answers the rounds, of each attempt anew.
#[test]
fn a_script_answers_the_rounds() {
    let packet = program(CHAT, "");
    packet.write("script.yaml", "rounds:\n  - reply: Hi there\n");
    let finished = packet.run(&["run", "--script", "script.yaml", "--events-mode", "full"]);
    assert_eq!(
        finished.status,
        Some(0),
        "{}{:?}",
        finished.stderr,
        failure(&packet)
    );
    assert_eq!(packet.read("app/said.txt").as_deref(), Some("Hi there"));
    let events = packet.shell("cat .prompt_runner/logs/*.events.jsonl");
    assert!(events.contains("message_received"), "{events}");

    for (flag, name) in [("--script", "gone.yaml"), ("--config", "gone.yaml")] {
        let refused = packet.run(&["run", flag, name]);
        assert_eq!(refused.status, Some(2), "{flag}: {}", refused.stderr);
        assert!(
            refused.stderr.starts_with("ERROR: cannot read"),
            "{}",
            refused.stderr
        );
    }
}

/// P144: of which class the failed round was is not lost.
#[test]
fn a_failed_round_has_a_class() {
    for (status, class, attempts) in [
        (429, "provider_rate_limit", "run: failed; retry: failed"),
        (401, "provider_auth_claim", "run: failed"),
    ] {
        let keys = "recovery: {repair: {enabled: false}, retry: {jitter: false, class_attempts: \
                    {provider_rate_limit: 1, provider_auth_claim: 1}}}";
        let packet = program(CHAT, keys);
        let script = format!("rounds:\n  - error: {{status: {status}}}\n");
        packet.write("script.yaml", &script);
        let finished = packet.run(&["run", "--script", "script.yaml"]);
        assert_eq!(finished.status, Some(1), "{}", finished.stderr);
        let (found, message) = failure(&packet);
        assert_eq!(found, class, "{message}");
        assert!(message.starts_with("Completion: "), "{message}");
        assert_eq!(packet.attempts("01"), attempts);
        let code = &packet.prompt("01")["attempts"][0]["failure"]["provider_code"];
        assert_eq!(code, &Value::from(status.to_string()));
    }
}

#[test]
fn a_program_that_goes_on_for_ever_is_cancelled() {
    let keys = "timeout: 300\nrecovery: {retry: {class_attempts: {provider_runtime_claim: 0}}}";
    let packet = lua("store.write('begun', 'x') while true do end", keys);
    let begun = Instant::now();
    assert_eq!(packet.run(&["run"]).status, Some(1));
    let first = packet.prompt("01")["attempts"][0].clone();
    assert_eq!(
        first["failure"]["message"],
        "run deadline of 300 ms exceeded"
    );
    assert!(begun.elapsed() < Duration::from_secs(20));

    let packet = lua("store.write('begun', 'x') while true do end", "");
    let mut command = packet.command(&["run"]);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    await_file(&packet, "app/begun");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(packet.attempts("01"), "run: interrupted");
    // What it had written stays.
    assert_eq!(packet.read("app/begun").as_deref(), Some("x"));
}
