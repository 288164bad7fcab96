//! Aborts end a fetch or a search at once, whatever it waits for.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use runvil::harness::model::Abort;
use runvil::harness::web::search::HttpSearch;
use runvil::harness::web::{FetchPolicy, Web};

use crate::ask::{arguments, policy, run, site, web};
use crate::network::{FakeNetwork, Found};
use crate::server::{Server, Step};

const LONG: Duration = Duration::from_secs(30);
const AT_ONCE: Duration = Duration::from_millis(500);

/// Aborts a call once it has got so far, and sees it end.
fn aborted(web: Web, tool: &'static str, given: &str, got_so_far: impl Fn() -> bool) {
    let (abort, given) = (Abort::default(), arguments(given));
    let theirs = abort.clone();
    let call = thread::spawn(move || run(&web, tool, &given, &theirs));
    let began = Instant::now();
    while !got_so_far() {
        assert!(began.elapsed() < LONG, "it got nowhere");
        thread::sleep(Duration::from_millis(2));
    }
    thread::sleep(Duration::from_millis(50));
    assert!(!call.is_finished());
    let since = Instant::now();
    abort.abort();
    // Nobody looks at what it says.
    let _ = call.join().unwrap();
    assert!(since.elapsed() < AT_ONCE, "{:?}", since.elapsed());
}

fn patient(network: &FakeNetwork) -> Web {
    web(FetchPolicy {
        connect_limit: LONG,
        total_limit: LONG,
        ..policy(network)
    })
}

const FETCH: &str = r#"{"url":"http://a.example/"}"#;

#[test]
fn t105_an_abort_ends_a_look_up() {
    let network = FakeNetwork::default();
    network.name("a.example", [Found::Late(LONG)]);
    let looked_up = network.clone();
    aborted(patient(&network), "fetch", FETCH, move || {
        !looked_up.looked_up().is_empty()
    });
}

#[test]
fn t105_an_abort_shuts_the_socket_at_every_stage() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\n";
    let again = "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n";
    for (first, second) in [
        ("", None),
        ("HTTP/1.1 200", None),
        (head, None),
        (again, Some("HTTP/1.1")),
    ] {
        let (server, network) = site(move |nth, _| match (nth, second) {
            (0, Some(_)) => vec![Step::Send(first.into())],
            (_, second) => vec![Step::Send(second.unwrap_or(first).into()), Step::Stall],
        });
        let requests = 1 + usize::from(second.is_some());
        let server = Arc::new(server);
        let theirs = server.clone();
        aborted(patient(&network), "fetch", FETCH, move || {
            theirs.requests().len() == requests
        });
        assert!(server.hung_up(1));
    }
}

#[test]
fn t105_an_abort_that_came_before_lets_nothing_out() {
    let (server, network) = site(|_, _| vec![Step::Stall]);
    let abort = Abort::default();
    abort.abort();
    let began = Instant::now();
    let _ = run(&patient(&network), "fetch", &arguments(FETCH), &abort);
    assert!(began.elapsed() < AT_ONCE);
    assert!(server.requests().is_empty());
}

#[test]
fn t105_an_abort_ends_a_search() {
    let server = Arc::new(Server::new(|_, _| vec![Step::Stall]));
    let url = format!("http://{}/", server.address);
    let provider = Arc::new(HttpSearch::new(&url, None).unwrap());
    let web = Web::new(FetchPolicy::default(), provider);
    let theirs = server.clone();
    aborted(web, "search", r#"{"query":"q"}"#, move || {
        theirs.requests().len() == 1
    });
    assert!(server.hung_up(1));
}
