//! The command line with packs that are MCP servers (spec C9, C12, T155 to T172). The server is a
//! shell script, which says what it is told to.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod process;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use process::{Finished, finish, runvil};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// A server with two tools, which leaves its process id in `pid` and says `lit` on the side.
const SERVER: &str = r#"
echo $$ >> pid
echo lit >&2
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
  *'"initialize"'*)
    [ "$1" = silent ] ||
      printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"k","version":"1"}}}\n' "$id"
    ;;
  *'"tools/list"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"fire","description":"Fires.","inputSchema":{"type":"object"}},{"name":"setGlaze","inputSchema":{"type":"object"}}]}}\n' "$id"
    ;;
  *'"setGlaze"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":{"heat":"%s","token":"%s","word":"%s"}}}\n' "$id" "$HEAT" "$ACME_TOKEN" "$1"
    ;;
  *'"tools/call"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"hot"}]}}\n' "$id"
    ;;
  esac
done
"#;

const CONFIG: &str = r#"
services:
  acme/api-token: { env: ACME_TOKEN }
packs:
  acme/kiln:
    command: sh
    args: [kiln.sh, "a ${WORD}"]
    env: { HEAT: "${WORD} $$1" }
    needs: [acme/api-token]
    prelude: kiln.lua
    tools:
      fire: { trust: trusted }
      glaze: { from: setGlaze, trust: trusted, structured: true, description: Glazes. }
"#;

const PRELUDE: &str = "kiln = { fire = function() return tools.call(KILN) end }\n";

/// A folder with the server, a configuration beside it and a prompt, whose Lua this is.
fn folder(config: &str, dialect: &str, frontmatter: &str, lua: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let host = folder.path().join("host");
    fs::create_dir(&host).unwrap();
    let tool = match dialect {
        "runvil" => "'kiln/fire'",
        _ => "'acme/kiln/fire'",
    };
    fs::write(host.join("kiln.sh"), SERVER).unwrap();
    fs::write(host.join("kiln.lua"), PRELUDE.replace("KILN", tool)).unwrap();
    fs::write(host.join("config.yaml"), config).unwrap();
    let prompt = format!(
        "---\nname: p\ndescription: d\n{dialect}: 0\n{frontmatter}\n---\n# P\n\n## Main\n\n```lua\n{lua}\n```\n"
    );
    fs::write(folder.path().join("p.md"), prompt).unwrap();
    folder
}

fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = runvil(folder, words);
    command
        .args(["--config", "host/config.yaml"])
        .env("WORD", "red")
        .env("ACME_TOKEN", "s3cret")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(folder: &Path, words: &[&str]) -> Finished {
    finish(&mut command(folder, words), "")
}

/// The processes that were started as servers. None may be left.
#[track_caller]
fn assert_started(folder: &Path, count: usize) {
    let pids = fs::read_to_string(folder.join("host/pid")).unwrap_or_default();
    assert_eq!(pids.lines().count(), count);
    for pid in pids.lines() {
        let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
        assert!(test_kill_process(pid).is_err(), "{pid:?} is left");
    }
}

#[test]
fn a_prompt_calls_the_tools_of_a_server() {
    let lua = "local g = tools.call('kiln/glaze') \
               return kiln.fire() .. '|' .. g.heat .. '|' .. g.token .. '|' .. g.word";
    let folder = folder(CONFIG, "runvil", "uses: [acme/kiln]", lua);
    let finished = run(folder.path(), &["run", "p.md"]);
    assert_eq!(finished.stdout, "hot|red $1|s3cret|a red", "{finished:?}");
    assert_eq!(finished.stderr, "acme/kiln: lit\n");
    assert_eq!(finished.status, Some(0));
    assert_started(folder.path(), 1);
}

