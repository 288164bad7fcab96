//! The proxy that the environment names (spec M74).

use std::env;
use std::ffi::OsString;

use ureq::http::Uri;
use ureq::{Proxy, ProxyProtocol};

use super::ConnectionError;

/// The variables that may name one, the first that is set before the others: ureq's, in its order.
const VARIABLES: [&str; 6] = [
    "ALL_PROXY",
    "all_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
];

/// The proxy for what goes to a URL, where the environment names one and does not except the host.
///
/// # Errors
/// One is named that cannot be used: ureq would go past it.
pub(super) fn from_environment(uri: &Uri) -> Result<Option<Proxy>, ConnectionError> {
    match unsupported(uri, |name| env::var_os(name)) {
        Some(variable) => Err(ConnectionError::Proxy(variable)),
        None => Ok(Proxy::try_from_env().filter(|proxy| !proxy.is_no_proxy(uri))),
    }
}

/// The variable whose proxy would be used for a URL, if it could be.
fn unsupported(uri: &Uri, variable: impl Fn(&str) -> Option<OsString>) -> Option<&'static str> {
    let set =
        |name: &str| variable(name).filter(|value| !value.to_string_lossy().trim().is_empty());
    let mut all = VARIABLES.into_iter();
    let (name, value) = all.find_map(|name| Some((name, set(name)?)))?;
    let proxy = value.to_str().and_then(|value| Proxy::new(value).ok());
    let is_supported = proxy.is_some_and(|proxy| {
        let protocol = proxy.protocol();
        let is_http = matches!(protocol, ProxyProtocol::Http | ProxyProtocol::Https);
        is_http && has_port_or_none(proxy.uri())
    });
    let exceptions = ["NO_PROXY", "no_proxy"].into_iter().find_map(&variable);
    (!is_supported && !is_excepted(uri, exceptions)).then_some(name)
}

/// Whether what may stand for a port is one: of another ureq would take the usual port.
fn has_port_or_none(uri: &Uri) -> bool {
    uri.authority().is_some_and(|authority| {
        let place = authority.as_str().rsplit('@').next();
        place == Some(authority.host()) || authority.port_u16().is_some()
    })
}

/// Whether a host is one of those that no proxy is asked for, as ureq reads their list.
fn is_excepted(uri: &Uri, exceptions: Option<OsString>) -> bool {
    let exceptions = exceptions.and_then(|list| list.into_string().ok());
    let any = Proxy::builder(ProxyProtocol::Http);
    let mut entries = exceptions.iter().flat_map(|list| list.split(','));
    let any = entries.try_fold(any, |any, entry| Some(any.no_proxy(entry)));
    any.and_then(|any| any.build().ok())
        .is_some_and(|any| any.is_no_proxy(uri))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(uri: &'static str, set: &[(&str, &str)]) -> Option<&'static str> {
        unsupported(&Uri::from_static(uri), |name| {
            let mut found = set.iter().filter(|(set, _)| *set == name);
            found.next().map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn a_proxy_that_cannot_be_used_is_told_of() {
        // spec M74
        let away = "https://models.example/v1";
        for good in [
            "http://p",
            "https://u:s@p:1",
            "HTTP://p:80/",
            "p:3128",
            "p",
            "http://[::1]:80",
            "http://u@[::1]",
            "",
            " ",
        ] {
            assert_eq!(of(away, &[("HTTPS_PROXY", good)]), None, "{good}");
        }
        for bad in [
            "socks5://p",
            "socks://p",
            "socks4a://p:1",
            "foo://p",
            "http://",
            "h t",
            "http://p:x",
            "http://p:65536",
            "http://u:%ff@p",
        ] {
            assert_eq!(
                of(away, &[("http_proxy", bad)]),
                Some("http_proxy"),
                "{bad}"
            );
            let set = [("ALL_PROXY", bad), ("HTTP_PROXY", "http://p")];
            assert_eq!(of(away, &set), Some("ALL_PROXY"), "the first counts");
            let set = [("ALL_PROXY", ""), ("HTTPS_PROXY", "p"), ("HTTP_PROXY", bad)];
            assert_eq!(of(away, &set), None, "the first that is set counts");
            for (except, expected) in [
                ("models.example", None),
                ("a,*.example", None),
                ("*", None),
                ("example", Some("ALL_PROXY")),
                ("", Some("ALL_PROXY")),
            ] {
                let set = [("ALL_PROXY", bad), ("no_proxy", except)];
                assert_eq!(of(away, &set), expected, "{except}");
            }
        }
    }
}
