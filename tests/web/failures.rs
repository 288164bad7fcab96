//! What else fails on the way (spec T141, T144, T148).

use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use runvil::harness::web::FetchPolicy;

use crate::ask::{fetch, fetched, policy, site, web};
use crate::network::{FakeNetwork, Found, PUBLIC};
use crate::server::{Step, reply};

const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(30);

const TIMED_OUT: &str = "request to http://a.example/p timed out; try again or use a different URL";
const FAILED: &str = "fetch failed for http://a.example/p?q=1: network error; try a different URL";

#[test]
fn t148_statuses_are_soft() {
    for status in ["404 Not Found", "500 Oops", "600 X", "999 X"] {
        let result = fetched(reply(status, "text/html", "SECRET")).unwrap();
        let code = &status[..3];
        assert_eq!(
            result,
            format!("http://a.example/p answered HTTP {code}; try a different URL")
        );
    }
    // What says that more is to come is not the reply.
    let early = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".to_vec();
    let sent = [early, reply("404 Not Found", "text/plain", "")].concat();
    assert!(fetched(sent).unwrap().contains("HTTP 404"));
    for status in ["200 OK", "203 X", "206 Partial Content", "299 X"] {
        let result = fetched(reply(status, "text/plain", "fine")).unwrap();
        assert!(result.ends_with("\n\nfine"), "{status}");
    }
}

#[test]
fn t148_a_status_comes_before_the_type_and_the_type_before_the_length() {
    // spec T137
    let sent = |status: &str, kind: &str| {
        let head = format!("HTTP/1.1 {status}\r\n{kind}Content-Length: 99999999\r\n\r\n");
        fetched(head).unwrap()
    };
    assert!(sent("404 X", "").contains("answered HTTP 404"));
    assert!(
        sent("200 OK", "Content-Type: image/png; charset=nope\r\n").starts_with("content type ")
    );
    let unknown = sent("200 OK", "Content-Type: text/html; charset=nope\r\n");
    assert!(unknown.contains("unknown charset nope"));
    assert!(sent("200 OK", "Content-Type: text/html\r\n").contains("size cap"));
    assert_eq!(
        sent("200 OK", ""),
        "response from http://a.example/p declared no content type; refusing to guess its format; \
         try a different URL"
    );
}

#[test]
fn t144_a_failed_look_up_is_soft_and_quotes_nothing() {
    let network = FakeNetwork::default();
    network.name("a.example", [Found::Nothing]);
    let result = fetch(&web(policy(&network)), "http://a.example/p?q=1").unwrap();
    assert_eq!(result, "dns resolution failed for a.example");
}

#[test]
fn t148_anything_else_is_a_network_error_with_the_url_as_asked() {
    for sent in [
        "".to_owned(),
        "HTTP/1.1 200 OK\r\nContent-Type: text/pl".to_owned(),
        "SSH-2.0-OpenSSH\r\n".to_owned(),
        "HTTP/1.1 2000 OK\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nno header\r\n\r\n".to_owned(),
        format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(1 << 20)),
        format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(5000)),
    ] {
        assert_eq!(fetched(sent.clone()).unwrap(), FAILED, "{sent:.60}");
    }
    // Nobody listens.
    let network = FakeNetwork::default();
    let result = fetch(&web(policy(&network)), "http://a.example/p?q=1#f").unwrap();
    assert_eq!(result, FAILED);
    // After a redirect it is still the URL as asked.
    let (_server, network) = site(|_, _| {
        let head = b"HTTP/1.1 302 X\r\nLocation: http://b.example/\r\nContent-Length: 0\r\n\r\n";
        vec![Step::Send(head.to_vec())]
    });
    network.name("b.example", [Found::Addresses(&["8.8.8.8"])]);
    let result = fetch(&web(policy(&network)), "http://a.example/p?q=1#f").unwrap();
    assert_eq!(result, FAILED);
}

