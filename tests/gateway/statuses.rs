//! What a failed reply's status says, and that nothing else of it is told (spec M68, M69, M73).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use runvil::engine::model::{FailureClass, ModelFailure};
use runvil::harness::gateway::{Connection, Gateway};

use crate::ask::{LONG, ask, failure, goes_on, terms};
use crate::server::{Server, Step, chunk, event, reply, stream, text, well};

/// Text of a body that nobody but the Host's log may see.
const PRIVATE: &str = "PRIVATE-4711";

#[track_caller]
fn tells_nothing(failure: &ModelFailure) {
    let told = format!("{failure} {failure:?} {:?}", failure.cause);
    assert!(!told.contains(PRIVATE), "{told}");
}

#[test]
fn every_row_has_its_class_and_its_phrase() {
    use FailureClass::*;
    let cases = [
        (
            400,
            "context window",
            Overflow,
            "the request is larger than the model's context window",
        ),
        (
            413,
            "Prompt is too LONG",
            Overflow,
            "the request is larger than the model's context window",
        ),
        (
            429,
            "You have run out of credits",
            Quota,
            "the model backend says the usage quota is spent",
        ),
        (
            429,
            "slow down",
            RateLimit,
            "the model backend is limiting the request rate",
        ),
        (503, "", Overloaded, "the model backend is overloaded"),
        (529, "", Overloaded, "the model backend is overloaded"),
        (
            500,
            "Overloaded",
            Overloaded,
            "the model backend is overloaded",
        ),
        (
            500,
            "",
            Server,
            "the model backend reported a fault of its own",
        ),
        (
            504,
            "",
            Server,
            "the model backend reported a fault of its own",
        ),
        (
            599,
            "",
            Server,
            "the model backend reported a fault of its own",
        ),
        (
            401,
            "",
            Credentials,
            "the model backend did not accept the credentials",
        ),
        (
            403,
            "",
            Credentials,
            "the model backend did not accept the credentials",
        ),
        (
            400,
            "content_filter",
            ContentPolicy,
            "the model backend refused the request on content policy grounds",
        ),
        (400, "", Rejected, "the model backend rejected the request"),
        (404, "", Rejected, "the model backend rejected the request"),
        (
            418,
            "context length",
            Rejected,
            "the model backend rejected the request",
        ),
        (304, "", Rejected, "the model backend rejected the request"),
    ];
    for (status, words, class, phrase) in cases {
        let body = format!("{PRIVATE} {words} {PRIVATE}");
        let sent = match status {
            304 => format!("HTTP/1.1 304 {PRIVATE}\r\nX: {PRIVATE}\r\n\r\n").into(),
            _ => reply(&format!("{status} {PRIVATE}"), PRIVATE, body),
        };
        let failure = failure(vec![Step::Send(sent)], terms(LONG));
        let message = format!("{phrase} (status {status})");
        assert_eq!((failure.class, failure.status), (class, Some(status)));
        assert_eq!((&failure.message, &failure.cause), (&message, &None));
        tells_nothing(&failure);
    }
}

#[test]
fn redirects_are_rejected_and_not_followed() {
    for status in [300, 301, 302, 303, 307, 308] {
        for body in ["", PRIVATE] {
            let server = Server::new(move |nth, _| {
                let head = format!(
                    "HTTP/1.1 {status} Go\r\nLocation: /v1/elsewhere\r\nContent-Length: {}\r\n\r\n",
                    body.len()
                );
                vec![Step::Send(match nth {
                    0 => (head + body).into(),
                    _ => well(),
                })]
            });
            let gateway = crate::ask::gateway(&server.url());
            let failure = ask(&gateway).expect_err("rejected");
            assert_eq!(
                (failure.class, failure.status),
                (FailureClass::Rejected, Some(status))
            );
            assert!(!failure.class.is_transient());
            tells_nothing(&failure);
            goes_on(&gateway);
            let lines: Vec<_> = server.requests().into_iter().map(|r| r.line).collect();
            assert_eq!(lines, ["POST /v1/chat/completions HTTP/1.1"; 2]);
        }
    }
}

#[test]
fn errors_inside_a_stream_are_classified_by_their_message() {
    use FailureClass::*;
    let cases = [
        ("exceeds the available context size", Overflow),
        ("insufficient_quota", Quota),
        ("Overloaded", Overloaded),
        ("content policy", ContentPolicy),
        ("", Connection),
    ];
    for (words, class) in cases {
        for error in [
            format!(r#"{{"error":{{"message":"{PRIVATE} {words}","code":413}}}}"#),
            format!(r#"{{"error":"{PRIVATE} {words}"}}"#),
            format!(r#"{{"choices":5,"error":{{"message":"{PRIVATE} {words}"}}}}"#),
        ] {
            let sent = stream(text("begun") + &event(&error));
            let failure = failure(vec![Step::Send(sent)], terms(LONG));
            assert_eq!(failure, ModelFailure::new(class, None), "{error}");
            tells_nothing(&failure);
        }
    }
    for error in [r#"{"message":5}"#, "false", "[]", "7"] {
        let sent = stream(event(&format!(r#"{{"error":{error}}}"#)));
        let failure = failure(vec![Step::Send(sent)], terms(LONG));
        assert_eq!(failure, ModelFailure::new(Connection, None), "{error}");
    }
}

#[test]
fn the_detail_goes_to_the_hosts_log_alone() {
    let long = format!("{PRIVATE}\n\u{1b}[31m{}", "x".repeat(5000));
    let bodies = Mutex::new(vec![String::new(), long.clone()]);
    let server = Server::new(move |_, _| {
        let body = bodies.lock().unwrap().pop().unwrap();
        let head = "HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n";
        let mut sent = head.as_bytes().to_vec();
        if !body.is_empty() {
            sent.extend(chunk(body));
        }
        sent.extend(chunk(""));
        vec![Step::Send(sent)]
    });
    let seen = Arc::<Mutex<Vec<(u64, String)>>>::default();
    let log = seen.clone();
    let connection = Connection::new(&server.url(), None).unwrap();
    let gateway = Gateway::new(connection, BTreeMap::new())
        .unwrap()
        .with_detail(Arc::new(move |round, text: &str| {
            log.lock().unwrap().push((round, text.to_owned()))
        }));
    tells_nothing(&ask(&gateway).expect_err("fails"));
    ask(&gateway).expect_err("fails");
    let beginning: String = long.chars().take(2000).collect();
    let escaped = beginning.replace('\n', "\\n").replace('\u{1b}', "\\u{1b}");
    let expected = [(7, escaped), (7, "(empty body)".to_owned())];
    assert_eq!(*seen.lock().unwrap(), expected);
}
