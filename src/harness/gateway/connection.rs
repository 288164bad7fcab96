//! Where the gateway is, and the key it takes (spec M74).

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use ureq::http::{HeaderValue, Uri};

/// What stands before the key in its header.
const SCHEME: &str = "Bearer ";

/// Where the gateway is, and the key it takes.
#[derive(Clone)]
pub struct Connection {
    base: String,
    completions: Uri,
    models: Uri,
    authorization: Option<HeaderValue>,
    loopback: bool,
}

impl Connection {
    /// A connection to the gateway at a URL, with a key or none; an empty key counts as none. A
    /// trailing `/` of the URL is dropped (spec M74).
    ///
    /// # Errors
    /// A URL that breaks one of spec M74's rules, or a key that no header can hold.
    pub fn new(url: &str, key: Option<&str>) -> Result<Self, ConnectionError> {
        let url = url.trim_ascii();
        let host = host(url)?;
        let base = url.trim_end_matches('/').to_owned();
        let uri = |path: &str| {
            let uri = Uri::try_from(format!("{base}{path}"));
            uri.map_err(|_| ConnectionError::Invalid(shown(url)))
        };
        let authorization = key.filter(|key| !key.is_empty()).map(authorization);
        Ok(Self {
            completions: uri("/chat/completions")?,
            models: uri("/models")?,
            authorization: authorization.transpose()?,
            loopback: host.is_loopback(),
            base,
        })
    }

    /// Whether the host is this machine, which needs no key: `localhost`, `127.0.0.1` or `::1`.
    pub fn is_loopback(&self) -> bool {
        self.loopback
    }

    /// The URL that requests go to, without a trailing `/`.
    pub fn base(&self) -> &str {
        &self.base
    }

    pub(super) fn completions(&self) -> &Uri {
        &self.completions
    }

    pub(super) fn models(&self) -> &Uri {
        &self.models
    }

    /// The key that requests carry, without the white space around it: a header may lose that on its
    /// way, and a gateway that echoes the key then knows none.
    pub(super) fn key(&self) -> Option<&str> {
        let key = self.authorization()?.to_str().ok()?.strip_prefix(SCHEME)?;
        Some(key.trim_ascii())
    }

    pub(super) fn authorization(&self) -> Option<&HeaderValue> {
        self.authorization.as_ref()
    }
}

impl fmt::Debug for Connection {
    /// The key is not shown, only whether there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("base", &self.base)
            .field("has_key", &self.authorization.is_some())
            .finish()
    }
}

/// Why there is no connection (spec M74). Of a URL only the scheme and the place are kept, without its
/// user information.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionError {
    /// This is no URL.
    Invalid(String),
    /// Its scheme is neither `http` nor `https`.
    Scheme(String),
    /// It names no host.
    Host(String),
    /// It holds a user or a password.
    Credentials,
    /// It has a query or a fragment.
    Extra,
    /// The key cannot be the value of a header.
    Key,
    /// This variable of the environment names a proxy that cannot be used.
    Proxy(&'static str),
}

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(url) => write!(f, "gateway URL is not a valid URL: {url:?}"),
            Self::Scheme(url) => {
                write!(f, "gateway URL must use the http or https scheme: {url:?}")
            }
            Self::Host(url) => write!(f, "gateway URL names no host: {url:?}"),
            Self::Credentials => f.write_str("gateway URL must not embed credentials (user:pass@)"),
            Self::Extra => f.write_str("gateway URL must not include a query or fragment"),
            Self::Key => f.write_str("the gateway's key is not a valid header value"),
            Self::Proxy(variable) => write!(
                f,
                "the proxy that {variable} names is not supported: it must be an http or https URL"
            ),
        }
    }
}

impl std::error::Error for ConnectionError {}

/// A URL's host, its brackets taken off.
enum Host<'a> {
    Name(&'a str),
    V6(Ipv6Addr),
}

