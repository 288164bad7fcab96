//! The cap on a reply's bytes (spec M70, M71).

use runvil::harness::model::Terms;

use crate::ask::{LONG, failure, gateway, perform, round, said, terms, what};
use crate::server::{DONE, STREAM, Server, Step, chunk, reply, stream, text};

fn capped(response_cap: u64) -> Terms {
    Terms {
        response_cap,
        ..terms(LONG)
    }
}

/// The body in pieces, without a length.
fn in_pieces(body: &str, size: usize) -> Vec<u8> {
    let mut out = STREAM.as_bytes().to_vec();
    for piece in body.as_bytes().chunks(size) {
        out.extend(chunk(piece));
    }
    out.extend(chunk(""));
    out
}

#[test]
fn exactly_the_cap_passes_and_a_byte_more_does_not() {
    let body = text(&"a".repeat(5000)) + DONE.trim_end();
    let length = body.len() as u64;
    let forms = [stream(&body), in_pieces(&body, 1000), in_pieces(&body, 7)];
    for sent in forms {
        let server = Server::always(sent);
        let gateway = gateway(&server.url());
        let reply = perform(&gateway, round(), capped(length)).expect("passes");
        assert_eq!(said(&reply).len(), 5000);
        let failure = perform(&gateway, round(), capped(length - 1)).expect_err("one too many");
        let expected = format!("response stream exceeds the {}-byte limit", length - 1);
        assert_eq!(what(&failure), expected);
    }
}

#[test]
fn what_follows_the_end_does_not_count() {
    let body = text("a") + DONE;
    let cap = body.trim_end().len() as u64 + 1;
    let server = Server::always(stream(body + &"x".repeat(5000)));
    let reply = perform(&gateway(&server.url()), round(), capped(cap)).expect("ended");
    assert_eq!(said(&reply), "a");
}

#[test]
fn framing_counts_and_an_endless_stream_is_hung_up_on() {
    let comments = ": still here\n".repeat(1000);
    let steps = vec![Step::Send(in_pieces(&comments, 50)), Step::Stall];
    let server = Server::first(steps);
    let gateway = gateway(&server.url());
    let failure = perform(&gateway, round(), capped(999)).expect_err("too large");
    assert_eq!(what(&failure), "response stream exceeds the 999-byte limit");
    assert!(server.hung_up(1));
    crate::ask::goes_on(&gateway);
}

#[test]
fn an_error_reply_over_the_cap_names_it() {
    let large = "x".repeat(5001);
    let declared = reply("500 No", "text/plain", &large);
    let told = what(&failure(vec![Step::Send(declared)], capped(5000)));
    assert_eq!(
        told,
        "response body of 5001 bytes exceeds the 5000-byte limit"
    );
    let streamed = STREAM.replace("200 OK", "500 No");
    let streamed = [streamed.as_bytes(), &chunk(&large), &chunk("")].concat();
    let told = what(&failure(vec![Step::Send(streamed)], capped(5000)));
    assert_eq!(told, "response body exceeds the 5000-byte limit");
    let within = reply("500 No", "text/plain", &large[..5000]);
    let failure = failure(vec![Step::Send(within)], capped(5000));
    assert_eq!(
        failure.message,
        "the model backend reported a fault of its own (status 500)"
    );
}

#[test]
fn seventeen_mebibytes_of_error_are_too_many() {
    // case 05/M-C40
    let head = "HTTP/1.1 502 No\r\nConnection: close\r\n\r\n";
    let body = vec![b'x'; 17 << 20];
    let steps = vec![Step::Send(head.into()), Step::Send(body), Step::Close];
    assert_eq!(
        failure(steps, terms(LONG)).message,
        "the model backend sent a reply that could not be understood: response body exceeds the \
         16777216-byte limit"
    );
}
