//! Connecting, in a way that a deadline and an abort end at once.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, Instant};

use crossbeam_channel::{RecvTimeoutError, bounded};
use ureq::Error;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    ConnectionDetails, Connector, Either, NextTimeout, RustlsConnector, Transport,
};

use super::reach::{Dialled, Fault, Patience, Reach};
use super::wire::Wire;

/// Connects where no connector before it did.
#[derive(Debug)]
pub(super) struct Dial(pub(super) Arc<Reach>);

impl<In: Transport> Connector<In> for Dial {
    type Out = Either<In, Wire>;

    fn connect(
        &self,
        details: &ConnectionDetails,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, Error> {
        if let Some(chained) = chained {
            return Ok(Some(Either::A(chained)));
        }
        let dialled = Target::of(details.uri).dial(&self.0).map(Arc::new);
        let connected = dialled.and_then(|stream| {
            self.0.dialled(&stream)?;
            Ok(stream)
        });
        match connected {
            Ok(stream) => Ok(Some(Either::B(Wire::new(stream, self.0.clone(), details)))),
            Err(fault) => {
                self.0.failed(fault);
                Err(Error::ConnectionFailed)
            }
        }
    }
}

/// How long a connect may take that no abort can end.
const AT_ONCE: Duration = Duration::from_millis(50);

/// Where a request goes.
enum Target {
    Address(SocketAddr),
    Name(String, u16),
}

impl Target {
    fn of(uri: &Uri) -> Self {
        let host = uri.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let port = uri.port_u16().unwrap_or(match uri.scheme_str() {
            Some("https") => 443,
            _ => 80,
        });
        match host.parse::<IpAddr>() {
            Ok(address) => Self::Address((address, port).into()),
            Err(_) => Self::Name(host.to_owned(), port),
        }
    }

    /// Connects, until the deadline or an abort.
    fn dial(self, reach: &Reach) -> Dialled {
        let (tell, told) = bounded(2);
        reach.dialling(tell.clone())?;
        let Patience::Until(deadline) = reach.patience() else {
            return Err(Fault::TimedOut);
        };
        if let Self::Address(address) = self
            && address.ip().is_loopback()
        {
            // This machine answers or refuses at once, unless too many wait to be let in.
            match connect(&[address], deadline.min(after(AT_ONCE))) {
                Err(Fault::TimedOut) if Instant::now() < deadline => {}
                dialled => return dialled,
            }
        }
        // Neither a look-up nor a connect can be called off: both are made on a thread of their own,
        // which nothing waits for once the time is up or the round is aborted.
        let thread = Builder::new()
            .name("runvil-dial".to_owned())
            .spawn(move || {
                let found = match self {
                    Self::Address(address) => Ok(vec![address]),
                    Self::Name(host, port) => (host, port)
                        .to_socket_addrs()
                        .map(Iterator::collect)
                        .map_err(system),
                };
                let dialled = found.and_then(|addresses| connect(&addresses, deadline));
                // Nobody may be waiting any more.
                let _ = tell.try_send(dialled);
            });
        thread.map_err(system)?;
        match told.recv_deadline(deadline) {
            Ok(dialled) => dialled,
            Err(RecvTimeoutError::Timeout) => Err(Fault::TimedOut),
            Err(RecvTimeoutError::Disconnected) => {
                Err(Fault::System("the dial broke off".to_owned()))
            }
        }
    }
}

/// Connects to the first address that answers. Each but the last has half of the time that is left.
fn connect(addresses: &[SocketAddr], deadline: Instant) -> Dialled {
    let mut fault = Fault::System("the host has no address".to_owned());
    for (at, address) in addresses.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        let share = match at + 1 < addresses.len() {
            true => left / 2,
            false => left,
        };
        if share.is_zero() {
            return Err(Fault::TimedOut);
        }
        let connected = TcpStream::connect_timeout(address, share);
        match connected.and_then(|stream| stream.set_nodelay(true).map(|()| stream)) {
            Ok(stream) => return Ok(stream),
            Err(error) => fault = system(error),
        }
    }
    Err(fault)
}

/// What the operating system says of a failed call.
pub(super) fn system(error: io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Fault::TimedOut,
        _ => Fault::System(error.to_string()),
    }
}

/// No look-ups: the dial makes them, and only where there is no connection yet.
#[derive(Debug)]
pub(super) struct Unresolved;

impl Resolver for Unresolved {
    fn resolve(
        &self,
        _: &Uri,
        _: &ureq::config::Config,
        _: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        Ok(self.empty())
    }
}

/// TLS over what was dialled, one configuration for all links.
#[derive(Clone, Debug, Default)]
pub(super) struct Tls(Arc<RustlsConnector>);

impl<In: Transport> Connector<In> for Tls {
    type Out = <RustlsConnector as Connector<In>>::Out;

    fn connect(
        &self,
        details: &ConnectionDetails,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, Error> {
        self.0.connect(details, chained)
    }
}

/// The instant after a span, or one that is as good as never.
pub(super) fn after(span: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
    Instant::now() + span.min(FAR)
}