impl Host<'_> {
    fn is_loopback(&self) -> bool {
        match self {
            Self::Name(name) => {
                name.eq_ignore_ascii_case("localhost") || name.parse() == Ok(Ipv4Addr::LOCALHOST)
            }
            Self::V6(address) => *address == Ipv6Addr::LOCALHOST,
        }
    }
}

/// The host of a URL that keeps all the rules.
fn host(url: &str) -> Result<Host<'_>, ConnectionError> {
    let invalid = || ConnectionError::Invalid(shown(url));
    let (scheme, rest) = url.split_once(':').ok_or_else(invalid)?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    if !is_scheme || url.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
        return Err(invalid());
    }
    if !["http", "https"]
        .iter()
        .any(|s| scheme.eq_ignore_ascii_case(s))
    {
        return Err(ConnectionError::Scheme(shown(url)));
    }
    let no_host = || ConnectionError::Host(shown(url));
    let rest = rest.strip_prefix("//").ok_or_else(no_host)?;
    let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (user, place) = match authority.rsplit_once('@') {
        Some((user, place)) => (Some(user), place),
        None => (None, authority),
    };
    let (host, port) = match place.rfind(':').filter(|at| !place[*at..].contains(']')) {
        Some(at) => (&place[..at], &place[at + 1..]),
        None => (place, ""),
    };
    if host.is_empty() {
        return Err(no_host());
    }
    let is_port = port.is_empty()
        || port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    let host = match host.strip_prefix('[').and_then(|h| h.strip_suffix(']')) {
        Some(address) => address.parse().ok().map(Host::V6),
        None => is_name(host).then_some(Host::Name(host)),
    };
    let host = host.filter(|_| is_port).ok_or_else(invalid)?;
    if user.is_some() {
        return Err(ConnectionError::Credentials);
    }
    if tail.contains(['?', '#']) {
        return Err(ConnectionError::Extra);
    }
    Ok(host)
}

fn is_name(host: &str) -> bool {
    host.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}

