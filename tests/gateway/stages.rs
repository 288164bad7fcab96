//! A server that falls silent, or hangs up, at each stage (spec M68, M71).

use std::net::TcpListener;
use std::time::{Duration, Instant};

use runvil::engine::model::{FailureClass, ModelFailure};

use crate::ask::{LONG, SHORT, ask, failure, gateway, perform, round, said, terms};
use crate::server::{DONE, STREAM, Server, Step, chunk, text};

/// How much longer than it should a wait may take on a busy machine.
const SLACK: Duration = Duration::from_secs(4);

/// The stages that a reply may stop at, each with what was sent before.
fn stages() -> [(&'static str, Vec<u8>); 6] {
    let error = "HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\npart";
    let body = [STREAM.as_bytes(), &chunk(text("part"))].concat();
    [
        ("before the headers", Vec::new()),
        (
            "inside the headers",
            b"HTTP/1.1 200 OK\r\nContent-Ty".to_vec(),
        ),
        ("after the headers", STREAM.into()),
        ("inside a chunk's size", [STREAM.as_bytes(), b"1"].concat()),
        ("inside the body", body),
        ("inside an error's body", error.into()),
    ]
}

#[test]
fn silence_is_a_timeout_at_every_stage() {
    for (stage, sent) in stages() {
        let began = Instant::now();
        let failure = failure(vec![Step::Send(sent), Step::Stall], terms(SHORT));
        let took = began.elapsed();
        assert_eq!(failure.class, FailureClass::Timeout, "{stage}");
        assert_eq!(failure.message, "the model backend did not answer in time");
        assert_eq!((failure.status, failure.cause), (None, None));
        assert!(took >= SHORT && took < SHORT + SLACK, "{stage}: {took:?}");
    }
}

#[test]
fn hanging_up_is_a_failed_connection_at_every_stage() {
    for (stage, sent) in stages() {
        let failure = failure(vec![Step::Send(sent), Step::Close], terms(LONG));
        assert_eq!(failure.class, FailureClass::Connection, "{stage}");
        assert_eq!(
            failure.message,
            "the connection to the model backend failed"
        );
        assert_eq!(failure.status, None);
    }
}

#[test]
fn the_headers_together_have_one_time_limit() {
    // Each line comes within the limit, all of them do not.
    let mut steps = Vec::new();
    for line in [
        "HTTP/1.1 200 OK\r\n",
        "A: b\r\n",
        "C: d\r\n",
        "E: f\r\n",
        "G: h\r\n",
        "\r\n",
    ] {
        steps.push(Step::Send(line.into()));
        steps.push(Step::Wait(SHORT / 3));
    }
    let began = Instant::now();
    let failure = failure(steps, terms(SHORT));
    assert_eq!(failure.class, FailureClass::Timeout);
    assert!(began.elapsed() >= SHORT);
}

#[test]
fn every_piece_of_a_body_restarts_the_time_limit() {
    let mut steps = vec![Step::Send(STREAM.into())];
    for _ in 0..5 {
        steps.push(Step::Wait(SHORT / 3));
        steps.push(Step::Send(chunk(text("a"))));
    }
    steps.push(Step::Send([chunk(DONE), chunk("")].concat()));
    let server = Server::first(steps);
    let began = Instant::now();
    let reply = perform(&gateway(&server.url()), round(), terms(SHORT)).expect("answers");
    assert_eq!(said(&reply), "aaaaa");
    assert!(began.elapsed() > SHORT, "longer than the limit in all");
}

#[test]
fn a_refused_connection_says_why() {
    let address = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let gateway = gateway(&format!("http://{address}"));
    let failure = ask(&gateway).expect_err("nobody listens");
    assert_eq!(failure.class, FailureClass::Connection);
    assert_eq!(
        failure.message,
        "the connection to the model backend failed"
    );
    let cause = failure.cause.expect("the system says why");
    let system = std::net::TcpStream::connect(address).expect_err("refused");
    assert_eq!(cause, system.to_string());
}

#[test]
fn a_host_that_does_not_exist_is_a_failed_connection() {
    let failure = perform(&gateway("http://nowhere.invalid"), round(), terms(LONG));
    let failure = failure.expect_err("no such host");
    // Without a network the look-up itself may not be answered.
    assert!(matches!(
        failure.class,
        FailureClass::Connection | FailureClass::Timeout
    ));
    assert!(failure.class == FailureClass::Timeout || failure.cause.is_some());
}

#[test]
fn what_is_no_http_is_a_failed_connection_without_a_cause() {
    let replies = [
        "SECRET\r\n\r\n",
        "HTTP/1.1 SECRET\r\n\r\n",
        "HTTP/1.1 200 OK\r\nSECRET\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: SECRET\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nSECRET\r\n",
        "HTTP/9.9 200 SECRET\r\n\r\n",
    ];
    for reply in replies {
        let steps = vec![Step::Send(reply.into()), Step::Close];
        let failed = failure(steps, terms(LONG));
        let expected = ModelFailure::new(FailureClass::Connection, None);
        assert_eq!(failed, expected, "{reply}");
    }
}

#[test]
fn endless_headers_are_a_failed_connection() {
    let header = format!("A: {}\r\n", "b".repeat(1000));
    let headers = format!("HTTP/1.1 200 OK\r\n{}", header.repeat(300));
    let failed = failure(vec![Step::Send(headers.into()), Step::Stall], terms(LONG));
    assert_eq!(failed.class, FailureClass::Connection);
}
