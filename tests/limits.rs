//! The six limits of a run as the command line and a configuration set them (seed 001, spec C2, C9).

#![allow(clippy::unwrap_used)]

mod process;

#[path = "gateway/server.rs"]
#[allow(dead_code, reason = "the client's own tests use the rest")]
mod server;

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use process::{Finished, finish, runvil};
use server::{STREAM, Server, Step, chunk, reply, stream, text};

/// A prompt with a block under the title and a section with another, each of them this one.
fn prompt(block: &str) -> String {
    format!(
        "---\nname: limits\ndescription: d\nrunvil: 0\nmodels: {{m: {{}}}}\n---\n# T\n\n\
         ```lua\nvar.h1 = (function() {block} end)()\n```\n\n## A\n\n\
         ```lua\nreturn var.h1 .. '\\n' .. (function() {block} end)()\n```\n"
    )
}

/// Runs a prompt under a configuration.
fn run(block: &str, configuration: &str, options: &[&str]) -> Finished {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.md"), prompt(block)).unwrap();
    fs::write(folder.path().join("runvil.yaml"), configuration).unwrap();
    let words = ["run", "t.md", "-q"].iter().chain(options);
    let mut command = runvil(folder.path(), words);
    finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()), "")
}

/// That the H1 pass and the section each give this.
#[track_caller]
fn assert_both(finished: &Finished, each: &str) {
    let expected = format!("{each}\n{each}");
    assert_eq!(finished.stdout, expected, "{finished:?}");
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
}

/// What a block gives under no setting, under one of the configuration, under the same with an
/// option that goes before it, and under that option alone.
#[track_caller]
fn assert_set(block: &str, configured: &str, option: &[&str], results: [&str; 3]) {
    let [usual, by_configuration, by_option] = results;
    let configured = format!("limits: {{ {configured} }}\n");
    assert_both(&run(block, "", &[]), usual);
    assert_both(&run(block, &configured, &[]), by_configuration);
    assert_both(&run(block, &configured, option), by_option);
    assert_both(&run(block, "", option), by_option);
}

#[test]
fn concurrency() {
    let block = "return tostring(tasks.concurrency()) .. ' ' .. tasks.concurrency(1000)";
    let option = ["--concurrency", "200"];
    assert_set(block, "concurrency: 3", &option, ["8 8", "3 3", "200 200"]);
}

#[test]
fn memory() {
    // The longest string in megabytes; what is there besides it is less than one.
    let block = "local fits, most = 1, 128 while most - fits > 1 do \
                 local n = (fits + most) // 2 \
                 if pcall(string.rep, 'x', n << 20) then fits = n else most = n end end return fits";
    let option = ["--memory", "16M"];
    assert_set(block, "memory: 8388608", &option, ["63", "7", "15"]);
}

#[test]
fn log_events() {
    let block = "local n = 0 while pcall(log, 'x') do n = n + 1 end \
                 local _, e = pcall(log, 'x') return n .. ' ' .. e.kind .. ' ' .. e.message";
    let result = |n: u32| format!("{n} lua lua log event budget exceeded");
    let results = [result(1024), result(5), result(7)];
    let results = [&*results[0], &*results[1], &*results[2]];
    assert_set(block, "log_events: 5", &["--log-events", "7"], results);
}

#[test]
fn log_bytes() {
    // 256 bytes for each event, whatever they are.
    let block = "local n = 0 while pcall(log, string.rep('é', 256)) do n = n + 1 end \
                 local _, e = pcall(log, string.rep('é', 256)) \
                 return n .. ' ' .. e.kind .. ' ' .. e.message";
    let result = |n: u32| format!("{n} lua lua log cumulative byte budget exceeded");
    let results = [result(512), result(4), result(8)];
    let results = [&*results[0], &*results[1], &*results[2]];
    assert_set(block, "log_events: 8", &["--log-events", "16"], results);
}

#[test]
fn max_rounds() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("s.yaml");
    fs::write(&script, "rounds:\n  - calls: [{ name: count }]\n").unwrap();
    let script = format!("--script={}", script.display());
    let block = "local n = 0 tools.offer_local('count', 'd', {}, function() n = n + 1 return 'x' end) \
                 models.use('m') local _, e = pcall(models.loop, messages.new():user('go')) \
                 return n .. ' ' .. e.kind .. ' ' .. e.message";
    let run = |configuration, options: &[&str]| {
        run(
            block,
            configuration,
            &[&[script.as_str()], options].concat(),
        )
    };
    let result = |n: u32| format!("{n} tool_loop_exhausted tool-call loop did not converge");
    assert_both(&run("", &[]), &result(24));
    let configuration = "limits: { max_rounds: 3 }\n";
    assert_both(&run(configuration, &[]), &result(3));
    assert_both(&run(configuration, &["--max-rounds", "5"]), &result(5));
}

