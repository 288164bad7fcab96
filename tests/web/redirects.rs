//! Redirects (spec T143, T146, T147).

use std::sync::Arc;

use runvil::harness::web::FetchPolicy;

use crate::ask::{content, fetch, hard, policy, site, web};
use crate::network::{Found, PUBLIC};
use crate::server::{Request, Step, reply};
use crate::tls::Front;

fn to(status: &str, location: &str) -> Vec<Step> {
    let head = format!("HTTP/1.1 {status}\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
    vec![Step::Send(head.into_bytes())]
}

fn ok() -> Vec<Step> {
    vec![Step::Send(reply("200 OK", "text/plain", "fine"))]
}

fn path(request: &Request) -> &str {
    request.line.split(' ').nth(1).unwrap()
}

/// What a redirect from `http://a.example/from?k=1` to a target comes to, and how many requests
/// were made.
fn redirected(status: &'static str, target: &'static str) -> (String, usize) {
    let (server, network) = site(move |nth, _| match nth {
        0 => to(status, target),
        _ => ok(),
    });
    let result = fetch(&web(policy(&network)), "http://a.example/from?k=1#f");
    (result.unwrap(), server.requests().len())
}

#[test]
fn t146_redirects_are_followed_and_the_last_url_is_told() {
    for status in [
        "301 Moved Permanently",
        "302 Found",
        "303 See Other",
        "307 Temporary Redirect",
        "308 Permanent Redirect",
    ] {
        let (result, requests) = redirected(status, "/to?k=2&x=%20#frag");
        assert!(result.starts_with("url: http://a.example/to?k=2&x=%20\ntruncated: false\n"));
        assert_eq!((content(&result).0, requests), ("fine", 2), "{status}");
    }
    for (target, url) in [
        ("//b.example", "http://b.example/"),
        ("?k=3", "http://a.example/from?k=3"),
        ("x/../y", "http://a.example/y"),
        ("", "http://a.example/from?k=1"),
        ("HTTP://B.example:80/é", "http://b.example/%C3%A9"),
    ] {
        let (result, _) = redirected("302 Found", target);
        assert!(result.starts_with(&format!("url: {url}\n")), "{result}");
    }
}

#[test]
fn t146_other_statuses_are_not_redirects() {
    for status in [
        "300 Multiple Choices",
        "304 Not Modified",
        "305 Use Proxy",
        "399 X",
    ] {
        let (result, requests) = redirected(status, "/to");
        let code = &status[..3];
        let message = format!("http://a.example/from answered HTTP {code}; try a different URL");
        assert_eq!((result, requests), (message, 1));
    }
    let (_server, network) = site(|_, _| {
        vec![Step::Send(
            b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
        )]
    });
    assert_eq!(
        fetch(&web(policy(&network)), "http://a.example/").unwrap(),
        "http://a.example/ answered HTTP 302; try a different URL"
    );
}

#[test]
fn t146_a_refused_hop_is_soft_and_never_contacted() {
    for (target, to, reason) in [
        (
            "http://u:p@b.example/x?y#z",
            "http://b.example/x",
            "url must not contain userinfo",
        ),
        (
            "http://b.example:8080/",
            "http://b.example:8080/",
            "port not allowed: 8080",
        ),
        (
            "http://127.0.0.1/x?y=2",
            "http://127.0.0.1/x",
            "ip literal host not allowed: 127.0.0.1",
        ),
        (
            "http://0x7f000001/",
            "http://127.0.0.1/",
            "ip literal host not allowed: 127.0.0.1",
        ),
        (
            "//[::1]/",
            "http://[::1]/",
            "ip literal host not allowed: ::1",
        ),
        (
            "file:///etc/passwd",
            "file:///etc/passwd",
            "scheme not allowed: file",
        ),
        (
            "ftp://b.example/x",
            "ftp://b.example/x",
            "scheme not allowed: ftp",
        ),
        (
            "data:text/plain,hi?q#f",
            "data:text/plain,hi",
            "scheme not allowed: data",
        ),
        ("gopher:x", "gopher:x", "scheme not allowed: gopher"),
        ("http://", "invalid url", "invalid url"),
        ("http://b.example:99999/", "invalid url", "invalid url"),
    ] {
        let (result, requests) = redirected("302 Found", target);
        let message = format!("redirect from http://a.example/from to {to} refused: {reason}");
        assert_eq!((result, requests), (message, 1));
    }
}

#[test]
fn t146_a_circle_ends_at_the_hop_cap() {
    let (server, network) = site(|_, request| match path(request) {
        "/a" => to("302 Found", "/b"),
        _ => to("302 Found", "/a"),
    });
    let result = fetch(&web(policy(&network)), "http://a.example/a").unwrap();
    let refused = "redirect from http://a.example/b to http://a.example/a refused: exceeded max \
                   redirects (5)";
    assert_eq!(result, refused);
    assert_eq!(server.requests().len(), 6);
}

#[test]
fn t146_the_hop_cap_is_the_policys_and_comes_first() {
    let (server, network) = site(|nth, _| match nth {
        0 => to("302 Found", "/1"),
        1 => to("302 Found", "file:///x"),
        _ => ok(),
    });
    let limited = |max_redirects| {
        let policy = FetchPolicy {
            max_redirects,
            ..policy(&network)
        };
        fetch(&web(policy), "http://a.example/0").unwrap()
    };
    let refused =
        "redirect from http://a.example/1 to file:///x refused: exceeded max redirects (1)";
    assert_eq!(limited(1), refused);
    assert_eq!(server.requests().len(), 2);
    assert_eq!(content(&limited(0)).0, "fine");

    let (_server, network) = site(|_, request| match path(request) {
        "/5" => ok(),
        path => to(
            "302 Found",
            &(path[1..].parse::<u8>().unwrap() + 1).to_string(),
        ),
    });
    let result = fetch(&web(policy(&network)), "http://a.example/0").unwrap();
    assert!(result.starts_with("url: http://a.example/5\n"));
}

#[test]
fn t146_a_downgrade_is_refused_before_the_target_is_looked_at() {
    let (server, network) = site(|_, request| match path(request) {
        "/s?k=1" => to("302 Found", "http://127.0.0.1/x?y=2"),
        "/up" => to("302 Found", "https://a.example/end"),
        _ => ok(),
    });
    let front = Front::new(&["a.example"], server.address);
    network.serve(PUBLIC, 443, front.address);
    let web = web(FetchPolicy {
        roots: Some(vec![front.certificate]),
        ..policy(&network)
    });
    // case 06/C45
    assert_eq!(
        fetch(&web, "https://a.example/s?k=1").unwrap(),
        "redirect from https://a.example/s to http://127.0.0.1/x refused: refusing https to http \
         downgrade"
    );
    let result = fetch(&web, "http://a.example/up").unwrap();
    assert!(
        result.starts_with("url: https://a.example/end\n"),
        "{result}"
    );
}

#[test]
fn t147_a_hop_to_blocked_addresses_is_hard() {
    let (server, network) = site(|_, _| to("302 Found", "http://inner.example/admin?token=1"));
    network.name(
        "inner.example",
        [Found::Addresses(&["192.168.0.1", "fd00::1"])],
    );
    assert_eq!(
        hard(fetch(&web(policy(&network)), "http://a.example/")),
        "host inner.example has no allowed address"
    );
    assert_eq!(network.connected(), ["1.1.1.1:80"]);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn t143_requests_are_anonymous_on_every_hop() {
    let (server, network) = site(|nth, _| match nth {
        0 => vec![Step::Send(
            b"HTTP/1.1 302 Found\r\nSet-Cookie: id=1\r\nLocation: http://b.example/n?c=%20d&'\r\n\
              WWW-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n"
                .to_vec(),
        )],
        _ => ok(),
    });
    let web = web(FetchPolicy {
        user_agent: "tester/1".to_owned(),
        ..policy(&network)
    });
    fetch(&web, "http://a.example/p q?a=b+c&d={}|^#frag").unwrap();
    let requests = server.requests();
    let lines: Vec<_> = requests.iter().map(|request| &*request.line).collect();
    assert_eq!(
        lines,
        [
            "GET /p%20q?a=b+c&d={}|^ HTTP/1.1",
            "GET /n?c=%20d&%27 HTTP/1.1"
        ]
    );
    for (request, host) in requests.iter().zip(["a.example", "b.example"]) {
        let mut headers = request.headers.clone();
        headers.sort();
        let headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .collect();
        assert_eq!(
            headers,
            [
                ("accept", "*/*"),
                ("accept-encoding", "gzip, br"),
                ("host", host),
                ("user-agent", "tester/1"),
            ]
        );
    }
    assert_eq!(server.accepted(), 2);
    let default = Arc::new(FetchPolicy::default());
    assert_eq!(default.user_agent, "harness-webfetch/0.0");
}
