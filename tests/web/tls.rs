//! Certificates, and TLS before a plain server.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use rustls::crypto::ring::default_provider;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// TLS in front of a plain server, one request for each connection.
pub struct Front {
    pub address: SocketAddr,
    pub certificate: Vec<u8>,
}

impl Front {
    /// Stands before a server under these names, for as long as the process lives.
    pub fn new(names: &[&str], server: SocketAddr) -> Self {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        let certificate = made.cert.der().clone();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(default_provider().into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .unwrap();
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let config = config.clone();
                thread::spawn(move || {
                    let connection = ServerConnection::new(config).unwrap();
                    pass(StreamOwned::new(connection, stream), server);
                });
            }
        });
        Self {
            address,
            certificate: certificate.to_vec(),
        }
    }
}

/// Passes a request on, and the reply back.
fn pass(mut client: StreamOwned<ServerConnection, TcpStream>, server: SocketAddr) {
    let mut seen = Vec::new();
    let mut piece = [0; 4096];
    while !seen.ends_with(b"\r\n\r\n") {
        match client.read(&mut piece) {
            Ok(count @ 1..) => seen.extend_from_slice(&piece[..count]),
            _ => return,
        }
    }
    let mut server = TcpStream::connect(server).unwrap();
    server.write_all(&seen).unwrap();
    server.shutdown(Shutdown::Write).unwrap();
    loop {
        match server.read(&mut piece) {
            Ok(count @ 1..) => {
                if client.write_all(&piece[..count]).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            _ => break,
        }
    }
    client.conn.send_close_notify();
    let _ = client.flush();
}
