//! What frames a body is bounded, in time and in bytes, and so is what follows a reply's end (spec
//! M71).

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use runvil::engine::model::{FailureClass, ModelFailure};
use runvil::harness::model::{Answered, Terms};

use crate::ask::{LONG, SHORT, gateway, goes_on, perform, round, said, terms};
use crate::server::{DONE, STREAM, Server, Step, chunk, text};

/// As much as one write sends of a flood.
const WRITE: usize = 1 << 20;

fn flood(piece: &str) -> Step {
    Step::Flood(piece.repeat(WRITE / piece.len()).into())
}

/// A stream's headers, and these bytes after them.
fn begun(body: &[u8]) -> Step {
    Step::Send([STREAM.as_bytes(), body].concat())
}

/// What the first round comes to, which must be over in time; the next one goes well.
#[track_caller]
fn within(limit: Duration, steps: Vec<Step>, terms: Terms) -> Answered {
    let server = Server::first(steps);
    let gateway = gateway(&server.url());
    let (tell, told) = mpsc::channel();
    let asked = gateway.clone();
    thread::spawn(move || tell.send(perform(&asked, round(), terms)));
    let answered = told.recv_timeout(limit).expect("the round ends");
    goes_on(&gateway);
    assert!(server.hung_up(1), "the connection is closed");
    answered
}

/// How long a round may take that a flood ends.
const SOON: Duration = Duration::from_secs(8);

#[test]
fn endless_framing_is_a_failed_connection() {
    let well = chunk(text("well"));
    let floods = [
        ("an extension", begun(b"5;"), flood("a")),
        ("zeros of a size", begun(b""), flood("0")),
        ("trailers", begun(b"0\r\n"), flood("A: b\r\n")),
        (
            "trailers after a piece",
            begun(&[&well, &b"0\r\n"[..]].concat()),
            flood("A: b\r\n"),
        ),
        (
            "interim replies",
            Step::Send(Vec::new()),
            flood("HTTP/1.1 100 Continue\r\n\r\n"),
        ),
    ];
    for (name, first, flood) in floods {
        let failure = within(SOON, vec![first, flood], terms(LONG)).expect_err(name);
        let expected = ModelFailure::new(FailureClass::Connection, None);
        assert_eq!(failure, expected, "{name}");
    }
}

#[test]
fn framing_that_dribbles_does_not_restart_the_time_limit() {
    for (name, first) in [
        ("an extension", begun(b"5;")),
        ("a size", begun(b"")),
        ("trailers", begun(b"0\r\nA: ")),
        (
            "after a piece",
            begun(&[&chunk("data: "), &b"5;"[..]].concat()),
        ),
    ] {
        let mut steps = vec![first];
        for _ in 0..100 {
            steps.extend([Step::Wait(SHORT / 6), Step::Send(b"0".to_vec())]);
        }
        steps.push(Step::Stall);
        let began = Instant::now();
        let server = Server::first(steps);
        let gateway = gateway(&server.url());
        let failure = perform(&gateway, round(), terms(SHORT)).expect_err(name);
        assert_eq!(failure.class, FailureClass::Timeout, "{name}");
        let took = began.elapsed();
        assert!(took >= SHORT && took < SHORT * 10, "{name}: {took:?}");
        goes_on(&gateway);
    }
}

#[test]
fn some_framing_between_pieces_is_taken() {
    // Chunks of one byte each, with extensions: far more framing than body in all.
    let body: Vec<u8> = (text(&"a".repeat(20_000)) + DONE)
        .bytes()
        .flat_map(|byte| [b"1;extension=x\r\n", &[byte][..], b"\r\n"].concat())
        .collect();
    let trailers = "Trailer: some\r\n".repeat(1000);
    let end = [b"0\r\n", trailers.as_bytes(), b"\r\n"].concat();
    let server = Server::first(vec![begun(&body), Step::Send(end)]);
    let gateway = gateway(&server.url());
    let reply = perform(&gateway, round(), terms(LONG)).expect("answers");
    assert_eq!(said(&reply).len(), 20_000);
}

#[test]
fn what_follows_the_end_without_an_end_holds_nobody_up() {
    let done = begun(&chunk(text("well") + DONE));
    for (name, flood) in [
        (
            "trailers",
            vec![Step::Send(b"0\r\n".to_vec()), flood("A: b\r\n")],
        ),
        ("chunks", vec![flood("1;extension\r\nx\r\n")]),
        (
            "more text",
            vec![flood(&String::from_utf8(chunk(text("more"))).unwrap())],
        ),
    ] {
        for pause in [0, 150] {
            let mut steps = vec![done.clone(), Step::Wait(Duration::from_millis(pause))];
            steps.extend(flood.clone());
            let reply = within(SOON, steps, terms(LONG)).expect(name);
            assert_eq!(said(&reply), "well");
        }
    }
}

#[test]
fn a_flood_on_a_kept_connection_holds_no_other_round_up() {
    let trailers = "A: b\r\n".repeat(WRITE / 6);
    let server = Server::new(move |nth, _| {
        let mut steps = vec![begun(&chunk(text("well") + DONE))];
        if nth < 8 {
            steps.push(Step::Wait(Duration::from_millis(150)));
            steps.push(Step::Send(b"0\r\n".to_vec()));
            steps.push(Step::Flood(trailers.clone().into()));
        } else {
            steps.push(Step::Send(chunk("")));
        }
        steps
    });
    let gateway = gateway(&server.url());
    let all = |count: usize| {
        let (tell, told) = mpsc::channel();
        for _ in 0..count {
            let (gateway, tell) = (gateway.clone(), tell.clone());
            thread::spawn(move || tell.send(perform(&gateway, round(), terms(LONG))));
        }
        for _ in 0..count {
            let answered = told.recv_timeout(SOON).expect("the round ends");
            assert_eq!(said(&answered.expect("answers")), "well");
        }
    };
    all(8);
    thread::sleep(Duration::from_millis(300));
    all(8);
    assert!(server.hung_up(8), "the flooding connections are closed");
}
