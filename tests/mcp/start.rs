//! Getting ready (spec T161 to T165).

use std::thread;
use std::time::{Duration, Instant};

use runvil::harness::CancelToken;
use runvil::harness::mcp::McpConfig;
use runvil::harness::unit::Unit;

use crate::kiln::Kiln;

/// Why a role does not get ready.
#[track_caller]
fn reason(role: &str, configure: impl FnOnce(&mut McpConfig)) -> String {
    let kiln = Kiln::with(role, configure);
    let reason = kiln.start().expect_err("it is ready");
    kiln.end();
    reason
}

#[test]
fn a_server_gets_ready_and_tells_its_tools() {
    for role in [
        "plain",
        "noisy",
        "split",
        "asks first",
        "version 2024-11-05",
        "version 2025-11-25",
    ] {
        let kiln = Kiln::new(role);
        assert_eq!(kiln.start(), Ok(()), "{role}");
        let tools = kiln.active().tools();
        let echo = tools.iter().find(|tool| &*tool.name == "echo").unwrap();
        assert_eq!(&*echo.description, "Does echo.");
        assert_eq!(echo.parameters.to_json(), r#"{"type":"object"}"#);
        assert!(!echo.trusted && !echo.structured);
        assert_eq!(kiln.call("echo", "hot"), Ok("hot".to_owned()), "{role}");
        kiln.end();
    }
}

#[test]
fn a_server_may_have_no_tools() {
    let kiln = Kiln::ready("toolless");
    assert_eq!(kiln.active().tools(), []);
    kiln.end();
}

#[test]
fn what_keeps_a_server_from_getting_ready_is_named() {
    // spec T163, case C55
    let ended = "the server process ended before it was ready";
    for (role, expected) in [
        ("dies", ended),
        ("dies-listing", ended),
        ("floods", ended),
        ("refuses", "initialize failed: not\\nnow"),
        ("refuses-listing", "tools/list failed: not that"),
        ("circles", "tools/list failed: a cursor came twice"),
        (
            "version 1999-01-01",
            "unsupported MCP protocol version 1999-01-01",
        ),
        ("many 10001", "tools/list failed: more than 10000 tools"),
    ] {
        assert_eq!(reason(role, |_| {}), expected, "{role}");
    }
    for role in ["silent", "endless"] {
        let reason = reason(role, |config| {
            config.ready_timeout = Duration::from_millis(1500)
        });
        assert_eq!(reason, "not ready within 1.5 seconds", "{role}");
    }
    let missing = reason("plain", |config| config.program = "/no/such/kiln".into());
    assert!(missing.starts_with("cannot start kiln-mcp: "), "{missing}");
    let lost = reason("plain", |config| config.cwd = "/no/such/folder".into());
    assert_eq!(
        lost,
        "cannot start kiln-mcp: there is no folder /no/such/folder"
    );
}

#[test]
fn ten_thousand_tools_are_not_too_many() {
    let kiln = Kiln::ready("many 10000");
    let tools = kiln.active().tools();
    assert_eq!(tools.len(), 10_000);
    assert_eq!(&*tools[9_999].name, "t9999");
    kiln.end();
}

#[test]
fn a_cancelled_run_waits_no_longer() {
    // spec T35
    let kiln = Kiln::new("silent");
    let cancel = CancelToken::default();
    let begun = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(50));
            cancel.cancel();
        });
        assert!(kiln.start_until(&cancel).is_err());
    });
    assert!(begun.elapsed() < Duration::from_secs(5));
    kiln.end();
}

#[test]
fn runs_at_once_share_a_process() {
    // spec T161
    let kiln = Kiln::new("plain");
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(kiln.start(), Ok(())));
        }
    });
    assert_eq!(kiln.start(), Ok(()));
    kiln.wait_for_note(&format!("acme/kiln: pid {}", kiln.call("pid", "").unwrap()));
    assert_eq!(kiln.started().len(), 1);
    kiln.end();
}

#[test]
fn a_process_that_ended_is_started_again() {
    // spec T161, T170
    let kiln = Kiln::ready("plain");
    for tool in ["die", "close", "huge", "orphan"] {
        let before = kiln.call("pid", "").unwrap();
        assert!(kiln.call(tool, "").is_err());
        assert!(
            kiln.call("echo", "").is_err(),
            "it was started within a run"
        );
        assert!(!kiln.active().tools().is_empty());
        assert_eq!(kiln.start(), Ok(()), "after {tool}");
        assert_ne!(kiln.call("pid", ""), Ok(before));
        assert_eq!(kiln.call("echo", "again"), Ok("again".to_owned()));
    }
    assert_eq!(kiln.started().len(), 5);
    kiln.end();
}

#[test]
fn a_start_that_failed_is_tried_again() {
    let kiln = Kiln::new("dies");
    assert!(kiln.start().is_err());
    assert!(kiln.start().is_err());
    kiln.unit().close();
    assert_eq!(kiln.started().len(), 2);
    kiln.end();
}

#[test]
fn a_server_has_the_environment_and_the_folder_it_was_given() {
    // spec T157
    let folder = tempfile::tempdir().unwrap();
    let cwd = folder.path().canonicalize().unwrap();
    let kiln = Kiln::with("plain", |config| {
        config.cwd = cwd.clone();
        config.env.retain(|(name, _)| name != "PATH");
        config
            .env
            .extend([("A".into(), "1".into()), ("A".into(), "2".into())]);
    });
    kiln.start().unwrap();
    assert_eq!(kiln.call("env", "").unwrap(), "A=2,RUNVIL_STUB=plain");
    assert_eq!(kiln.call("cwd", "").unwrap(), cwd.to_string_lossy());
    kiln.end();
}

#[test]
fn what_is_no_message_is_logged() {
    // spec T161
    let notes = {
        let kiln = Kiln::ready("noisy");
        kiln.end()
    };
    let strays: Vec<_> = notes
        .iter()
        .filter_map(|note| note.strip_prefix("acme/kiln: not JSON-RPC: "))
        .collect();
    assert_eq!(
        strays,
        [
            "running 1 test",
            "{",
            "\u{fffd}\u{fffd}",
            "{\"id\":0}",
            "{}",
            "  about to say something",
            "  about to say something"
        ]
    );
}

#[test]
fn what_was_begun_is_what_a_run_waits_for() {
    let kiln = Kiln::new("dies");
    kiln.unit().start();
    kiln.unit().start();
    let begun = Instant::now();
    while kiln.started().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(20));
        thread::sleep(Duration::from_millis(2));
    }
    thread::sleep(Duration::from_millis(100));
    let ended = "the server process ended before it was ready";
    assert_eq!(kiln.start(), Err(ended.to_owned()));
    assert_eq!(kiln.started().len(), 1, "it was started again");
    assert_eq!(kiln.start(), Err(ended.to_owned()));
    kiln.unit().close();
    assert_eq!(kiln.started().len(), 2);
    kiln.end();
}
