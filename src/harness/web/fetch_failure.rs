//! Every failure of a fetch, in its words (spec T148).

use std::fmt;
use std::net::IpAddr;

use url::Url;

use crate::engine::tool::{ToolClass, ToolFailure};

/// Why a URL is not admitted (spec T142).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Invalid,
    Scheme(String),
    Userinfo,
    Port(u16),
    IpLiteral(IpAddr),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid => f.write_str("invalid url"),
            Self::Scheme(scheme) => write!(f, "scheme not allowed: {scheme}"),
            Self::Userinfo => f.write_str("url must not contain userinfo"),
            Self::Port(port) => write!(f, "port not allowed: {port}"),
            Self::IpLiteral(address) => write!(f, "ip literal host not allowed: {address}"),
        }
    }
}

/// Why a redirect is not followed (spec T146).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HopRefusal {
    TooMany(u32),
    Downgrade,
    Target(Refusal),
}

impl fmt::Display for HopRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany(most) => write!(f, "exceeded max redirects ({most})"),
            Self::Downgrade => f.write_str("refusing https to http downgrade"),
            Self::Target(refusal) => refusal.fmt(f),
        }
    }
}

/// Why a fetch brings no page (spec T148). `url`, `from` and `to` are as [`shown`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FetchFailure {
    Argument(&'static str),
    Refused(Refusal),
    NoAddress {
        host: String,
    },
    Unresolved {
        host: String,
    },
    TimedOut {
        url: String,
    },
    Status {
        url: String,
        status: u16,
    },
    Redirect {
        from: String,
        to: String,
        reason: HopRefusal,
    },
    NoType {
        url: String,
    },
    Type {
        url: String,
        content_type: String,
    },
    Charset {
        url: String,
        label: String,
    },
    TooLarge {
        url: String,
        limit: usize,
    },
    Unread {
        url: String,
    },
    /// Anything else; with the URL as it was asked for.
    Network {
        requested: Url,
    },
}

impl FetchFailure {
    /// What a tool's call comes to: some failures fail it, most are its text (spec T134).
    pub(super) fn outcome(&self) -> Result<String, ToolFailure> {
        let message = self.to_string();
        match self {
            Self::Refused(Refusal::Scheme(_)) => Ok(message),
            Self::Argument(_) | Self::Refused(_) | Self::NoAddress { .. } => {
                Err(ToolFailure::new(ToolClass::InvalidArguments, message))
            }
            _ => Ok(message),
        }
    }
}

impl fmt::Display for FetchFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(what) => write!(f, "web_fetch: {what}"),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::NoAddress { host } => write!(f, "host {host} has no allowed address"),
            Self::Unresolved { host } => write!(f, "dns resolution failed for {host}"),
            Self::TimedOut { url } => write!(
                f,
                "request to {url} timed out; try again or use a different URL"
            ),
            Self::Status { url, status } => {
                write!(f, "{url} answered HTTP {status}; try a different URL")
            }
            Self::Redirect { from, to, reason } => {
                write!(f, "redirect from {from} to {to} refused: {reason}")
            }
            Self::NoType { url } => write!(
                f,
                "response from {url} declared no content type; refusing to guess its format; try a \
                 different URL"
            ),
            Self::Type { url, content_type } => write!(
                f,
                "content type {content_type} from {url} cannot be returned as text; try an HTML \
                 version of the page or a different URL"
            ),
            Self::Charset { url, label } => write!(
                f,
                "response from {url} declared unknown charset {label}; cannot decode its text"
            ),
            Self::TooLarge { url, limit } => {
                write!(f, "response from {url} exceeds the {limit}-byte size cap")
            }
            Self::Unread { url } => write!(
                f,
                "the response body from {url} could not be read; try again or use a different URL"
            ),
            Self::Network { requested } => write!(
                f,
                "fetch failed for {requested}: network error; try a different URL"
            ),
        }
    }
}

/// A URL as messages show it: scheme, host, port and path (spec T148).
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // A URL that can have no user has none to show.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}