/// A URL as a message shows it: its scheme and its place, without what may be a user or a password,
/// a path or a query. Where an `@` follows the place, that may be a part of a password: it is not
/// shown either.
fn shown(url: &str) -> String {
    let after_scheme = url.find("://").map_or(0, |at| at + 3);
    let is_scheme = !url[..after_scheme.saturating_sub(3)].contains(['/', '?', '#', '@']);
    let (scheme, rest) = url.split_at(if is_scheme { after_scheme } else { 0 });
    let (place, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    match tail.contains('@') {
        true => scheme.to_owned(),
        false => scheme.to_owned() + place.rsplit('@').next().unwrap_or(place),
    }
}

fn authorization(key: &str) -> Result<HeaderValue, ConnectionError> {
    let value = Some(format!("{SCHEME}{key}")).filter(|_| key.is_ascii());
    let value = value.and_then(|value| HeaderValue::try_from(value).ok());
    let mut value = value.ok_or(ConnectionError::Key)?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_keep_the_rules() {
        // spec M74
        let cases = [
            ("", r#"gateway URL is not a valid URL: """#),
            (
                "localhost",
                r#"gateway URL is not a valid URL: "localhost""#,
            ),
            (
                "1http://h",
                r#"gateway URL is not a valid URL: "1http://h""#,
            ),
            (
                "http://h h",
                r#"gateway URL is not a valid URL: "http://h h""#,
            ),
            (
                "http://h:x/",
                r#"gateway URL is not a valid URL: "http://h:x""#,
            ),
            (
                "http://h:+1/",
                r#"gateway URL is not a valid URL: "http://h:+1""#,
            ),
            (
                "http://h:65536",
                r#"gateway URL is not a valid URL: "http://h:65536""#,
            ),
            (
                "http://[::g]/",
                r#"gateway URL is not a valid URL: "http://[::g]""#,
            ),
            (
                "http://a[b/",
                r#"gateway URL is not a valid URL: "http://a[b""#,
            ),
            (
                "http://h\"/",
                r#"gateway URL is not a valid URL: "http://h\"""#,
            ),
            (
                "ftp://u:p@h",
                r#"gateway URL must use the http or https scheme: "ftp://h""#,
            ),
            (
                "u:secret@h/v1",
                r#"gateway URL must use the http or https scheme: "h""#,
            ),
            (
                "http://u:se/cret@h",
                r#"gateway URL is not a valid URL: "http://""#,
            ),
            ("http:h", r#"gateway URL names no host: "http:h""#),
            ("http://", r#"gateway URL names no host: "http://""#),
            (
                "https://:80/v1",
                r#"gateway URL names no host: "https://:80""#,
            ),
            (
                "http://u:secret@/v1",
                r#"gateway URL names no host: "http://""#,
            ),
            (
                "http://h h/v1/secret?key=secret",
                r#"gateway URL is not a valid URL: "http://h h""#,
            ),
            (
                "http://h h?key=se@cret",
                r#"gateway URL is not a valid URL: "http://""#,
            ),
            (
                "secret@h?key=http://secret",
                r#"gateway URL is not a valid URL: "h""#,
            ),
            (
                "ftp://h/secret#secret",
                r#"gateway URL must use the http or https scheme: "ftp://h""#,
            ),
            (
                "http:///secret?secret",
                r#"gateway URL names no host: "http://""#,
            ),
            ("http:?secret", r#"gateway URL names no host: "http:""#),
            (
                "http://u:p@h?q",
                "gateway URL must not embed credentials (user:pass@)",
            ),
            (
                "http://@h",
                "gateway URL must not embed credentials (user:pass@)",
            ),
            (
                "http://h/v1?a=b",
                "gateway URL must not include a query or fragment",
            ),
            (
                "http://h#",
                "gateway URL must not include a query or fragment",
            ),
        ];
        for (url, message) in cases {
            let error = Connection::new(url, None).expect_err(url);
            assert_eq!(error.to_string(), message, "{url}");
            let told = format!("{error:?} {error}");
            assert!(!told.contains("secret") && !told.contains("cret"), "{told}");
        }
    }

    #[test]
    fn the_base_loses_its_slash_and_loopback_is_told() {
        // spec M74, case 05/M-C45
        let cases = [
            (
                "http://LOCALHOST:8080/v1/",
                "http://LOCALHOST:8080/v1",
                true,
            ),
            ("http://127.0.0.1", "http://127.0.0.1", true),
            ("HTTPS://[::1]:1/", "HTTPS://[::1]:1", true),
            (
                "http://[0:0:0:0:0:0:0:1]/a",
                "http://[0:0:0:0:0:0:0:1]/a",
                true,
            ),
            ("http://127.0.0.2/v1", "http://127.0.0.2/v1", false),
            (
                "https://localhost.example/v1",
                "https://localhost.example/v1",
                false,
            ),
            ("http://h:/v1@2", "http://h:/v1@2", false),
        ];
        for (url, base, loopback) in cases {
            let connection = Connection::new(url, None).expect(url);
            assert_eq!(connection.base(), base);
            assert_eq!(connection.is_loopback(), loopback, "{url}");
            assert!(
                connection
                    .completions()
                    .path()
                    .ends_with("/chat/completions")
            );
        }
    }

    #[test]
    fn a_key_is_a_header_value_and_never_shown() {
        // spec M74
        let url = "http://h";
        for key in ["a\nb", "\u{7f}", "kéy"] {
            let error = Connection::new(url, Some(key)).expect_err(key);
            assert_eq!(error, ConnectionError::Key);
        }
        let connection = Connection::new(url, Some("sk-secret")).expect("valid");
        let value = connection.authorization().expect("a key");
        assert_eq!(value.to_str().expect("text"), "Bearer sk-secret");
        assert!(!format!("{connection:?} {value:?}").contains("sk-"));
        for key in ["sk-secret ", "\tsk-secret", " \tsk-secret\t "] {
            let connection = Connection::new(url, Some(key)).expect("valid");
            assert_eq!(connection.key(), Some("sk-secret"));
        }
        let connection = Connection::new(url, Some("")).expect("valid");
        assert!(connection.authorization().is_none());
    }
}
