//! Where names lead, and how to get there.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Looks names up and connects: all that a request needs of the network beneath it.
pub trait Network: fmt::Debug + Send + Sync {
    /// The addresses of a host, which is a name or an address itself, IPv6 without brackets.
    ///
    /// # Errors
    /// The look-up failed.
    fn look_up(&self, host: &str) -> io::Result<Vec<IpAddr>>;

    /// Connects to an address, and takes no longer than `limit`.
    ///
    /// # Errors
    /// There is no connection.
    fn connect(&self, address: SocketAddr, limit: Duration) -> io::Result<TcpStream>;
}

/// The network that the operating system knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemNetwork;

impl Network for SystemNetwork {
    fn look_up(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let found = (host, 0).to_socket_addrs()?;
        Ok(found.map(|address| address.ip()).collect())
    }

    fn connect(&self, address: SocketAddr, limit: Duration) -> io::Result<TcpStream> {
        TcpStream::connect_timeout(&address, limit)
    }
}
