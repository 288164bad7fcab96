//! Connections are used again (design: one connection for each round in flight).

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use runvil::engine::model::FailureClass;

use crate::ask::{LONG, SHORT, ask, gateway, goes_on, perform, round, said, terms};
use crate::server::{DONE, STREAM, Server, Step, chunk, reply, text, well};

/// A good reply whose end comes apart from its last words.
fn in_chunks() -> Vec<Step> {
    vec![
        Step::Send([STREAM.as_bytes(), &chunk(text("well"))].concat()),
        Step::Send(chunk(DONE)),
        Step::Wait(Duration::from_millis(5)),
        Step::Send(chunk("")),
        Step::Wait(Duration::from_millis(5)),
    ]
}

#[test]
fn rounds_one_after_another_share_a_connection() {
    let server = Server::always(well());
    let gateway = gateway(&server.url());
    for _ in 0..20 {
        goes_on(&gateway);
    }
    assert_eq!(server.accepted(), 1);
    let connections: Vec<_> = server.requests().iter().map(|r| r.connection).collect();
    assert_eq!(connections, [0; 20]);
}

#[test]
fn a_stream_whose_end_comes_late_leaves_its_connection_usable() {
    let server = Server::new(|_, _| in_chunks());
    let gateway = gateway(&server.url());
    for _ in 0..5 {
        goes_on(&gateway);
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(server.accepted(), 1);
}

#[test]
fn a_stream_whose_end_never_comes_costs_its_connection_alone() {
    let server = Server::new(|_, _| {
        let mut steps = in_chunks();
        steps.truncate(2);
        steps.push(Step::Stall);
        steps
    });
    let gateway = gateway(&server.url());
    for count in 1..=3 {
        goes_on(&gateway);
        assert_eq!(server.accepted(), count);
    }
    assert!(server.hung_up(2));
}

#[test]
fn a_failed_reply_leaves_its_connection_usable() {
    let server = Server::new(|nth, _| {
        vec![Step::Send(match nth {
            0 => reply("500 No", "text/plain", "broken"),
            _ => well(),
        })]
    });
    let gateway = gateway(&server.url());
    ask(&gateway).expect_err("fails");
    goes_on(&gateway);
    assert_eq!(server.accepted(), 1);
}

#[test]
fn servers_that_close_after_each_reply_are_met_anew() {
    let closing = String::from_utf8(well()).unwrap();
    let told = closing.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    let old = closing.replace("HTTP/1.1", "HTTP/1.0");
    let bare = "HTTP/1.0 200 OK\r\n\r\n".to_owned() + &text("well") + DONE;
    // The last says nothing and closes all the same: the next round meets a stale connection.
    for sent in [told, old, bare, closing] {
        let sent = sent.into_bytes();
        let server = Server::new(move |_, _| vec![Step::Send(sent.clone()), Step::Close]);
        let gateway = gateway(&server.url());
        for count in 1..=5 {
            goes_on(&gateway);
            assert_eq!(server.accepted(), count);
        }
    }
}

#[test]
fn a_connection_that_is_closed_instead_of_answered_is_replaced_once() {
    // The connection is open when the request is sent: every second one is closed upon it.
    let server = Server::new(|nth, _| match nth {
        1 => vec![Step::Close],
        _ => vec![Step::Send(well())],
    });
    let gateway = gateway(&server.url());
    goes_on(&gateway);
    goes_on(&gateway);
    assert_eq!(server.accepted(), 2);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_request_is_not_sent_again_once_an_answer_began_or_on_a_fresh_connection() {
    for begun in ["", "H", "HTTP/1.1 200 OK\r\n"] {
        let server = Server::new(move |nth, _| match nth {
            0 | 3 => vec![Step::Send(well())],
            _ => vec![Step::Send(begun.into()), Step::Close],
        });
        let gateway = gateway(&server.url());
        goes_on(&gateway);
        let failure = ask(&gateway).expect_err("closed");
        assert_eq!(failure.class, FailureClass::Connection);
        let sent = match begun {
            // Once on the kept connection, once on a fresh one.
            "" => 3,
            _ => 2,
        };
        assert_eq!(server.requests().len(), sent);
    }
}

#[test]
fn a_kept_connection_that_falls_silent_is_a_timeout() {
    let server = Server::new(|nth, _| match nth {
        1 => vec![Step::Stall],
        _ => vec![Step::Send(well())],
    });
    let gateway = gateway(&server.url());
    goes_on(&gateway);
    let failure = perform(&gateway, round(), terms(SHORT)).expect_err("silent");
    assert_eq!(failure.class, FailureClass::Timeout);
    assert_eq!(server.requests().len(), 2, "asked once");
    goes_on(&gateway);
}

#[test]
fn a_hundred_rounds_at_once_have_a_connection_each() {
    const COUNT: usize = 100;
    let all = Arc::new(Barrier::new(COUNT));
    let server = Server::new(move |nth, _| {
        if nth < COUNT {
            all.wait();
        }
        vec![Step::Send(well())]
    });
    let gateway = gateway(&server.url());
    let rounds: Vec<_> = (0..COUNT)
        .map(|_| {
            let gateway = gateway.clone();
            thread::spawn(move || perform(&gateway, round(), terms(LONG)))
        })
        .collect();
    for round in rounds {
        assert_eq!(said(&round.join().unwrap().expect("answers")), "well");
    }
    assert_eq!(server.accepted(), COUNT);
    goes_on(&gateway);
    assert_eq!(server.accepted(), COUNT, "one of them is used again");
}
