//! The web unit of a host, as its configuration has it (spec T129, T141, T160).

use std::ffi::OsString;
use std::sync::Arc;

use runvil::harness::unit::{SEARCH_PROVIDER, Unbuilt};
use runvil::harness::web::search::{Brave, HttpSearch, SearchProvider, SearchSetupError, Searxng};
use runvil::harness::web::{FetchPolicy, Web};
use runvil::harness::{Harness, Log};

use super::config::{Config, Fetch, Provider, SearchEntry};

/// Adds the web unit, or why there is none. From here on what is amiss goes to `log`: a host that
/// was never told of a search lacks nothing that is worth a line at each run.
pub fn add(
    harness: Harness,
    log: Log,
    config: &Config,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Harness {
    let Some(search) = &config.search else {
        let reason = format!("web needs {SEARCH_PROVIDER}, and this host provides none");
        return harness.with_unit(unbuilt(&reason)).with_log(log);
    };
    let harness = harness.with_log(log);
    match provider(&search.0.0, variable) {
        Ok(provider) => harness.with_web(Web::new(policy(&config.fetch), provider)),
        Err(reason) => harness.with_unit(unbuilt(&reason)),
    }
}

fn unbuilt(reason: &str) -> Unbuilt {
    Unbuilt::built_in("web", reason).needing([SEARCH_PROVIDER.to_owned()])
}

/// What a fetch may do.
fn policy(fetch: &Fetch) -> FetchPolicy {
    let mut policy = FetchPolicy::default();
    if let Some(schemes) = &fetch.schemes {
        policy.schemes = schemes
            .0
            .0
            .iter()
            .map(|one| one.name().to_owned())
            .collect();
    }
    if let Some(ports) = &fetch.ports {
        policy.ports = ports.0.0.iter().map(|port| port.get()).collect();
    }
    if let Some(most) = fetch.max_redirects {
        policy.max_redirects = most;
    }
    if let Some(most) = fetch.max_bytes {
        policy.max_bytes = most.size();
    }
    if let Some(most) = fetch.max_chars {
        policy.max_chars = usize::try_from(most.get()).unwrap_or(usize::MAX);
    }
    if let Some(limit) = &fetch.connect_timeout {
        policy.connect_limit = limit.0.0;
    }
    if let Some(limit) = &fetch.total_timeout {
        policy.total_limit = limit.0.0;
    }
    if fetch.allow_private {
        policy.addresses = policy.addresses.with_private();
        policy.ip_literals = true;
    }
    policy
}

/// The provider of searches; the error is why there is none.
fn provider(
    entry: &SearchEntry,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Arc<dyn SearchProvider>, String> {
    let token = match &entry.token_env {
        Some(name) => Some(token(name.as_str(), variable)?),
        None => None,
    };
    let (url, token) = (entry.url.as_deref(), token.as_deref());
    let refused = |error: SearchSetupError| error.to_string();
    Ok(match entry.provider {
        Provider::Searxng => Arc::new(Searxng::new(url.unwrap_or_default()).map_err(refused)?),
        Provider::Brave => {
            let (url, key) = (url.unwrap_or(Brave::URL), token.unwrap_or_default());
            Arc::new(Brave::new(url, key).map_err(refused)?)
        }
        Provider::Http => {
            Arc::new(HttpSearch::new(url.unwrap_or_default(), token).map_err(refused)?)
        }
    })
}

/// A token, out of its variable.
fn token(name: &str, variable: impl Fn(&str) -> Option<OsString>) -> Result<String, String> {
    match variable(name).filter(|value| !value.is_empty()) {
        None => Err(format!("environment variable {name} is not set")),
        Some(value) => value
            .into_string()
            .map_err(|_| format!("environment variable is set but not valid Unicode: {name}")),
    }
}