#[test]
fn a_promptforge_prompt_calls_them_by_its_slots() {
    let lua = "return kiln.fire() .. '|' .. tools.call('g').heat";
    let frontmatter = "plugins: [acme/kiln]\ntools: {g: acme/kiln/glaze}";
    let folder = folder(CONFIG, "promptforge", frontmatter, lua);
    let finished = run(folder.path(), &["run", "p.md", "-q"]);
    assert_eq!(finished.stdout, "hot|red $1", "{finished:?}");
    assert_started(folder.path(), 1);
}

#[test]
fn a_server_that_the_run_has_no_use_for_is_not_started() {
    // spec T33, T161, case C51
    let folder = folder(CONFIG, "runvil", "", "return 'done'");
    let finished = run(folder.path(), &["run", "p.md"]);
    assert_eq!((&*finished.stdout, &*finished.stderr), ("done", ""));
    assert_started(folder.path(), 0);
    let declared = self::folder(CONFIG, "runvil", "uses: [acme/kiln]", "return 'done'");
    let mut command = command(declared.path(), &["run", "p.md"]);
    let finished = finish(command.env_remove("ACME_TOKEN"), "");
    assert_eq!(
        finished.stderr,
        "error[RequirementsUnmet]: the environment cannot satisfy this prompt:\n\
         - kiln needs acme/api-token, and the environment provides none\n"
    );
    assert_started(declared.path(), 0);
}

#[test]
fn packs_lists_the_tools_of_a_server() {
    // spec C12
    let folder = folder(CONFIG, "runvil", "", "");
    let finished = run(folder.path(), &["packs"]);
    let lines: Vec<_> = finished.stdout.lines().collect();
    assert_eq!(
        lines[..2],
        [
            "PACK               TOOLS",
            "acme/kiln          kiln/fire, kiln/glaze"
        ]
    );
    assert_eq!(finished.status, Some(0));
    let finished = run(folder.path(), &["packs", "--json"]);
    let listing: serde_json::Value = serde_json::from_str(&finished.stdout).unwrap();
    let kiln = serde_json::json!({ "id": "acme/kiln", "tools": [
        { "id": "kiln/fire", "description": "Fires.", "trusted": true, "structured": false },
        { "id": "kiln/glaze", "description": "Glazes.", "trusted": true, "structured": true },
    ] });
    assert_eq!(listing["packs"][0], kiln);
    assert_started(folder.path(), 2);
}

#[test]
fn a_server_that_does_not_get_ready_is_unavailable() {
    let config = "packs:\n  acme/kiln: { command: sh, args: [kiln.sh, silent], ready_timeout: 0.3 }\n\
                  \x20 acme/gone: { command: \"false\" }\n";
    let folder = folder(
        config,
        "runvil",
        "uses: [acme/kiln, acme/gone]",
        "return 'done'",
    );
    let finished = run(folder.path(), &["run", "p.md"]);
    let notice = "error[RequirementsUnmet]: the environment cannot satisfy this prompt:\n\
                  - kiln is unavailable: not ready within 0.3 seconds\n\
                  - gone is unavailable: the server process ended before it was ready\n";
    assert!(finished.stderr.ends_with(notice), "{finished:?}");
    let logged = "warning: Pack will not be ready; this run treats it as unavailable: acme/kiln: \
                  not ready within 0.3 seconds\n";
    assert!(finished.stderr.contains(logged), "{finished:?}");
    assert_started(folder.path(), 1);
}

#[test]
fn ctrl_c_ends_the_wait_for_a_server() {
    // spec T35
    let config = "packs:\n  acme/kiln: { command: sh, args: [kiln.sh, silent] }\n";
    let folder = folder(config, "runvil", "uses: [acme/kiln, gone]", "return 'done'");
    for words in [&["run", "p.md"][..], &["packs"]] {
        fs::remove_file(folder.path().join("host/pid")).ok();
        let child = command(folder.path(), words).spawn().unwrap();
        let begun = Instant::now();
        while fs::read_to_string(folder.path().join("host/pid")).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(5));
        }
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(
            stderr.contains("cancelled\n") && !stderr.contains("unavailable"),
            "{stderr}"
        );
        assert_started(folder.path(), 1);
    }
}
