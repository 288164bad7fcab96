//! The same over TLS.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use runvil::engine::model::FailureClass;
use runvil::harness::gateway::{Connection, Gateway};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::ask::{LONG, SHORT, ask, goes_on, perform, round, terms};
use crate::server::{STREAM, chunk, text, well};

/// A server with a certificate for a name, which it vouches for itself.
struct Server {
    address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    certificate: Vec<u8>,
}

impl Server {
    /// Serves a connection with what `serve` does.
    fn new(name: &str, serve: fn(&mut dyn ReadWrite)) -> Self {
        let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        let certificate = made.cert.der().clone();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(default_provider().into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .unwrap();
        let config = Arc::new(config);
        let (address, accepted) = listen(move |stream| {
            let connection = ServerConnection::new(config.clone()).unwrap();
            serve(&mut StreamOwned::new(connection, stream));
        });
        Self {
            address,
            accepted,
            certificate: certificate.to_vec(),
        }
    }

    fn gateway(&self) -> Gateway {
        let url = format!("https://localhost:{}/v1", self.address.port());
        Gateway::new(Connection::new(&url, None).unwrap(), BTreeMap::new()).unwrap()
    }

    fn trusting(&self) -> Gateway {
        self.gateway()
            .with_roots(std::slice::from_ref(&self.certificate))
    }

    fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}

/// Accepts connections for as long as the process lives, each served on a thread of its own.
fn listen(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> (SocketAddr, Arc<AtomicUsize>) {
    // The name may stand for either of the two.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let accepted = Arc::<AtomicUsize>::default();
    let (count, serve) = (accepted.clone(), Arc::new(serve));
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            count.fetch_add(1, Ordering::SeqCst);
            let serve = serve.clone();
            thread::spawn(move || serve(stream));
        }
    });
    (address, accepted)
}

/// Reads a request; whether there was one.
fn has_request(stream: &mut dyn ReadWrite) -> bool {
    let mut seen = Vec::new();
    let mut piece = [0; 4096];
    while !seen.ends_with(b"}}") {
        match stream.read(&mut piece) {
            Ok(count @ 1..) => seen.extend_from_slice(&piece[..count]),
            _ => return false,
        }
    }
    true
}

fn answers(stream: &mut dyn ReadWrite) {
    while has_request(stream) && stream.write_all(&well()).is_ok() && stream.flush().is_ok() {}
}

fn stalls_in_the_body(stream: &mut dyn ReadWrite) {
    if has_request(stream) {
        let part = [STREAM.as_bytes(), &chunk(text("part"))].concat();
        stream.write_all(&part).unwrap();
        stream.flush().unwrap();
        has_request(stream);
    }
}

#[test]
fn a_trusted_server_answers_on_one_connection() {
    let server = Server::new("localhost", answers);
    let gateway = server.trusting();
    for _ in 0..3 {
        goes_on(&gateway);
    }
    assert_eq!(server.accepted(), 1);
}

#[test]
fn an_untrusted_certificate_is_a_failed_connection_in_the_librarys_words() {
    let server = Server::new("localhost", answers);
    let failure = ask(&server.gateway()).expect_err("untrusted");
    assert_eq!(failure.class, FailureClass::Connection);
    assert_eq!(
        failure.message,
        "the connection to the model backend failed"
    );
    let cause = failure.cause.expect("the library says why");
    assert_eq!(cause, "invalid peer certificate: UnknownIssuer");
}

#[test]
fn a_certificate_for_another_name_is_not_quoted() {
    let server = Server::new("secret.example", answers);
    let failure = ask(&server.trusting()).expect_err("another name");
    assert_eq!(failure.class, FailureClass::Connection);
    assert!(!format!("{failure:?}").contains("secret"), "{failure:?}");
    let cause = failure.cause.expect("the library says why");
    assert!(cause.starts_with("invalid peer certificate: "), "{cause}");
}

#[test]
fn a_server_without_tls_is_a_failed_connection() {
    let server = crate::server::Server::always(well());
    let (address, _) = listen(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 400 SECRET\r\n\r\n");
        let _ = stream.read(&mut [0; 4096]);
    });
    for address in [address, server.address] {
        let url = format!("https://{address}");
        let gateway = Gateway::new(Connection::new(&url, None).unwrap(), BTreeMap::new()).unwrap();
        let terms = terms(SHORT);
        let failure = perform(&gateway, round(), terms).expect_err("no TLS");
        assert!(!format!("{failure:?}").contains("SECRET"));
        assert!(matches!(
            failure.class,
            FailureClass::Connection | FailureClass::Timeout
        ));
    }
}

#[test]
fn limits_and_aborts_hold_within_tls() {
    let (silent, _) = listen(|mut stream| while matches!(stream.read(&mut [0; 4096]), Ok(1..)) {});
    let url = format!("https://localhost:{}", silent.port());
    let in_handshake = Gateway::new(Connection::new(&url, None).unwrap(), BTreeMap::new()).unwrap();
    let server = Server::new("localhost", stalls_in_the_body);
    for gateway in [in_handshake, server.trusting()] {
        let began = Instant::now();
        let failure = perform(&gateway, round(), terms(SHORT)).expect_err("silent");
        assert_eq!(
            (failure.class, failure.cause),
            (FailureClass::Timeout, None)
        );
        assert!(began.elapsed() >= SHORT);

        let terms = terms(LONG);
        let abort = terms.abort.clone();
        let round = thread::spawn(move || perform(&gateway, round(), terms));
        thread::sleep(SHORT);
        assert!(!round.is_finished());
        let aborted = Instant::now();
        abort.abort();
        round.join().unwrap().expect_err("aborted");
        assert!(aborted.elapsed().as_millis() < 250);
    }
}
