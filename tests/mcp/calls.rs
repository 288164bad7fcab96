//! Calls and what they come to (spec T164, T166 to T171).

use std::thread;
use std::time::{Duration, Instant};

use runvil::engine::tool::ToolClass;
use runvil::harness::model::Abort;

use crate::kiln::{Kiln, transport};

fn said(text: &str) -> Result<String, crate::kiln::Failed> {
    Ok(text.to_owned())
}

#[test]
fn calls_at_once_get_their_own_replies() {
    // spec T166
    for role in ["plain", "split"] {
        let kiln = Kiln::ready(role);
        thread::scope(|scope| {
            for chain in 0..8 {
                let kiln = &kiln;
                scope.spawn(move || {
                    for call in 0..25 {
                        let text = format!("{chain}.{call} \u{1F525}\n\"\\");
                        assert_eq!(kiln.call("echo", &text), Ok(text));
                    }
                });
            }
        });
        kiln.end();
    }
}

#[test]
fn replies_may_come_in_any_order() {
    // spec T166
    let kiln = Kiln::ready("plain");
    thread::scope(|scope| {
        let held: Vec<_> = (0..5)
            .map(|call| {
                let kiln = &kiln;
                let text = format!("held {call}");
                scope.spawn(move || assert_eq!(kiln.call("later", &text), Ok(text)))
            })
            .collect();
        while kiln.call("held", "") != said("5") {
            thread::sleep(Duration::from_millis(5));
        }
        assert!(held.iter().all(|call| !call.is_finished()));
        assert_eq!(kiln.call("now", ""), said("now"));
    });
    kiln.end();
}

#[test]
fn a_server_may_babble() {
    // spec T161, T164, T166
    let kiln = Kiln::ready("plain");
    assert_eq!(kiln.call("twice", ""), said("once"));
    assert_eq!(kiln.call("garbage", ""), said("after garbage"));
    assert_eq!(kiln.call("notify", ""), said("told"));
    let answers = kiln.call("asks", "").unwrap();
    let refused = |id: &str| {
        format!(
            r#"{{"error":{{"code":-32601,"message":"Method not found"}},"id":{id},"jsonrpc":"2.0"}}"#
        )
    };
    let expected = [
        r#"{"id":"a\n","jsonrpc":"2.0","result":{}}"#.to_owned(),
        refused("7"),
        refused("\"r\""),
    ];
    assert_eq!(answers, format!("[{}]", expected.join(",")));
    let notes = kiln.end();
    for line in [
        "not JSON-RPC: starting",
        "not JSON-RPC: \u{fffd}\u{fffd}",
        "not JSON-RPC: {\"half\":",
        "not JSON-RPC: more\\u{001b}[0m",
        "warning: hot\\nkiln",
        "info: {\"n\":1}",
        "bye",
    ] {
        assert!(
            notes.contains(&format!("acme/kiln: {line}")),
            "{line} in {notes:#?}"
        );
    }
}

#[test]
fn failures_have_their_class_and_text() {
    // spec T170, T171, case C52
    let kiln = Kiln::ready("plain");
    let backend = |text: &str| Err((ToolClass::Backend, text.to_owned()));
    let refused = (
        ToolClass::InvalidArguments,
        "kiln/refuse: no\\tsuch".to_owned(),
    );
    assert_eq!(kiln.call("refuse", ""), Err(refused));
    assert_eq!(
        kiln.call("error", ""),
        backend("kiln/error: down (code -32000)")
    );
    assert_eq!(kiln.call("fails", ""), backend("kiln/fails: bad\\nglaze"));
    assert_eq!(
        kiln.call("malformed", ""),
        backend("kiln/malformed: malformed result")
    );
    assert_eq!(
        kiln.call("deep", ""),
        backend("kiln/deep: malformed result")
    );
    assert_eq!(
        kiln.call("gone", ""),
        backend("kiln/gone: the server has no such tool")
    );
    assert_eq!(kiln.call("echo", "still"), said("still"));
    kiln.end();
}

#[test]
fn a_trusted_tool_gives_a_value() {
    // spec T165, T169, case C53
    let kiln = Kiln::with("plain", |config| config.trusted = true);
    kiln.start().unwrap();
    assert_eq!(kiln.call("shaped", ""), said("{\"n\":2}"));
    kiln.end();
}

#[test]
fn a_call_has_its_time() {
    // spec T170
    let kiln = Kiln::with("plain", |config| {
        config.call_timeout = Duration::from_millis(1500)
    });
    kiln.start().unwrap();
    assert_eq!(
        kiln.call("never", ""),
        transport("kiln/never: no reply within 1.5 seconds")
    );
    assert_eq!(
        kiln.call("later", "late"),
        transport("kiln/later: no reply within 1.5 seconds")
    );
    let cancelled = kiln.call("cancelled", "").unwrap();
    assert_eq!(cancelled, "[2,3]");
    // The reply that comes now is nobody's.
    assert_eq!(kiln.call("now", ""), said("now"));
    assert_eq!(kiln.call("echo", "on"), said("on"));
    kiln.end();
}

#[test]
fn a_call_that_is_not_wanted_any_more_ends() {
    // spec T166
    let kiln = Kiln::ready("plain");
    let abort = Abort::default();
    let begun = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(50));
            abort.abort();
        });
        assert!(kiln.call_until(&abort, "never", "").is_err());
    });
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(kiln.call("cancelled", ""), said("[2]"));
    // A call that was never wanted is not made.
    assert!(kiln.call_until(&abort, "die", "").is_err());
    assert_eq!(kiln.call("cancelled", ""), said("[2]"));
    kiln.end();
}

#[test]
fn when_the_process_ends_every_call_fails() {
    // spec T170, case C56
    for end in ["die", "close", "huge", "orphan"] {
        let kiln = Kiln::ready("plain");
        let begun = Instant::now();
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let failed = transport("kiln/later: the server process ended");
                    assert_eq!(kiln.call("later", "x"), failed);
                });
            }
            while kiln.call("held", "") != said("3") {
                thread::sleep(Duration::from_millis(5));
            }
            assert_eq!(
                kiln.call(end, ""),
                transport(&format!("kiln/{end}: the server process ended"))
            );
        });
        assert_eq!(
            kiln.call("echo", ""),
            transport("kiln/echo: the server process ended"),
            "{end}"
        );
        assert!(begun.elapsed() < Duration::from_secs(20), "{end}");
        kiln.end();
    }
}

#[test]
fn a_large_reply_is_read() {
    // spec T161
    let kiln = Kiln::ready("plain");
    assert_eq!(kiln.call("big", "").unwrap().len(), 15 << 20);
    kiln.end();
}

#[test]
fn a_server_that_does_not_read_keeps_nobody_waiting() {
    // spec T170
    let kiln = Kiln::with("plain", |config| {
        config.call_timeout = Duration::from_millis(1500)
    });
    kiln.start().unwrap();
    kiln.call("deaf", "").unwrap();
    let text = "x".repeat(1 << 20);
    let begun = Instant::now();
    for _ in 0..3 {
        assert_eq!(
            kiln.call("echo", &text),
            transport("kiln/echo: no reply within 1.5 seconds")
        );
    }
    assert!(begun.elapsed() < Duration::from_secs(15));
    kiln.end();
}

#[test]
fn large_arguments_arrive() {
    let kiln = Kiln::ready("plain");
    let text = "\u{e9}".repeat(1 << 20);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert!(kiln.call("echo", &text).unwrap() == text));
        }
    });
    kiln.end();
}
