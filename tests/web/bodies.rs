//! Bodies: caps, packing, lengths, breaks (spec T138, T140).

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::ask::{content, fetch, fetched, fetched_with, policy, site, web};
use crate::server::{Step, chunk, reply};

const UNREAD: &str = "the response body from http://a.example/p could not be read; try again or use \
                      a different URL";

fn too_large(limit: usize) -> String {
    format!("response from http://a.example/p exceeds the {limit}-byte size cap")
}

/// A reply of a type with a body that is packed.
fn packed(kind: &str, coding: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Encoding: {coding}\r\nContent-Length: \
         {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// A reply without a length.
fn unframed(kind: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn in_chunks(kind: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n");
    let mut sent = head.into_bytes();
    for piece in body.chunks(700) {
        sent.extend(chunk(piece));
    }
    sent.extend(chunk(""));
    sent
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(body).unwrap();
    packer.finish().unwrap()
}

/// `<p>hé</p>` and a mebibyte of `a` eight times, and that with one more, packed by Brotli.
const SMALL: &[u8] = &[139, 4, 128, 60, 112, 62, 104, 195, 169, 60, 47, 112, 62, 3];
const CAP: &[u8] = &[
    203, 255, 255, 63, 248, 37, 194, 226, 177, 64, 32, 247, 254, 111,
];
const OVER: &[u8] = &[
    203, 255, 255, 63, 248, 37, 194, 226, 177, 64, 32, 247, 254, 15, 0, 0, 1, 97, 3,
];

#[test]
fn t138_the_cap_refuses_what_cannot_be_cut_and_cuts_the_rest() {
    let fits = "é".repeat(1000);
    let over = fits.clone() + "x";
    for frame in [
        |kind: &str, body: &[u8]| reply("200 OK", kind, body),
        |kind: &str, body: &[u8]| in_chunks(kind, body),
        |kind: &str, body: &[u8]| unframed(kind, body),
        |kind: &str, body: &[u8]| packed(kind, "gzip", &gzip(body)),
    ] {
        for kind in ["application/json", "text/xml", "text/html", "text/plain"] {
            let capped = |body: &str| {
                let sent = frame(kind, body.as_bytes());
                fetched_with(|policy| policy.max_bytes = 2000, "{}", sent).unwrap()
            };
            let result = capped(&fits);
            assert_eq!(content(&result), (&*fits, false), "{kind}");
            let result = capped(&over);
            match kind {
                "text/plain" => assert_eq!(content(&result), (&*fits, true)),
                _ => assert_eq!(result, too_large(2000), "{kind}"),
            }
        }
    }
}

#[test]
fn t138_a_split_character_is_replaced() {
    let reply = reply("200 OK", "text/plain", "abcé");
    let result = fetched_with(|policy| policy.max_bytes = 4, "{}", reply).unwrap();
    assert_eq!(content(&result), ("abc\u{fffd}", true));
}

#[test]
fn t138_a_declared_length_is_refused_before_the_body() {
    for (kind, is_refused) in [("application/json", true), ("text/csv", false)] {
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: 8388609\r\n\r\n");
        // Nothing of the body ever comes.
        let result = fetched_with(
            |policy| policy.total_limit = Duration::from_millis(700),
            "{}",
            head,
        );
        match is_refused {
            true => assert_eq!(result.unwrap(), too_large(8_388_608)),
            false => assert_eq!(result.unwrap(), UNREAD),
        }
    }
    // case 06/C47
    let csv = reply("200 OK", "text/csv", vec![b'a'; 8_388_609]);
    let result = fetched(csv).unwrap();
    let (text, is_cut) = content(&result);
    assert_eq!((text.len(), is_cut), (40_000, true));
}

#[test]
fn t138_packed_bodies_are_unpacked() {
    let html = "<p>hé</p>";
    for sent in [
        packed("text/html", "gzip", &gzip(html.as_bytes())),
        packed("text/html", "X-GZIP", &gzip(html.as_bytes())),
        packed("text/html", "br", SMALL),
        packed("text/html", "identity", html.as_bytes()),
        packed("text/html", "", html.as_bytes()),
        // Two members are one body.
        packed(
            "text/html",
            "gzip",
            &[gzip(b"<p>h"), gzip("é</p>".as_bytes())].concat(),
        ),
    ] {
        let result = fetched(sent).unwrap();
        assert_eq!(content(&result).0, "hé");
    }
}

#[test]
fn t138_what_inflates_over_the_cap_is_refused() {
    let cap = 8_388_608;
    let fits = fetched(packed("application/json", "br", CAP)).unwrap();
    assert_eq!(content(&fits).0.len(), 40_000);
    let zeros = vec![b' '; cap + 1];
    for sent in [
        packed("application/json", "br", OVER),
        packed("application/json", "gzip", &gzip(&zeros)),
    ] {
        assert!(sent.len() < 10_000);
        assert_eq!(fetched(sent).unwrap(), too_large(cap));
    }
    let flat = fetched_with(
        |policy| policy.max_chars = usize::MAX,
        "{}",
        packed("text/plain", "br", OVER),
    );
    let flat = flat.unwrap();
    let (text, is_cut) = content(&flat);
    assert_eq!((text.len(), is_cut), (cap, true));
}

#[test]
fn t138_packed_nothing_has_an_end() {
    // Empty members, one after another, more than the cap would ever need packed.
    let nothing = gzip(b"").repeat(20_000);
    let result = fetched(packed("text/plain", "gzip", &nothing)).unwrap();
    assert_eq!(content(&result).0, "");
    let sent = packed("text/plain", "gzip", &nothing);
    let result = fetched_with(|policy| policy.max_bytes = 1000, "{}", sent);
    assert_eq!(result.unwrap(), UNREAD);
}

#[test]
fn t138_an_endless_body_ends_at_the_cap() {
    for (kind, is_refused) in [("application/json", true), ("text/plain", false)] {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n");
        let (server, network) = site(move |_, _| {
            let mut steps = vec![Step::Send(head.clone().into_bytes())];
            let more = std::iter::repeat_n(Step::Send(vec![b'1'; 1 << 16]), 400);
            steps.extend(more);
            steps.push(Step::Stall);
            steps
        });
        let result = fetch(&web(policy(&network)), "http://a.example/p").unwrap();
        match is_refused {
            true => assert_eq!(result, too_large(8_388_608)),
            false => assert_eq!(content(&result).0.len(), 40_000),
        }
        assert_eq!(server.accepted(), 1);
    }
}

#[test]
fn t140_a_body_that_breaks_off_gives_no_text() {
    let cut = |mut sent: Vec<u8>, off: usize| {
        sent.truncate(sent.len() - off);
        sent
    };
    let kinds = ["text/html", "application/json", "text/plain"];
    for kind in kinds {
        for sent in [
            cut(reply("200 OK", kind, "a text that is long enough"), 1),
            cut(reply("200 OK", kind, "a text"), 6),
            cut(in_chunks(kind, &[b'a'; 2000]), 5),
            cut(in_chunks(kind, &[b'a'; 2000]), 900),
            // The chunks' sizes are none.
            [&cut(in_chunks(kind, b"abc"), 5), b"zz\r\n".as_slice()].concat(),
            packed(kind, "gzip", &cut(gzip(b"a text"), 1)),
            packed(kind, "gzip", &cut(gzip(b"a text"), 9)),
            packed(kind, "gzip", b"no gzip at all"),
            packed(kind, "gzip", b""),
            packed(kind, "br", &cut(SMALL.to_vec(), 1)),
            packed(kind, "br", b"no brotli at all"),
            packed(kind, "br", b""),
            // A window of a gibibyte.
            packed(kind, "br", &[0x11, 0x1e, 3, 3]),
            cut(packed(kind, "br", &[SMALL, b"more"].concat()), 2),
            cut(packed(kind, "gzip", &[gzip(b"x"), gzip(b"y")].concat()), 20),
            packed(kind, "deflate", b"x"),
            packed(kind, "zstd", b"x"),
            packed(kind, "gzip, br", b"x"),
        ] {
            let result = fetched(sent.clone()).unwrap();
            assert_eq!(result, UNREAD, "{}", String::from_utf8_lossy(&sent));
        }
    }
}

#[test]
fn t140_a_length_that_is_too_short_ends_the_body() {
    let sent = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nabcdef";
    assert_eq!(content(&fetched(*sent).unwrap()), ("abc", false));
    let sent = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nabcdef";
    assert_eq!(content(&fetched(*sent).unwrap()), ("abcdef", false));
}