/// Asks a gateway twice, once in the H1 pass, and gives how that failed.
fn asked(server: &Server, limits: &str, options: &[&str]) -> (Finished, Duration) {
    let configuration = format!(
        "gateway: {{ url: '{}' }}\nmodels: [{{ id: m, context: 100000, thinking: never }}]\n\
         limits: {{ {limits} }}\n",
        server.url()
    );
    let block = "models.use('m') local _, e = pcall(models.infer, 'x') \
                 return type(e) == 'string' and #e or e.kind .. ' ' .. e.message";
    let begun = Instant::now();
    (run(block, &configuration, options), begun.elapsed())
}

#[test]
fn response_cap() {
    let body = stream(text(&"x".repeat(3000)));
    let server = Server::new(move |_, _| vec![Step::Send(body.clone())]);
    let told = |cap| {
        format!(
            "internal the model backend sent a reply that could not be understood: \
             response stream exceeds the {cap}-byte limit"
        )
    };
    let ask = |limits, options: &[&str]| asked(&server, limits, options).0;
    assert_both(&ask("response_cap: 2000", &[]), &told(2000));
    let option = ["--response-cap", "1000"];
    assert_both(&ask("response_cap: 2000", &option), &told(1000));
    assert_both(&ask("response_cap: 16777216", &option), &told(1000));

    let refused = reply("500 No", "text/plain", "y".repeat(3000));
    let server = Server::new(move |_, _| vec![Step::Send(refused.clone())]);
    let told = "internal the model backend sent a reply that could not be understood: \
                response body of 3000 bytes exceeds the 1000-byte limit";
    assert_both(&asked(&server, "response_cap: 1000", &[]).0, told);
}

#[test]
fn receive_timeout() {
    let silent = || Server::new(|_, _| vec![Step::Stall]);
    let told = "internal the model backend did not answer in time";
    let (finished, took) = asked(&silent(), "receive_timeout: 1", &[]);
    assert_both(&finished, told);
    assert!(took >= Duration::from_secs(2), "{took:?}");
    let option = ["--receive-timeout", "1"];
    assert_both(&asked(&silent(), "receive_timeout: 100", &option).0, told);
}

#[test]
fn every_chunk_restarts_the_receive_timeout() {
    let server = Server::new(|_, _| {
        let mut steps = vec![Step::Send(STREAM.into())];
        for _ in 0..4 {
            steps.push(Step::Wait(Duration::from_millis(600)));
            steps.push(Step::Send(chunk(text("1234"))));
        }
        steps.push(Step::Stall);
        steps
    });
    // Longer than the limit in all, and then silent.
    let (finished, took) = asked(&server, "receive_timeout: 1", &[]);
    assert_both(
        &finished,
        "internal the model backend did not answer in time",
    );
    assert!(took >= Duration::from_secs(6), "{took:?}");
}

#[test]
fn an_uncaught_reply_past_a_limit_ends_the_run_as_completion() {
    let body = stream(text(&"x".repeat(3000)));
    let server = Server::new(move |_, _| vec![Step::Send(body.clone())]);
    let configuration = format!(
        "gateway: {{ url: '{}' }}\nmodels: [{{ id: m, context: 100000, thinking: never }}]\n",
        server.url()
    );
    let options = ["--json", "--response-cap", "1000"];
    let finished = run(
        "models.use('m') return models.infer('x')",
        &configuration,
        &options,
    );
    assert!(
        finished.stdout.contains("\"kind\":\"Completion\""),
        "{finished:?}"
    );
    assert!(
        finished
            .stdout
            .contains("response stream exceeds the 1000-byte limit")
    );
    assert_eq!(finished.status, Some(1));
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_the_wait_for_the_catalog() {
    // spec C4, C5
    let server = Server::new(|_, _| vec![Step::Stall]);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.md"), prompt("return ''")).unwrap();
    let gateway = format!("gateway: {{ url: '{}' }}\n", server.url());
    fs::write(folder.path().join("runvil.yaml"), gateway).unwrap();
    let said = "cancelled before the run began\n";
    let object = "{\"outcome\":\"cancelled\"}\n";
    for (words, printed, said) in [
        ("run t.md -q --record r", "", said),
        ("run t.md -q --record r --json", object, ""),
        ("models", "", "cancelled\n"),
        ("models --json", object, ""),
    ] {
        let asked = server.requests().len();
        let mut command = runvil(folder.path(), words.split(' '));
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        while server.requests().len() == asked {
            std::thread::sleep(Duration::from_millis(5));
        }
        let started = Instant::now();
        let process = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
        let finished = child.wait_with_output().unwrap();
        assert_eq!(finished.status.code(), Some(130), "{words}");
        assert!(started.elapsed() < Duration::from_secs(5), "{words}");
        assert_eq!(String::from_utf8(finished.stdout).unwrap(), printed);
        assert_eq!(String::from_utf8(finished.stderr).unwrap(), said, "{words}");
        assert!(!folder.path().join("r").exists());
    }
}
