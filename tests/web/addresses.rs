//! Addresses are checked where they are connected to (spec T144, T145).

use std::net::IpAddr;
use std::sync::Arc;

use runvil::harness::web::{AddressRange, Addresses, FetchPolicy};

use crate::ask::{content, fetch, hard, policy, site, web};
use crate::network::{Found, PUBLIC};
use crate::server::{Step, reply};
use crate::tls::Front;

fn allows(addresses: &Addresses, address: &str) -> bool {
    addresses.allow(address.parse::<IpAddr>().unwrap())
}

#[test]
fn t145_ranges_are_blocked_from_their_first_address_to_their_last() {
    let addresses = Addresses::default();
    for (first, last) in [
        ("0.0.0.0", "0.255.255.255"),
        ("10.0.0.0", "10.255.255.255"),
        ("100.64.0.0", "100.127.255.255"),
        ("127.0.0.0", "127.255.255.255"),
        ("169.254.0.0", "169.254.255.255"),
        ("172.16.0.0", "172.31.255.255"),
        ("192.0.0.0", "192.0.0.255"),
        ("192.0.2.0", "192.0.2.255"),
        ("192.88.99.0", "192.88.99.255"),
        ("192.168.0.0", "192.168.255.255"),
        ("198.18.0.0", "198.19.255.255"),
        ("198.51.100.0", "198.51.100.255"),
        ("203.0.113.0", "203.0.113.255"),
        ("224.0.0.0", "255.255.255.255"),
        ("::", "::ffff:ffff"),
        ("::ffff:0:0", "::ffff:ffff:ffff"),
        ("64:ff9b::", "64:ff9b::ffff:ffff"),
        ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"),
        ("100::", "100::ffff:ffff:ffff:ffff"),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("fe80::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ] {
        assert!(!allows(&addresses, first), "{first}");
        assert!(!allows(&addresses, last), "{last}");
    }
    for outside in [
        "1.0.0.0",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "192.0.3.0",
        "192.88.98.255",
        "192.88.100.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "198.51.99.255",
        "198.51.101.0",
        "203.0.112.255",
        "203.0.114.0",
        "223.255.255.255",
        "::1:0:0",
        "::fffe:ffff:ffff",
        "::1:0:0:0",
        "64:ff9b::1:0:0",
        "64:ff9b:2::",
        "100:0:0:1::",
        "2001:db7:ffff::",
        "2001:db9::1",
        "2001:ffff::",
        "2003::",
        "3fff:1000::1",
        "fbff::",
        "fe00::",
    ] {
        assert!(allows(&addresses, outside), "{outside}");
    }
}

#[test]
fn t145_an_address_within_an_address_is_judged_too() {
    let excepting = |range: &str| Addresses {
        excepted: vec![range.parse().unwrap()],
        ..Addresses::default()
    };
    let mapped = excepting("::ffff:0:0/96");
    assert!(allows(&mapped, "::ffff:1.1.1.1"));
    assert!(!allows(&mapped, "::ffff:10.0.0.1"));
    assert!(!allows(&excepting("10.0.0.0/8"), "::ffff:10.0.0.1"));
    assert!(allows(&excepting("10.0.0.0/8"), "10.0.0.1"));
    let compatible = excepting("::/96");
    assert!(allows(&compatible, "::1.1.1.1") && !allows(&compatible, "::127.0.0.1"));
}

#[test]
fn t141_private_addresses_can_be_excepted_and_others_blocked() {
    let mut addresses = Addresses::default().with_private();
    for private in [
        "127.0.0.1",
        "10.1.2.3",
        "172.31.0.1",
        "192.168.1.1",
        "::1",
        "fd00::1",
    ] {
        assert!(allows(&addresses, private), "{private}");
    }
    for secret in [
        "169.254.169.254",
        "0.0.0.0",
        "fe80::1",
        "::ffff:127.0.0.1",
        "100.64.0.1",
    ] {
        assert!(!allows(&addresses, secret), "{secret}");
    }
    addresses.blocked = vec![
        "10.1.0.0/16".parse().unwrap(),
        "1.1.1.1/32".parse().unwrap(),
    ];
    assert!(!allows(&addresses, "10.1.2.3") && allows(&addresses, "10.2.2.3"));
    assert!(!allows(&addresses, "1.1.1.1") && allows(&addresses, "1.1.1.2"));
}

#[test]
fn ranges_are_read_and_written() {
    for text in ["10.0.0.0/8", "::/0", "0.0.0.0/0", "2001:db8::/128"] {
        assert_eq!(text.parse::<AddressRange>().unwrap().to_string(), text);
    }
    for text in [
        "",
        "10.0.0.0",
        "10.0.0.0/33",
        "::/129",
        "10.0.0/8",
        "10.0.0.0/-1",
        "x/8",
    ] {
        assert!(text.parse::<AddressRange>().is_err(), "{text}");
    }
    let all: AddressRange = "0.0.0.0/0".parse().unwrap();
    assert!(all.contains("255.1.2.3".parse().unwrap()));
    assert!(!all.contains("::1".parse().unwrap()));
}

fn ok() -> Vec<Step> {
    vec![Step::Send(reply("200 OK", "text/plain", "fine"))]
}

#[test]
fn t144_blocked_addresses_are_dropped_and_the_rest_used() {
    let (server, network) = site(|_, _| ok());
    let web = web(policy(&network));
    network.name(
        "mixed.example",
        [Found::Addresses(&["10.0.0.5", "::1", PUBLIC])],
    );
    let result = fetch(&web, "http://mixed.example/").unwrap();
    assert_eq!(content(&result), ("fine", false));
    assert_eq!(network.connected(), ["1.1.1.1:80"]);

    // The next address is tried where one does not answer.
    network.name("two.example", [Found::Addresses(&["8.8.8.8", PUBLIC])]);
    assert!(fetch(&web, "http://two.example/").is_ok());
    assert_eq!(network.connected()[1..], ["8.8.8.8:80", "1.1.1.1:80"]);

    for found in [
        Found::Addresses(&["10.0.0.5", "127.0.0.1", "fe80::1"]),
        Found::Addresses(&["::ffff:1.1.1.1"]),
        Found::Addresses(&[]),
    ] {
        network.name("all.example", [found]);
        assert_eq!(
            hard(fetch(&web, "http://all.example/secret?q=1")),
            "host all.example has no allowed address"
        );
    }
    assert_eq!(server.requests().len(), 2);
    assert_eq!(network.connected().len(), 3);
}

#[test]
fn t144_a_name_that_leads_elsewhere_the_second_time_gains_nothing() {
    let (server, network) = site(|nth, _| match nth {
        0 => vec![Step::Send(
            b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n".to_vec(),
        )],
        _ => ok(),
    });
    // Were the second address used, there would be a server behind it.
    network.serve("127.0.0.1", 80, server.address);
    network.name(
        "rebind.example",
        [
            Found::Addresses(&[PUBLIC]),
            Found::Addresses(&["127.0.0.1"]),
        ],
    );
    let web = web(policy(&network));
    assert_eq!(
        hard(fetch(&web, "http://rebind.example/first?q")),
        "host rebind.example has no allowed address"
    );
    assert_eq!(network.looked_up(), ["rebind.example", "rebind.example"]);
    assert_eq!(network.connected(), ["1.1.1.1:80"]);
    // Nothing was kept of the first look-up either.
    assert!(fetch(&web, "http://rebind.example/").is_err());
    assert_eq!(network.looked_up().len(), 3);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn t144_an_allowed_literal_is_checked_like_a_name() {
    let (_server, network) = site(|_, _| ok());
    let web = web(FetchPolicy {
        ip_literals: true,
        ..policy(&network)
    });
    assert!(fetch(&web, "http://1.1.1.1/").is_ok());
    for (url, host) in [
        ("http://127.1/", "127.0.0.1"),
        ("http://[::1]/", "[::1]"),
        ("http://[::ffff:1.1.1.1]/", "[::ffff:101:101]"),
    ] {
        let message = format!("host {host} has no allowed address");
        assert_eq!(hard(fetch(&web, url)), message);
    }
}

#[test]
fn t141_the_default_policy_asks_over_tls() {
    let (server, network) = site(|_, _| ok());
    let front = Front::new(&["a.example"], server.address);
    network.serve(PUBLIC, 443, front.address);
    let trusting = web(FetchPolicy {
        network: Arc::new(network.clone()),
        roots: Some(vec![front.certificate.clone()]),
        ..FetchPolicy::default()
    });
    let result = fetch(&trusting, "https://a.example/").unwrap();
    assert_eq!(content(&result).0, "fine");
    assert_eq!(network.connected(), ["1.1.1.1:443"]);
    let failed = "fetch failed for https://b.example/?q: network error; try a different URL";
    assert_eq!(fetch(&trusting, "https://b.example/?q#f").unwrap(), failed);
    // Nobody vouches for the certificate.
    let strict = web(FetchPolicy {
        network: Arc::new(network.clone()),
        ..FetchPolicy::default()
    });
    let failed = "fetch failed for https://a.example/: network error; try a different URL";
    assert_eq!(fetch(&strict, "https://a.example").unwrap(), failed);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn t141_the_system_network_is_guarded_as_well() {
    let web = web(FetchPolicy {
        schemes: vec!["http".to_owned()],
        ..FetchPolicy::default()
    });
    let message = hard(fetch(&web, "http://localhost/"));
    assert_eq!(message, "host localhost has no allowed address");
}
