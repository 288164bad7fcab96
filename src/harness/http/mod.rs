//! HTTP over connections that a deadline and an abort end at once: what the model gateway, the
//! fetch tool and the search providers share.

mod client;
mod dial;
mod network;
mod reach;
mod wire;

pub use network::{Network, SystemNetwork};

pub(super) use client::{Client, Incoming, Limits};
pub(super) use dial::{Tls, after};
pub(super) use reach::{Fault, Patience, Reach};

use std::sync::Arc;

use ureq::Agent;
use ureq::config::Config;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::transport::{ConnectProxyConnector, Connector};

use dial::{Connected, Dial, Unresolved};

/// An agent that connects through a network, in reach of whoever ends a use of it, and through the
/// proxy of its configuration where that has one.
pub(super) fn agent(
    config: Config,
    tls: &Tls,
    network: Arc<dyn Network>,
    reach: &Arc<Reach>,
) -> Agent {
    let dial = Dial {
        reach: reach.clone(),
        network,
    };
    let connected = Connected(reach.clone());
    match config.proxy() {
        None => {
            let connector = ().chain(dial).chain(tls.clone()).chain(connected);
            Agent::with_parts(config, connector, Unresolved)
        }
        Some(_) => {
            let proxied = ().chain(ConnectProxyConnector::default());
            let connector = proxied.chain(dial).chain(tls.clone()).chain(connected);
            Agent::with_parts(config, connector, Unresolved)
        }
    }
}

/// TLS that trusts the certificates that these (DER) vouch for, else the ones that the web trusts.
pub(super) fn trusting(roots: Option<&[Vec<u8>]>) -> TlsConfig {
    let mut tls = TlsConfig::builder();
    if let Some(roots) = roots {
        let roots = roots
            .iter()
            .map(|root| Certificate::from_der(root).to_owned());
        tls = tls.root_certs(RootCerts::Specific(Arc::new(roots.collect())));
    }
    tls.build()
}
