//! What a reply may take in memory: a few times its own bytes, whatever they say (spec M71).

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "gateway/ask.rs"]
#[allow(dead_code, reason = "the client's other tests use the rest")]
mod ask;
#[path = "gateway/server.rs"]
#[allow(dead_code, reason = "the client's other tests use the rest")]
mod server;

use peak_alloc::PeakAlloc;
use runvil::harness::gateway::{CatalogError, Completion, Form};

use ask::{LONG, gateway, terms};
use server::{DONE, Server, reply};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// A sixteenth of the default cap, which would take too long without optimization.
const SIZE: usize = 1 << 20;
/// Less than 150 MiB for a reply that fills the cap.
const MOST: usize = 9 * SIZE;

/// Text of that length, filled up with repetitions between its ends.
fn filled(begin: &str, repeat: &str, end: &str) -> String {
    numbered(begin, |_| repeat.to_owned(), end)
}

/// As [`filled`], each repetition another.
fn numbered(begin: &str, repeat: impl Fn(usize) -> String, end: &str) -> String {
    let mut text = String::with_capacity(SIZE);
    text.push_str(begin);
    for number in 0.. {
        let more = repeat(number);
        if text.len() + more.len() + end.len() > SIZE {
            break;
        }
        text.push_str(&more);
    }
    text + end
}

/// The peak of what an act allocates.
fn peak(act: impl FnOnce()) -> usize {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    act();
    MEMORY.peak_usage() - before
}

#[track_caller]
fn assert_modest(name: &str, most: usize, peak: usize) {
    println!("{name}: {} KiB", peak >> 10);
    assert!(peak < most, "{name}: {} KiB", peak >> 10);
}

/// What decoding such a body comes to.
fn decode(form: Form, body: &str) -> String {
    let mut completion = Completion::new(form);
    for piece in body.as_bytes().chunks(64 << 10) {
        if let Err(failure) = completion.feed(piece, &mut |_| {}) {
            return failure.message;
        }
    }
    match completion.finish(&mut |_| {}) {
        Ok(reply) => reply.degraded.join("; "),
        Err(failure) => failure.message,
    }
}

// One test, since all share what is counted.
#[test]
fn no_reply_takes_many_times_its_bytes() {
    let choice = r#"data: {"model":"m","choices":[{"index":0,"delta":{"#;
    let call = r#""tool_calls":[{"index":0,"id":"a","function":{"name":"t","arguments":""#;
    let end = format!("\"}}}}]}}}}]}}\n\n{DONE}");
    let calls = |inner: &str| format!("{choice}{call}{inner}");
    let arguments =
        |item: &str, last: &str| filled(&calls(r#"{\"a\":["#), item, &format!("{last}]}}{end}"));
    let nested = format!("{}0{},", r#"{\"\":"#.repeat(100), "}".repeat(100));
    let end_of_list = format!("]}}}}]}}\n\n{DONE}");
    let stream = [
        (
            "choices",
            filled("data: {\"choices\":[", "{},", &format!("{{}}]}}\n\n{DONE}")),
        ),
        (
            "choices of another index",
            filled(
                "data: {\"model\":\"m\",\"choices\":[",
                "{\"index\":1},",
                &format!("{{\"index\":1}}]}}\n\n{DONE}"),
            ),
        ),
        (
            "choices of index 0",
            filled(
                "data: {\"model\":\"m\",\"choices\":[",
                "{\"index\":0},",
                &format!("{{\"index\":0}}]}}\n\n{DONE}"),
            ),
        ),
        (
            "fragments",
            filled(
                &format!("{choice}\"tool_calls\":["),
                "{},",
                &format!("{{}}{end_of_list}"),
            ),
        ),
        (
            "fragments of a call",
            filled(
                &format!("{choice}\"tool_calls\":["),
                "{\"index\":0},",
                &format!("{{\"index\":0}}{end_of_list}"),
            ),
        ),
        (
            "calls without names",
            numbered(
                &format!("{choice}\"tool_calls\":["),
                |number| format!("{{\"index\":{number}}},"),
                &format!("{{\"index\":-1}}{end_of_list}"),
            ),
        ),
        (
            "calls",
            numbered(
                &format!("{choice}\"tool_calls\":["),
                |number| {
                    format!(
                        r#"{{"index":{number},"id":"{number}","function":{{"name":"t","arguments":"{{}}"}}}},"#
                    )
                },
                &format!("{{\"index\":0}}{end_of_list}"),
            ),
        ),
        (
            "usage",
            filled(
                "data: {\"model\":\"m\",\"usage\":[",
                "{},",
                &format!("0]}}\n\n{DONE}"),
            ),
        ),
        (
            "an error",
            filled("data: {\"error\":[", "{},", &format!("0]}}\n\n{DONE}")),
        ),
        (
            "something else",
            filled(
                "data: {\"model\":\"m\",\"x\":[",
                "[],",
                &format!("0]}}\n\n{DONE}"),
            ),
        ),
        ("arguments of objects", arguments("{},", "0")),
        ("arguments of lists", arguments("[],", "0")),
        ("arguments of numbers", arguments("0,", "0")),
        ("arguments of depth", arguments(&nested, "0")),
        (
            "one long argument",
            filled(&calls(r#"{\"a\":\""#), "x", &format!(r#"\"}}{end}"#)),
        ),
        (
            "one long argument of escapes",
            filled(&calls(r#"{\"a\":\""#), r#"\\n"#, &format!(r#"\"}}{end}"#)),
        ),
        (
            "text of escapes",
            filled(
                &format!("{choice}\"content\":\""),
                r#"\n"#,
                &format!("\"}}}}]}}\n\n{DONE}"),
            ),
        ),
        (
            "lines of one event",
            filled("data: [\n", "data: 0,\n", &format!("data: 0]\n\n{DONE}")),
        ),
    ];
    for (name, body) in stream {
        let mut told = String::new();
        let peak = peak(|| told = decode(Form::Stream, &body));
        assert_modest(&format!("{name} ({told})"), MOST, peak);
    }
    // As many values as are taken, in the costliest form.
    let deep = format!("{}0{},", r#"{\"\":"#.repeat(100), "}".repeat(100)).repeat(1290);
    let body = format!("{}{deep}0]}}{end}", calls(r#"{\"a\":["#));
    let mut told = String::new();
    let taken = peak(|| told = decode(Form::Stream, &body));
    assert_eq!(told, "");
    assert_modest("as many values as are taken", 100 << 20, taken);

    let plain = filled("{\"choices\":[", "{},", "{}]}");
    assert_modest(
        "plain choices",
        MOST,
        peak(|| drop(decode(Form::Plain, &plain))),
    );

    let lists = [
        ("a list of models", filled("{\"data\":[", "{},", "{}]}")),
        ("an object for a list", filled("{\"x\":[", "{},", "{}]}")),
    ];
    for (name, body) in lists {
        let server = Server::always(reply("200 OK", "application/json", body));
        let gateway = gateway(&server.url());
        let peak = peak(|| match gateway.catalog(&terms(LONG)) {
            Ok(fetched) => assert!(fetched.without_context > 300_000),
            Err(error) => assert_eq!(error, CatalogError::NoData),
        });
        // The server holds the reply in this process too.
        assert_modest(name, MOST + SIZE, peak);
    }
}
