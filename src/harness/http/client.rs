//! Single requests, each on a connection of its own.

use std::io::Read;
use std::sync::Arc;
use std::time::Instant;

use ureq::config::Config;
use ureq::http::{HeaderMap, Request};
use ureq::{AsSendBody, BodyReader};

use super::agent;
use super::dial::Tls;
use super::network::Network;
use super::reach::{Fault, Patience, Reach};
use crate::harness::model::Abort;

/// Sends requests, and follows nothing.
#[derive(Debug)]
pub(in crate::harness) struct Client {
    config: Config,
    tls: Tls,
    network: Arc<dyn Network>,
}

/// How long a request may take.
#[derive(Clone, Copy, Debug)]
pub(in crate::harness) struct Limits {
    /// Until when there must be a connection, TLS and all.
    pub(in crate::harness) connect_by: Instant,
    /// Until when the whole reply must have come.
    pub(in crate::harness) reply_by: Instant,
}

/// A reply whose headers have come. Dropping it ends its connection.
pub(in crate::harness) struct Incoming {
    pub(in crate::harness) status: u16,
    pub(in crate::harness) headers: HeaderMap,
    /// How long the body is, where that was declared.
    pub(in crate::harness) length: Option<u64>,
    body: BodyReader<'static>,
    reach: Arc<Reach>,
    abort: Abort,
}

impl Client {
    /// A client with the settings of a configuration, but for what goes without saying: redirects
    /// are not followed, no status is an error, nothing is unpacked, and no connection is kept.
    pub(in crate::harness) fn new(
        config: ureq::config::ConfigBuilder<ureq::typestate::AgentScope>,
        network: Arc<dyn Network>,
    ) -> Self {
        let config = config
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(0)
            .build();
        Self {
            config,
            tls: Tls::default(),
            network,
        }
    }

    /// Sends a request and waits for the headers of its reply.
    ///
    /// # Errors
    /// What went wrong with the connection, or with what came over it.
    pub(in crate::harness) fn send(
        &self,
        request: Request<impl AsSendBody>,
        limits: Limits,
        abort: &Abort,
    ) -> Result<Incoming, Fault> {
        let reach = Arc::<Reach>::default();
        let agent = agent(self.config.clone(), &self.tls, self.network.clone(), &reach);
        reach.begin(limits.connect_by, limits.reply_by, abort);
        let response = agent.run(request).map_err(|error| {
            abort.clear();
            let fault = reach.fault();
            fault.unwrap_or_else(|| Fault::System(error.to_string()))
        })?;
        reach.set_patience(Patience::Until(limits.reply_by));
        let (parts, body) = response.into_parts();
        Ok(Incoming {
            status: parts.status.as_u16(),
            headers: parts.headers,
            length: body.content_length(),
            body: body.into_reader(),
            reach,
            abort: abort.clone(),
        })
    }
}

impl Read for Incoming {
    /// The next bytes of the body. A connection that breaks is an error even where it looks like
    /// the body's end.
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        // What frames the body is bounded between two of its pieces.
        self.reach.wants_piece();
        let count = self.body.read(buffer)?;
        match self.reach.fault() {
            Some(fault) if count == 0 => Err(std::io::Error::other(format!("{fault:?}"))),
            _ => Ok(count),
        }
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        self.abort.clear();
        self.reach.end();
    }
}
