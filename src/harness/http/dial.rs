//! Connecting, in a way that a deadline and an abort end at once.

use std::io;
use std::net::IpAddr;
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

use super::network::Network;
use super::reach::{Dialled, Fault, Reach};
use super::wire::Wire;

/// Connects where no connector before it did.
#[derive(Debug)]
pub(super) struct Dial {
    pub(super) reach: Arc<Reach>,
    pub(super) network: Arc<dyn Network>,
}

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
        let reach = &self.reach;
        let dialled = Target::of(details.uri)
            .dial(reach, &self.network)
            .map(Arc::new);
        let connected = dialled.and_then(|stream| {
            reach.dialled(&stream)?;
            Ok(stream)
        });
        match connected {
            Ok(stream) => Ok(Some(Either::B(Wire::new(stream, reach.clone(), details)))),
            Err(fault) => {
                reach.failed(fault);
                Err(Error::ConnectionFailed)
            }
        }
    }
}

/// How long a connect may take that no abort can end.
const AT_ONCE: Duration = Duration::from_millis(50);

/// Where a request goes.
struct Target {
    /// A name or an address, IPv6 without brackets.
    host: String,
    port: u16,
}

impl Target {
    fn of(uri: &Uri) -> Self {
        let host = uri.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let port = uri.port_u16().unwrap_or(match uri.scheme_str() {
            Some("https") => 443,
            _ => 80,
        });
        Self {
            host: host.to_owned(),
            port,
        }
    }

    fn is_this_machine(&self) -> bool {
        let address = self.host.parse::<IpAddr>();
        address.is_ok_and(|address| address.is_loopback())
    }

    /// Connects, until the deadline or an abort.
    fn dial(self, reach: &Reach, network: &Arc<dyn Network>) -> Dialled {
        let (tell, told) = bounded(2);
        let deadline = reach.dialling(tell.clone())?;
        if self.is_this_machine() {
            // It answers or refuses at once, unless too many wait to be let in.
            match self.connect(&**network, deadline.min(after(AT_ONCE))) {
                Err(Fault::TimedOut) if Instant::now() < deadline => {}
                dialled => return dialled,
            }
        }
        // Neither a look-up nor a connect can be called off: both are made on a thread of their own,
        // which nothing waits for once the time is up or the answer is not wanted any more.
        let network = network.clone();
        let thread = Builder::new()
            .name("runvil-dial".to_owned())
            .spawn(move || {
                // Nobody may be waiting any more.
                let _ = tell.try_send(self.connect(&*network, deadline));
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

    /// Connects to the first of its addresses that answers. Each but the last has half of the time
    /// that is left.
    fn connect(&self, network: &dyn Network, deadline: Instant) -> Dialled {
        let addresses = network.look_up(&self.host);
        let addresses = addresses.map_err(|error| Fault::Unresolved(error.to_string()))?;
        let mut fault = Fault::NoAddress;
        for (at, address) in addresses.iter().enumerate() {
            let left = deadline.saturating_duration_since(Instant::now());
            let share = match at + 1 < addresses.len() {
                true => left / 2,
                false => left,
            };
            if share.is_zero() {
                return Err(Fault::TimedOut);
            }
            let connected = network.connect((*address, self.port).into(), share);
            match connected.and_then(|stream| stream.set_nodelay(true).map(|()| stream)) {
                Ok(stream) => return Ok(stream),
                Err(error) => fault = system(error),
            }
        }
        Err(fault)
    }
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
pub(in crate::harness) struct Tls(Arc<RustlsConnector>);

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

/// Says that all connectors before it have done their part.
#[derive(Debug)]
pub(super) struct Connected(pub(super) Arc<Reach>);

impl<In: Transport> Connector<In> for Connected {
    type Out = In;

    fn connect(&self, _: &ConnectionDetails, chained: Option<In>) -> Result<Option<In>, Error> {
        self.0.connected();
        Ok(chained)
    }
}

/// The instant after a span, or one that is as good as never.
pub(in crate::harness) fn after(span: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
    Instant::now() + span.min(FAR)
}
