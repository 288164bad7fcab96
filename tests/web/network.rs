//! A network in which names lead wherever a test says, and addresses to servers on this machine.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use runvil::harness::http::Network;

/// An address that everybody reaches alike.
pub const PUBLIC: &str = "1.1.1.1";

/// What a look-up of a name comes to.
#[derive(Clone, Debug)]
pub enum Found {
    /// These addresses.
    Addresses(&'static [&'static str]),
    /// It fails.
    Nothing,
    /// It takes its time, and then fails.
    Late(Duration),
}

#[derive(Debug, Default)]
struct State {
    /// What the look-ups of a name come to, one after another; the last holds on.
    names: HashMap<String, Vec<Found>>,
    servers: HashMap<SocketAddr, SocketAddr>,
    looked_up: Vec<String>,
    connected: Vec<SocketAddr>,
}

/// The network. A name it has not heard of leads to [`PUBLIC`]; clones are one.
#[derive(Clone, Debug, Default)]
pub struct FakeNetwork(Arc<Mutex<State>>);

impl FakeNetwork {
    /// Says where a name leads, look-up after look-up.
    pub fn name(&self, host: &str, found: impl Into<Vec<Found>>) {
        self.0
            .lock()
            .unwrap()
            .names
            .insert(host.to_owned(), found.into());
    }

    /// Puts a server behind an address.
    pub fn serve(&self, address: &str, port: u16, server: SocketAddr) {
        let address = SocketAddr::new(address.parse().unwrap(), port);
        self.0.lock().unwrap().servers.insert(address, server);
    }

    /// The hosts that were looked up.
    pub fn looked_up(&self) -> Vec<String> {
        self.0.lock().unwrap().looked_up.clone()
    }

    /// The addresses that were connected to, or tried.
    pub fn connected(&self) -> Vec<String> {
        let connected = &self.0.lock().unwrap().connected;
        connected.iter().map(SocketAddr::to_string).collect()
    }
}

impl Network for FakeNetwork {
    fn look_up(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let found = {
            let mut state = self.0.lock().unwrap();
            state.looked_up.push(host.to_owned());
            match state.names.get_mut(host) {
                Some(found) if found.len() > 1 => found.remove(0),
                Some(found) => found[0].clone(),
                None => match host.parse() {
                    Ok(address) => return Ok(vec![address]),
                    Err(_) => Found::Addresses(&[PUBLIC]),
                },
            }
        };
        match found {
            Found::Addresses(addresses) => {
                Ok(addresses.iter().map(|text| text.parse().unwrap()).collect())
            }
            Found::Nothing => Err(io::Error::other("SECRET words of the resolver")),
            Found::Late(wait) => {
                thread::sleep(wait);
                Err(io::ErrorKind::NotFound.into())
            }
        }
    }

    fn connect(&self, address: SocketAddr, limit: Duration) -> io::Result<TcpStream> {
        let server = {
            let mut state = self.0.lock().unwrap();
            state.connected.push(address);
            state.servers.get(&address).copied()
        };
        match server {
            Some(server) => TcpStream::connect_timeout(&server, limit),
            None => Err(io::ErrorKind::ConnectionRefused.into()),
        }
    }
}
