//! The links to a gateway: each is a ureq agent that keeps one connection, and serves one round at
//! a time.

use std::io::Read;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ureq::config::{AutoHeaderValue, Config};
use ureq::http::{Request, Response};
use ureq::{Agent, Body, BodyReader, Error, Proxy};

use super::exchange::{Exchange, aborted, failure};
use crate::engine::model::ModelFailure;
use crate::harness::http::{Network, Patience, Reach, SystemNetwork, Tls, after, agent, trusting};
use crate::harness::model::{Abort, Terms};

/// How many links are kept for later, and for how long.
const KEPT: usize = 256;
const KEPT_FOR: Duration = Duration::from_secs(60);
/// What a connection reads and writes at a time.
const INPUT: usize = 64 << 10;
const OUTPUT: usize = 16 << 10;
/// How long what follows a reply's last words is read to use its connection again. It is all there
/// already, so this is plenty.
const AT_HAND: Duration = Duration::from_millis(50);

/// The links that wait for work, the one used last at the end.
#[derive(Debug)]
pub(super) struct Links {
    config: Config,
    tls: Tls,
    network: Arc<dyn Network>,
    idle: Mutex<Vec<(Instant, Link)>>,
}

/// A link.
pub(super) struct Link {
    agent: Agent,
    reach: Arc<Reach>,
    /// What is left of the last reply, where its end had not arrived with its last words.
    rest: Option<BodyReader<'static>>,
    /// Where replies are read into.
    pub(super) buffer: Vec<u8>,
}

impl Links {
    /// Links that go through a proxy, where there is one. `roots` (DER) replace the certificates that
    /// the web trusts.
    pub(super) fn new(proxy: Option<Proxy>, roots: Option<&[Vec<u8>]>) -> Self {
        let config = Agent::config_builder()
            .proxy(proxy)
            .tls_config(trusting(roots))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("runvil/", env!("CARGO_PKG_VERSION")))
            .accept("text/event-stream, application/json")
            .accept_encoding(AutoHeaderValue::None)
            .input_buffer_size(INPUT)
            .output_buffer_size(OUTPUT)
            .max_idle_connections(1)
            .max_idle_connections_per_host(1)
            .max_idle_age(KEPT_FOR)
            .build();
        Self {
            config,
            tls: Tls::default(),
            network: Arc::new(SystemNetwork),
            idle: Mutex::default(),
        }
    }

    /// The proxy that they go through.
    pub(super) fn proxy(&self) -> Option<Proxy> {
        self.config.proxy().cloned()
    }

    /// Sends a request and waits for the headers of its reply, on a connection that is kept from
    /// an earlier one where there is one. If the gateway has closed that, a fresh one is made.
    pub(super) fn send(
        &self,
        request: &Request<Vec<u8>>,
        terms: &Terms,
    ) -> Result<Exchange<'_>, ModelFailure> {
        let deadline = after(terms.receive_timeout);
        let (mut link, mut is_kept) = match self.kept() {
            Some(link) => (link, true),
            None => (self.fresh(), false),
        };
        loop {
            if terms.abort.is_aborted() {
                return Err(aborted());
            }
            let error = match link.ask(request, deadline, &terms.abort) {
                Ok(response) => return Ok(Exchange::new(self, link, response, terms)),
                Err(error) => error,
            };
            let is_stale = is_kept && link.reach.met_a_stale_one();
            link.reach.end();
            if !is_stale {
                terms.abort.clear();
                return Err(failure(&link.reach, &error));
            }
            (link, is_kept) = (self.fresh(), false);
        }
    }

    fn fresh(&self) -> Link {
        let reach = Arc::<Reach>::default();
        let agent = agent(self.config.clone(), &self.tls, self.network.clone(), &reach);
        Link {
            agent,
            reach,
            rest: None,
            buffer: Vec::new(),
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(Instant, Link)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The link that was used last, of those that can be used again. Those that cannot are closed.
    fn kept(&self) -> Option<Link> {
        let until = Instant::now() + AT_HAND;
        loop {
            // Other rounds take links while this one is looked at.
            let (since, mut link) = self.idle().pop()?;
            if since.elapsed() < KEPT_FOR && link.drain(until) == Drained::Whole {
                return Some(link);
            }
        }
    }

    /// Keeps a link for later.
    pub(super) fn keep(&self, link: Link) {
        let mut idle = self.idle();
        idle.push((Instant::now(), link));
        if idle.len() > KEPT {
            idle.remove(0);
        }
    }
}

impl Link {
    fn ask(
        &mut self,
        request: &Request<Vec<u8>>,
        deadline: Instant,
        abort: &Abort,
    ) -> Result<Response<Body>, Error> {
        self.reach.begin(deadline, deadline, abort);
        match request.body().as_slice() {
            [] => self.agent.run(carrying(request, ())),
            body => self.agent.run(carrying(request, body)),
        }
    }

    /// Leaves the link with what may be left of a reply after its last words. Whether the link can
    /// be kept.
    pub(super) fn leave(&mut self, rest: BodyReader<'static>) -> bool {
        self.rest = Some(rest);
        // Where the end is here it is taken now, while it is at hand.
        self.drain(Instant::now() + AT_HAND) != Drained::Broken
    }

    /// Takes what is left of the last reply, as far as it is here, and as far as patience goes.
    fn drain(&mut self, until: Instant) -> Drained {
        let Some(rest) = &mut self.rest else {
            return Drained::Whole;
        };
        self.reach.set_patience(Patience::AtHand(until));
        loop {
            match rest.read(&mut self.buffer) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    return Drained::Part;
                }
                Err(_) => return Drained::Broken,
            }
        }
        self.rest = None;
        Drained::Whole
    }

    pub(super) fn reach(&self) -> &Arc<Reach> {
        &self.reach
    }
}

/// A request with another body.
fn carrying<B>(request: &Request<Vec<u8>>, body: B) -> Request<B> {
    let mut carrying = Request::new(body);
    *carrying.method_mut() = request.method().clone();
    *carrying.uri_mut() = request.uri().clone();
    *carrying.headers_mut() = request.headers().clone();
    carrying
}

/// How far what was left of a reply has been taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Drained {
    Whole,
    Part,
    Broken,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").finish_non_exhaustive()
    }
}
