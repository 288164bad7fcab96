//! What a fetch may do (spec T141, T142).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use url::{Host, Url};

use super::address::{AddressRange, embedded, is_blocked};
use super::fetch_failure::Refusal;
use crate::harness::http::{Network, SystemNetwork};

/// What a fetch may do. A prompt can only ask for less (spec T141).
#[derive(Clone, Debug)]
pub struct FetchPolicy {
    /// The schemes of URLs, in lower case.
    pub schemes: Vec<String>,
    /// The ports of URLs.
    pub ports: Vec<u16>,
    /// Whether a URL's host may be an address and not only a name. It is checked like the address
    /// of a name.
    pub ip_literals: bool,
    /// The addresses to connect to.
    pub addresses: Addresses,
    /// How many redirects are followed.
    pub max_redirects: u32,
    /// The most bytes of a body, unpacked.
    pub max_bytes: usize,
    /// The most characters of a result's content.
    pub max_chars: usize,
    /// How long a connection may take to be made, TLS and all, for each request.
    pub connect_limit: Duration,
    /// How long all may take, redirects and all.
    pub total_limit: Duration,
    /// What the request says of who asks; it must be fit for a header.
    pub user_agent: String,
    /// Where names lead, and how to get there. Every address is checked between the two.
    pub network: Arc<dyn Network>,
    /// The certificates (DER) to trust in place of those that the web trusts.
    pub roots: Option<Vec<Vec<u8>>>,
}

/// The addresses that a fetch may connect to: those that everybody reaches alike, less some, and
/// some more (spec T141, T145).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    /// Those that are blocked whatever else holds.
    pub blocked: Vec<AddressRange>,
    /// Those that are allowed though they are blocked as ranges.
    pub excepted: Vec<AddressRange>,
}

impl Default for FetchPolicy {
    /// The policy of spec T141, on the system's network.
    fn default() -> Self {
        Self {
            schemes: vec!["https".to_owned()],
            ports: vec![80, 443],
            ip_literals: false,
            addresses: Addresses::default(),
            max_redirects: 5,
            max_bytes: 8 << 20,
            max_chars: 40_000,
            connect_limit: Duration::from_secs(5),
            total_limit: Duration::from_secs(20),
            user_agent: "harness-webfetch/0.0".to_owned(),
            network: Arc::new(SystemNetwork),
            roots: None,
        }
    }
}

impl FetchPolicy {
    /// Reads a URL and admits it, its fragment dropped (spec T142).
    pub(super) fn admit(&self, url: &str) -> Result<Url, Refusal> {
        let url = Url::parse(url).map_err(|_| Refusal::Invalid)?;
        self.check(&url)?;
        Ok(unfragmented(url))
    }

    /// The first rule that a URL breaks (spec T142).
    pub(super) fn check(&self, url: &Url) -> Result<(), Refusal> {
        if !self.schemes.iter().any(|scheme| scheme == url.scheme()) {
            return Err(Refusal::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::Userinfo);
        }
        let port = url.port_or_known_default().ok_or(Refusal::Invalid)?;
        if !self.ports.contains(&port) {
            return Err(Refusal::Port(port));
        }
        let address: IpAddr = match url.host() {
            Some(Host::Domain(_)) => return Ok(()),
            Some(Host::Ipv4(address)) => address.into(),
            Some(Host::Ipv6(address)) => address.into(),
            None => return Err(Refusal::Invalid),
        };
        match self.ip_literals {
            true => Ok(()),
            false => Err(Refusal::IpLiteral(address)),
        }
    }
}

/// A URL without its fragment.
pub(super) fn unfragmented(mut url: Url) -> Url {
    url.set_fragment(None);
    url
}

impl Addresses {
    /// With the addresses of this machine and of private networks excepted; not those of a link,
    /// which have a cloud's secrets behind them.
    pub fn with_private(mut self) -> Self {
        let v4 = [
            ([10, 0, 0, 0], 8),
            ([127, 0, 0, 0], 8),
            ([172, 16, 0, 0], 12),
            ([192, 168, 0, 0], 16),
        ];
        let v4 = v4.map(|(first, bits)| (IpAddr::V4(Ipv4Addr::from(first)), bits));
        let unique_local = Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0);
        let v6 = [(Ipv6Addr::LOCALHOST.into(), 128), (unique_local.into(), 7)];
        let ranges = v4.into_iter().chain(v6);
        let ranges = ranges.filter_map(|(first, bits)| AddressRange::new(first, bits));
        self.excepted.extend(ranges);
        self
    }

    /// Whether an address may be connected to. One with an IPv4 address within is judged by that
    /// one too (spec T145).
    pub fn allow(&self, address: IpAddr) -> bool {
        let within = |ranges: &[AddressRange]| ranges.iter().any(|range| range.contains(address));
        let embedded_is_allowed =
            || embedded(address).is_none_or(|embedded| self.allow(embedded.into()));
        !within(&self.blocked)
            && (within(&self.excepted) || !is_blocked(address))
            && embedded_is_allowed()
    }
}

/// A network of which only the allowed addresses are seen (spec T144): what a look-up finds and what
/// is connected to is one and the same, so that a name which means another address the next time
/// gains nothing.
#[derive(Debug)]
pub(super) struct Guarded {
    pub(super) network: Arc<dyn Network>,
    pub(super) addresses: Addresses,
}

impl Network for Guarded {
    fn look_up(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let mut found = self.network.look_up(host)?;
        found.retain(|address| self.addresses.allow(*address));
        Ok(found)
    }

    fn connect(&self, address: SocketAddr, limit: Duration) -> io::Result<TcpStream> {
        self.network.connect(address, limit)
    }
}
