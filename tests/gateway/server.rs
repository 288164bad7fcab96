//! A server that does as it is told, down to the byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// What is done with a request, one after another; then the next request is waited for.
#[derive(Clone, Debug)]
pub enum Step {
    /// These bytes are sent.
    Send(Vec<u8>),
    /// These bytes are sent over and over, until the client hangs up.
    Flood(Vec<u8>),
    /// Nothing is done for a while.
    Wait(Duration),
    /// Nothing is done until the client hangs up.
    Stall,
    /// The connection is closed.
    Close,
}

/// A request as it was received.
#[derive(Clone, Debug)]
pub struct Request {
    /// The first line.
    pub line: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
    /// Which connection it came on, counted from 0.
    pub connection: usize,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(n, _)| n == name).map(|(_, value)| &**value)
    }
}

type Script = dyn Fn(usize, &Request) -> Vec<Step> + Send + Sync;

/// The server. It ends when it is dropped.
pub struct Server {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    script: Box<Script>,
    accepted: AtomicUsize,
    hung_up: AtomicUsize,
    over: AtomicBool,
    requests: Mutex<Vec<Request>>,
}

impl Server {
    /// A server that does with each request what the script says; the script is told how many came
    /// before it.
    pub fn new(script: impl Fn(usize, &Request) -> Vec<Step> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            shared: Arc::new(Shared {
                script: Box::new(script),
                accepted: AtomicUsize::new(0),
                hung_up: AtomicUsize::new(0),
                over: AtomicBool::new(false),
                requests: Mutex::default(),
            }),
        };
        let shared = server.shared.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.over.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                let connection = shared.accepted.fetch_add(1, Ordering::SeqCst);
                let shared = shared.clone();
                thread::spawn(move || serve(stream, connection, &shared));
            }
        });
        server
    }

    /// A server that does with the first request what it is told, and answers the others well.
    pub fn first(steps: Vec<Step>) -> Self {
        Self::new(move |nth, _| match nth {
            0 => steps.clone(),
            _ => vec![Step::Send(well())],
        })
    }

    /// A server that sends these bytes for every request.
    pub fn always(reply: Vec<u8>) -> Self {
        Self::new(move |_, _| vec![Step::Send(reply.clone())])
    }

    /// The URL of its base.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// How many connections were made.
    pub fn accepted(&self) -> usize {
        self.shared.accepted.load(Ordering::SeqCst)
    }

    /// How many clients hung up while it stalled or flooded them, waited for until it is so many.
    pub fn hung_up(&self, expected: usize) -> bool {
        let deadline = Instant::now() + Duration::from_secs(5);
        while Instant::now() < deadline {
            if self.shared.hung_up.load(Ordering::SeqCst) >= expected {
                return true;
            }
            thread::sleep(Duration::from_millis(5));
        }
        false
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// Waits until so many requests came.
    pub fn await_requests(&self, count: usize) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while self.requests().len() < count {
            assert!(Instant::now() < deadline, "no request came");
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(stream: TcpStream, connection: usize, shared: &Shared) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    while let Some(request) = request(&mut reader, connection) {
        let nth = {
            let mut requests = shared.requests.lock().unwrap();
            requests.push(request.clone());
            requests.len() - 1
        };
        for step in (shared.script)(nth, &request) {
            match step {
                Step::Send(bytes) => {
                    // The client may hang up on an oversized reply.
                    if writer.write_all(&bytes).is_err() {
                        return;
                    }
                }
                Step::Flood(bytes) => {
                    while writer.write_all(&bytes).is_ok() {}
                    shared.hung_up.fetch_add(1, Ordering::SeqCst);
                    return;
                }
                Step::Wait(span) => thread::sleep(span),
                Step::Stall => {
                    let mut byte = [0];
                    while matches!(reader.read(&mut byte), Ok(1..)) {}
                    shared.hung_up.fetch_add(1, Ordering::SeqCst);
                    return;
                }
                Step::Close => {
                    let _ = writer.shutdown(Shutdown::Both);
                    return;
                }
            }
        }
    }
}

/// Reads a request; none when the client hangs up.
fn request(reader: &mut impl BufRead, connection: usize) -> Option<Request> {
    let mut line = || {
        let mut line = String::new();
        let count = reader.read_line(&mut line).ok()?;
        (count > 0).then(|| line.trim_end().to_owned())
    };
    let first = line()?;
    let mut headers = Vec::new();
    loop {
        let header = line()?;
        if header.is_empty() {
            break;
        }
        let (name, value) = header.split_once(':').unwrap();
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, length)| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request {
        line: first,
        headers,
        body: String::from_utf8(body).unwrap(),
        connection,
    })
}

/// A whole reply with its length.
pub fn reply(status: &str, kind: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

/// The headers of a stream without a length.
pub const STREAM: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

/// A chunk of HTTP's transfer encoding.
pub fn chunk(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let bytes = bytes.as_ref();
    let size = format!("{:x}\r\n", bytes.len());
    [size.as_bytes(), bytes, b"\r\n"].concat()
}

/// A stream that is sent whole.
pub fn stream(body: impl AsRef<[u8]>) -> Vec<u8> {
    reply("200 OK", "text/event-stream", body)
}

/// The event of a chunk.
pub fn event(chunk: &str) -> String {
    format!("data: {chunk}\n\n")
}

/// The chunk that has a choice.
pub fn choice(inner: &str) -> String {
    format!(r#"{{"model":"m","choices":[{{"index":0,{inner}}}]}}"#)
}

/// The event of a piece of text.
pub fn text(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    event(&choice(&format!(r#""delta":{{"content":{text}}}"#)))
}

pub const DONE: &str = "data: [DONE]\n\n";

/// A good reply, `well`.
pub fn well() -> Vec<u8> {
    stream(text("well") + DONE)
}
