//! A server on this machine that answers every request with the same bytes.

#![allow(dead_code, reason = "each bench uses a part of it")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use runvil::engine::model::{Message, Origin, Role, Round};
use runvil::harness::gateway::{Connection, Gateway};
use runvil::harness::model::{Abort, Answered, Broker, Taken, Terms};

/// Serves for as long as the process lives, each connection on a thread. The URL of its base.
pub fn serve(reply: Vec<u8>) -> String {
    serve_after(Duration::ZERO, reply)
}

/// As [`serve`], each answer after a while: a sleep, which lasts a little longer.
pub fn serve_after(latency: Duration, reply: Vec<u8>) -> String {
    let (listener, url) = listen();
    let reply = Arc::new(reply);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let reply = reply.clone();
            thread::spawn(move || answer(stream, latency, &reply));
        }
    });
    url
}

/// A port, and the URL of a base there.
pub fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    (listener, format!("http://{address}/v1"))
}

fn answer(mut stream: TcpStream, latency: Duration, reply: &[u8]) {
    stream.set_nodelay(true).expect("a socket");
    let mut request = Vec::new();
    while take(&mut stream, &mut request) {
        if is_whole(&mut request) {
            if !latency.is_zero() {
                thread::sleep(latency);
            }
            if stream.write_all(reply).is_err() {
                return;
            }
        }
    }
}

/// Reads more of a request. Whether there was more.
pub fn take(stream: &mut TcpStream, request: &mut Vec<u8>) -> bool {
    let mut piece = [0; 16 << 10];
    match stream.read(&mut piece) {
        Ok(count @ 1..) => request.extend_from_slice(&piece[..count]),
        _ => return false,
    }
    true
}

/// Whether a request is there with all of its body; then it is forgotten.
pub fn is_whole(request: &mut Vec<u8>) -> bool {
    let Some(end) = memchr::memmem::find(request, b"\r\n\r\n") else {
        return false;
    };
    let head = String::from_utf8_lossy(&request[..end]).to_ascii_lowercase();
    let mut lengths = head
        .lines()
        .filter_map(|line| line.strip_prefix("content-length:"));
    let length = lengths
        .next()
        .map_or(0, |length| length.trim().parse().expect("a length"));
    let is_whole = request.len() >= end + 4 + length;
    if is_whole {
        request.clear();
    }
    is_whole
}

/// A streamed reply as it is sent: each event in a chunk of its own.
pub fn reply(events: &[String]) -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
                Transfer-Encoding: chunked\r\n\r\n";
    let mut out = head.as_bytes().to_vec();
    for event in events
        .iter()
        .map(String::as_str)
        .chain(["data: [DONE]\n\n"])
    {
        out.extend(format!("{:x}\r\n{event}\r\n", event.len()).bytes());
    }
    out.extend(b"0\r\n\r\n");
    out
}

/// The event that carries a text without escapes.
pub fn event(text: &str) -> String {
    format!(
        "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\
         \"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\
         \"finish_reason\":null}}]}}\n\n"
    )
}

/// The events of a reply that fills the default cap as far as it goes, in texts of 4 KiB.
pub fn large() -> Vec<String> {
    let event = event(&"lorem ipsum dolor sit amet, ".repeat(147)[..4096]);
    let count = ((16 << 20) - 16) / event.len();
    vec![event; count]
}

/// The gateway's client for such a server.
pub fn gateway(url: &str) -> Gateway {
    let connection = Connection::new(url, None).expect("a URL");
    Gateway::new(connection, BTreeMap::new()).expect("no proxy")
}

/// A round with one short message.
pub fn round() -> Arc<Round> {
    Arc::new(Round {
        round: 0,
        origin: Origin::Infer,
        model: "m".into(),
        messages: vec![Message::text(Role::User, "Say hello.")].into(),
        tools: Vec::new().into(),
        temperature: None,
        max_tokens: None,
        thinking: Some(false),
    })
}

/// Performs a round on this thread.
pub fn perform(gateway: &Gateway, round: &Arc<Round>) -> Answered {
    let terms = Terms {
        response_cap: 16 << 20,
        receive_timeout: Duration::from_secs(120),
        abort: Abort::default(),
        show: None,
        tap: None,
    };
    match gateway.take(round.clone(), terms) {
        Taken::Deed(deed) => deed(),
        Taken::Known(..) => panic!("the answer cannot be known"),
    }
}
