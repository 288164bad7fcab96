//! The model gateway's client: chat completions over HTTP, as OpenAI's interface has them (spec
//! part 05, sections 10 and 11).

mod calls;
mod catalog;
mod chunk;
mod completion;
mod connection;
mod exchange;
mod lines;
mod links;
mod many;
mod metadata;
mod offered;
mod proxy;
mod raw;
mod request;
mod round;

pub use catalog::{CatalogError, Fetched, Unlisted, current_model};
pub use chunk::Form;
pub use completion::{Completion, Decoded};
pub use connection::{Connection, ConnectionError};

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::model::{Broker, Taken, Terms};
use crate::engine::model::Round;
use links::Links;
use offered::OfferedTools;

/// The client of a model gateway. It may serve several runs at once; each round in flight has a
/// connection of its own, and connections are used again. Clones share them.
#[derive(Clone)]
pub struct Gateway {
    connection: Connection,
    wire_names: Arc<BTreeMap<Arc<str>, String>>,
    links: Arc<Links>,
    offered: Arc<OfferedTools>,
    detail: Option<Detail>,
}

/// The body that asks a gateway for a round under the model's own id, where none is there to be
/// asked.
pub(super) fn request_body(round: &Round) -> Result<Vec<u8>, serde_json::Error> {
    request::body(round, &round.model, &OfferedTools::default())
}

type Detail = Arc<dyn Fn(u64, &str) + Send + Sync>;

impl Gateway {
    /// The URL that requests go below.
    pub fn base(&self) -> &str {
        self.connection.base()
    }

    /// A client for a gateway. `wire_names` has the names by which the gateway knows models whose
    /// catalog id is another (spec C9). Nothing is connected yet.
    ///
    /// Requests go through the proxy that the environment names, but never to this machine.
    ///
    /// # Errors
    /// [`ConnectionError::Proxy`]: the environment names a proxy that cannot be used.
    pub fn new(
        connection: Connection,
        wire_names: BTreeMap<Arc<str>, String>,
    ) -> Result<Self, ConnectionError> {
        let proxy = match connection.is_loopback() {
            true => None,
            false => proxy::from_environment(connection.completions())?,
        };
        Ok(Self {
            links: Arc::new(Links::new(proxy, None)),
            offered: Arc::default(),
            connection,
            wire_names: Arc::new(wire_names),
            detail: None,
        })
    }

    /// The same with a function that sees what failed replies said, for a Host's log alone: the
    /// round, and the beginning of the body (spec M73).
    pub fn with_detail(self, detail: Detail) -> Self {
        Self {
            detail: Some(detail),
            ..self
        }
    }

    /// The same, trusting the certificates that these (DER) vouch for, in place of the ones that
    /// the web trusts.
    pub fn with_roots(self, roots: &[Vec<u8>]) -> Self {
        Self {
            links: Arc::new(Links::new(self.links.proxy(), Some(roots))),
            ..self
        }
    }
}

impl Broker for Gateway {
    fn take(&self, round: Arc<Round>, terms: Terms) -> Taken {
        let gateway = self.clone();
        let Some(tap) = &terms.tap else {
            return Taken::Deed(Box::new(move || {
                gateway.perform(round.round, gateway.body(&round)?, &terms)
            }));
        };
        // The Host is shown the body now, so it is made now.
        let body = self.body(&round);
        if let Some(key) = self.connection.key() {
            tap.conceal(key);
        }
        if let Ok(body) = &body {
            tap.request(body.clone());
        }
        Taken::Deed(Box::new(move || {
            gateway.perform(round.round, body?, &terms)
        }))
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway")
            .field("connection", &self.connection)
            .field("wire_names", &self.wire_names)
            .finish_non_exhaustive()
    }
}
