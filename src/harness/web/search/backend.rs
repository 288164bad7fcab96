//! What the search providers share that ask over HTTP (spec T152, T153).

use std::fmt;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use ureq::config::AutoHeaderValue;
use ureq::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use ureq::{Agent, Proxy};
use url::{Host, Url};

use super::backend_failure;
use crate::engine::tool::{ToolClass, ToolFailure};
use crate::harness::http::{Client, Limits, SystemNetwork, after};
use crate::harness::model::Abort;
use crate::harness::shown::one_line;

/// How long a search may take (spec T153).
const LIMIT: Duration = Duration::from_secs(30);
/// The most bytes of an answer (spec T152).
const CAP: u64 = 256 << 10;

/// A search engine that is asked over HTTP.
#[derive(Debug)]
pub(super) struct Backend {
    url: Url,
    headers: HeaderMap,
    client: Client,
    limit: Duration,
}

/// Why a search provider cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchSetupError {
    /// The URL cannot be asked.
    Url,
    /// The URL holds a user or a password.
    Credentials,
    /// The token cannot be the value of a header.
    Token,
}

impl fmt::Display for SearchSetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Url => "the search URL is not a valid http or https URL",
            Self::Credentials => "the search URL must not embed credentials (user:pass@)",
            Self::Token => "the search token is not a valid header value",
        })
    }
}

impl std::error::Error for SearchSetupError {}

/// A URL that can be asked.
pub(super) fn address(url: &str) -> Result<Url, SearchSetupError> {
    let url = Url::parse(url.trim_ascii()).map_err(|_| SearchSetupError::Url)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(SearchSetupError::Url);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(SearchSetupError::Credentials);
    }
    Ok(url)
}

impl Backend {
    /// The engine at an address, which takes these headers; requests go through the proxy that the
    /// environment names, but never to this machine.
    pub(super) fn new(
        url: Url,
        headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>,
    ) -> Self {
        let is_loopback = match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        let proxy = match is_loopback {
            true => None,
            false => Proxy::try_from_env(),
        };
        let config = Agent::config_builder()
            .proxy(proxy)
            .user_agent(concat!("runvil/", env!("CARGO_PKG_VERSION")))
            .accept("application/json")
            .accept_encoding(AutoHeaderValue::None);
        Self {
            url,
            headers: headers.into_iter().collect(),
            client: Client::new(config, Arc::new(SystemNetwork)),
            limit: LIMIT,
        }
    }

    /// Asks with the parameters of a query.
    pub(super) fn get(
        &self,
        parameters: &[(&str, &str)],
        abort: &Abort,
    ) -> Result<Value, ToolFailure> {
        let mut url = self.url.clone();
        url.query_pairs_mut().extend_pairs(parameters);
        self.ask(Method::GET, &url, Vec::new(), abort)
    }

    /// Asks with a JSON body.
    pub(super) fn post(&self, body: Vec<u8>, abort: &Abort) -> Result<Value, ToolFailure> {
        self.ask(Method::POST, &self.url, body, abort)
    }

    fn ask(
        &self,
        method: Method,
        url: &Url,
        body: Vec<u8>,
        abort: &Abort,
    ) -> Result<Value, ToolFailure> {
        let transport = |message| ToolFailure::new(ToolClass::Transport, message);
        let request_failed = || transport("request failed");
        let deadline = after(self.limit);
        let limits = Limits {
            connect_by: deadline,
            reply_by: deadline,
        };
        let mut request = Request::new(());
        *request.uri_mut() = url.as_str().parse().map_err(|_| request_failed())?;
        *request.headers_mut() = self.headers.clone();
        let sent = match method {
            Method::POST => {
                *request.method_mut() = method;
                self.client.send(request.map(|()| body), limits, abort)
            }
            _ => self.client.send(request, limits, abort),
        };
        let mut reply = sent.map_err(|_| request_failed())?;
        let mut body = Vec::new();
        let read = (&mut reply).take(CAP + 1).read_to_end(&mut body);
        let status = reply.status;
        if !(200..300).contains(&status) {
            return Err(backend_failure(match read {
                Ok(_) => {
                    let said = match &*String::from_utf8_lossy(&body) {
                        "" => "(empty body)".to_owned(),
                        body => one_line(body),
                    };
                    format!("backend returned {status}: {said}")
                }
                Err(_) => {
                    format!("backend returned {status}, and its error body could not be read")
                }
            }));
        }
        read.map_err(|_| transport("reading response failed"))?;
        if body.len() as u64 > CAP {
            return Err(backend_failure(format!(
                "response body exceeded {CAP} bytes"
            )));
        }
        let body = std::str::from_utf8(&body)
            .map_err(|_| backend_failure("response body was not valid UTF-8"))?;
        serde_json::from_str(body).map_err(|_| malformed())
    }
}

/// A secret as the value of a header.
pub(super) fn secret(value: &str) -> Result<HeaderValue, SearchSetupError> {
    let mut value = HeaderValue::try_from(value).map_err(|_| SearchSetupError::Token)?;
    value.set_sensitive(true);
    Ok(value)
}

/// The header that says that a body is JSON.
pub(super) fn is_json() -> (HeaderName, HeaderValue) {
    let json = HeaderValue::from_static("application/json");
    (header::CONTENT_TYPE, json)
}

/// An answer that is no list of results (spec T152).
pub(super) fn malformed() -> ToolFailure {
    backend_failure("malformed search response")
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    #[test]
    fn the_deadline_is_told_by_where_it_fell() {
        // spec T152, T153
        for (sent, message) in [
            ("", "request failed"),
            ("HTTP/1.1 200 O", "request failed"),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{",
                "reading response failed",
            ),
            (
                "HTTP/1.1 500 X\r\nContent-Length: 9\r\n\r\n{",
                "backend returned 500, and its error body could not be read",
            ),
        ] {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let port = listener.local_addr().expect("an address").port();
            let url = address(&format!("http://127.0.0.1:{port}/")).expect("a URL");
            let mut backend = Backend::new(url, []);
            assert_eq!(backend.limit, Duration::from_secs(30));
            backend.limit = Duration::from_millis(200);
            let server = thread::spawn(move || {
                let (mut stream, _) = listener.accept().expect("a connection");
                stream.write_all(sent.as_bytes()).expect("sent");
                // Held open until the client hangs up.
                let _ = stream.read_to_end(&mut Vec::new());
            });
            let failure = backend.get(&[], &Abort::default()).expect_err("a deadline");
            assert_eq!(failure.message, message);
            server.join().expect("the server ends");
        }
    }
}