#[test]
fn t141_a_connection_has_its_own_limit() {
    let network = FakeNetwork::default();
    network.name("a.example", [Found::Late(LONG)]);
    let limited = |network: &FakeNetwork| FetchPolicy {
        connect_limit: SHORT,
        total_limit: LONG,
        ..policy(network)
    };
    let began = Instant::now();
    let result = fetch(&web(limited(&network)), "http://a.example/p?q").unwrap();
    assert_eq!(result, TIMED_OUT);
    assert!((SHORT..LONG / 2).contains(&began.elapsed()));

    // TLS is a part of it: the server says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    network.serve(PUBLIC, 443, silent.local_addr().unwrap());
    let began = Instant::now();
    let result = fetch(&web(limited(&network)), "https://b.example/p").unwrap();
    let message = "request to https://b.example/p timed out; try again or use a different URL";
    assert_eq!(result, message);
    assert!((SHORT..LONG / 2).contains(&began.elapsed()));

    // Once connected, a reply may take longer.
    let (_server, network) = site(|_, _| {
        let late = reply("200 OK", "text/plain", "late");
        vec![Step::Wait(SHORT * 2), Step::Send(late)]
    });
    let result = fetch(&web(limited(&network)), "http://a.example/").unwrap();
    assert!(result.ends_with("\n\nlate"));
}

#[test]
fn t141_all_together_has_a_limit() {
    let limited = |network: &FakeNetwork| FetchPolicy {
        total_limit: SHORT,
        ..policy(network)
    };
    for before in ["", "HTTP/1.1 200 OK\r\nContent-Type: te"] {
        let (server, network) =
            site(move |_, _| vec![Step::Send(before.as_bytes().to_vec()), Step::Stall]);
        let began = Instant::now();
        let result = fetch(&web(limited(&network)), "http://a.example/p?q").unwrap();
        assert_eq!(result, TIMED_OUT);
        assert!((SHORT..LONG / 2).contains(&began.elapsed()));
        assert!(server.hung_up(1));
    }
    // Bytes that keep coming win no time.
    let (_server, network) = site(|_, _| {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 500\r\n\r\n";
        let mut steps = vec![Step::Send(head.to_vec())];
        for _ in 0..500 {
            steps.extend([Step::Wait(SHORT / 20), Step::Send(b"x".to_vec())]);
        }
        steps
    });
    let began = Instant::now();
    let result = fetch(&web(limited(&network)), "http://a.example/p?q").unwrap();
    let unread = "the response body from http://a.example/p could not be read; try again or use a \
                  different URL";
    assert_eq!(result, unread);
    assert!((SHORT..LONG / 2).contains(&began.elapsed()));
    // Nor do redirects, each of them quick enough.
    let (server, network) = site(|_, _| {
        let head = b"HTTP/1.1 302 X\r\nLocation: /p\r\nContent-Length: 0\r\n\r\n".to_vec();
        vec![Step::Wait(SHORT * 2 / 5), Step::Send(head)]
    });
    let result = fetch(&web(limited(&network)), "http://a.example/p?q").unwrap();
    assert_eq!(result, TIMED_OUT);
    assert!((2..5).contains(&server.requests().len()));
}

#[test]
fn fetches_do_not_wait_for_one_another() {
    let (_server, network) = site(|_, request| match request.line.contains("/slow") {
        true => vec![
            Step::Wait(SHORT),
            Step::Send(reply("200 OK", "text/plain", "slow")),
        ],
        false => vec![Step::Send(reply("200 OK", "text/plain", "quick"))],
    });
    let web = Arc::new(web(policy(&network)));
    let slow = web.clone();
    let slow = thread::spawn(move || fetch(&slow, "http://a.example/slow").unwrap());
    assert!(fetch(&web, "http://a.example/").unwrap().ends_with("quick"));
    assert!(!slow.is_finished());
    assert!(slow.join().unwrap().ends_with("slow"));
}
