//! A round that is not wanted any more is over at once, whatever it waits for (spec M71).

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use runvil::harness::gateway::Gateway;

use crate::ask::{LONG, ask, gateway, goes_on, perform, round, terms};
use crate::server::{STREAM, Server, Step, chunk, text};

/// The longest an aborted round may go on (spec M71).
const AT_ONCE: Duration = Duration::from_millis(250);

/// Asks on another thread, aborts when `reached` is over, and tells how long the round went on.
fn aborted_after(gateway: &Gateway, reached: impl FnOnce()) -> Duration {
    let terms = terms(LONG);
    let abort = terms.abort.clone();
    let (tell, told) = mpsc::channel();
    let gateway = gateway.clone();
    thread::spawn(move || {
        let _ = perform(&gateway, round(), terms);
        tell.send(Instant::now()).unwrap();
    });
    reached();
    // Long enough for the client to wait again for what comes next.
    thread::sleep(Duration::from_millis(30));
    assert!(told.try_recv().is_err(), "the round is over too early");
    let aborted = Instant::now();
    abort.abort();
    let ended = told.recv_timeout(LONG).expect("the round ends");
    ended.saturating_duration_since(aborted)
}

#[test]
fn an_abort_ends_a_round_at_every_stage() {
    let body = [STREAM.as_bytes(), &chunk(text("part"))].concat();
    let error = "HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\npart";
    let endless = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    let stages = [
        ("before the headers", Vec::new()),
        (
            "inside the headers",
            b"HTTP/1.1 200 OK\r\nContent-Ty".to_vec(),
        ),
        ("after the headers", STREAM.into()),
        ("inside the body", body),
        (
            "inside a body that ends with the connection",
            endless.into(),
        ),
        ("inside an error's body", error.into()),
    ];
    for (stage, sent) in stages {
        let server = Server::first(vec![Step::Send(sent), Step::Stall]);
        let gateway = gateway(&server.url());
        let took = aborted_after(&gateway, || server.await_requests(1));
        assert!(took < AT_ONCE, "{stage}: {took:?}");
        assert!(server.hung_up(1), "{stage}: the connection is closed");
        goes_on(&gateway);
    }
}

#[test]
fn an_abort_ends_a_connection_kept_from_an_earlier_round() {
    let server = Server::new(|nth, _| match nth {
        1 => vec![Step::Stall],
        _ => vec![Step::Send(crate::server::well())],
    });
    let gateway = gateway(&server.url());
    goes_on(&gateway);
    let took = aborted_after(&gateway, || server.await_requests(2));
    assert!(took < AT_ONCE, "{took:?}");
    assert_eq!(server.accepted(), 1, "on the first connection");
    goes_on(&gateway);
    assert_eq!(server.accepted(), 2, "which is not used again");
}

#[test]
fn an_abort_ends_a_connect() {
    // A listener whose queue is full lets nobody in and turns nobody away.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut queued = Vec::new();
    while queued.len() < 10_000 {
        match TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
            Ok(stream) => queued.push(stream),
            Err(_) => break,
        }
    }
    let took = aborted_after(&gateway(&format!("http://{address}")), || {});
    assert!(took < AT_ONCE, "{took:?}");
}

#[test]
fn an_abort_ends_the_sending_of_a_request() {
    // A server that reads nothing: a large request fills the buffers between.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut [0; 9]).unwrap();
        tell.send(()).unwrap();
        thread::sleep(LONG);
    });
    let mut large = (*round()).clone();
    let message = runvil::engine::model::Message::text(
        runvil::engine::model::Role::User,
        "x".repeat(32 << 20),
    );
    large.messages = vec![message].into();
    let gateway = gateway(&format!("http://{address}"));
    let terms = terms(LONG);
    let abort = terms.abort.clone();
    let round = thread::spawn(move || perform(&gateway, large.into(), terms));
    told.recv_timeout(LONG).expect("the request begins");
    thread::sleep(Duration::from_millis(100));
    assert!(!round.is_finished(), "the request is on its way");
    let aborted = Instant::now();
    abort.abort();
    round.join().unwrap().expect_err("aborted");
    assert!(aborted.elapsed() < AT_ONCE);
}

#[test]
fn a_round_that_was_aborted_before_it_began_asks_nothing() {
    let server = Server::always(crate::server::well());
    let gateway = gateway(&server.url());
    goes_on(&gateway);
    let terms = terms(LONG);
    terms.abort.abort();
    perform(&gateway, round(), terms).expect_err("aborted");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_late_abort_does_not_touch_the_rounds_after() {
    let server = Server::new(|nth, _| {
        let mut steps = vec![Step::Send(crate::server::well())];
        if nth == 1 {
            steps.insert(0, Step::Wait(Duration::from_millis(200)));
        }
        steps
    });
    let gateway = gateway(&server.url());
    let first = terms(LONG);
    let abort = first.abort.clone();
    perform(&gateway, round(), first).expect("answers");
    let second = {
        let gateway = gateway.clone();
        thread::spawn(move || ask(&gateway))
    };
    server.await_requests(2);
    abort.abort();
    second.join().unwrap().expect("answers");
    assert_eq!(server.accepted(), 1);
}
