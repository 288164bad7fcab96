//! The fetch tool (spec T133 to T148).

use std::sync::Arc;
use std::time::Instant;

use encoding_rs::{Encoding, UTF_8};
use ureq::Agent;
use ureq::config::AutoHeaderValue;
use ureq::http::Request;
use ureq::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, LOCATION};
use url::Url;

use super::body::{ACCEPTED, Coding, take};
use super::fetch_arguments::FetchArguments;
use super::fetch_failure::{FetchFailure, HopRefusal, Refusal, shown};
use super::media::{self, Media};
use super::page::Page;
use super::policy::{FetchPolicy, Guarded, unfragmented};
use crate::engine::tool::ToolFailure;
use crate::harness::http::{Client, Fault, Incoming, Limits, after, trusting};
use crate::harness::model::Abort;
use crate::lua::Data;

/// The fetch tool.
#[derive(Debug)]
pub(super) struct Fetch {
    policy: FetchPolicy,
    client: Client,
}

impl Fetch {
    pub(super) fn new(policy: FetchPolicy) -> Self {
        let config = Agent::config_builder()
            .proxy(None)
            .tls_config(trusting(policy.roots.as_deref()))
            .user_agent(&*policy.user_agent)
            .accept_encoding(AutoHeaderValue::None);
        let network = Guarded {
            network: policy.network.clone(),
            addresses: policy.addresses.clone(),
        };
        Self {
            client: Client::new(config, Arc::new(network)),
            policy,
        }
    }

    pub(super) fn schema(&self) -> Data {
        FetchArguments::schema(self.policy.max_chars)
    }

    /// Fetches a page (spec T134).
    pub(super) fn call(&self, arguments: &Data, abort: &Abort) -> Result<String, ToolFailure> {
        match self.fetch(arguments, abort) {
            Ok(page) => Ok(page.to_string()),
            Err(failure) => failure.outcome(),
        }
    }

    fn fetch(&self, arguments: &Data, abort: &Abort) -> Result<Page, FetchFailure> {
        let arguments = FetchArguments::read(arguments, self.policy.max_chars)?;
        let url = self.policy.admit(&arguments.url);
        let url = url.map_err(FetchFailure::Refused)?;
        let (url, reply) = self.follow(url, abort)?;
        self.page(url, reply, &arguments, abort)
    }

    /// Asks for a URL, and for those it redirects to (spec T143, T146). Where that ended, and the
    /// reply there.
    fn follow(&self, requested: Url, abort: &Abort) -> Result<(Url, Incoming), FetchFailure> {
        let deadline = after(self.policy.total_limit);
        let mut url = requested.clone();
        let mut hops = 0;
        loop {
            let reply = self.ask(&url, deadline, abort);
            let reply = reply.map_err(|fault| failure(fault, &url, &requested))?;
            let Some(location) = location(&reply) else {
                return match reply.status {
                    200..=299 => Ok((url, reply)),
                    status => Err(FetchFailure::Status {
                        url: shown(&url),
                        status,
                    }),
                };
            };
            hops += 1;
            let target = url.join(&location);
            if let Err(reason) = self.check_hop(hops, &url, target.as_ref().ok()) {
                return Err(FetchFailure::Redirect {
                    from: shown(&url),
                    to: target.map_or_else(|_| "invalid url".to_owned(), |target| shown(&target)),
                    reason,
                });
            }
            url = target.map_or(url, unfragmented);
        }
    }

    /// The first rule that a redirect breaks (spec T146). A target that is no URL is none.
    fn check_hop(&self, hops: u32, from: &Url, to: Option<&Url>) -> Result<(), HopRefusal> {
        if hops > self.policy.max_redirects {
            return Err(HopRefusal::TooMany(self.policy.max_redirects));
        }
        let to = to.ok_or(HopRefusal::Target(Refusal::Invalid))?;
        if from.scheme() == "https" && to.scheme() == "http" {
            return Err(HopRefusal::Downgrade);
        }
        self.policy.check(to).map_err(HopRefusal::Target)
    }

    fn ask(&self, url: &Url, deadline: Instant, abort: &Abort) -> Result<Incoming, Fault> {
        let request = Request::get(url.as_str()).header(ACCEPT_ENCODING, ACCEPTED);
        let request = request
            .body(())
            .map_err(|error| Fault::System(error.to_string()))?;
        let limits = Limits {
            connect_by: after(self.policy.connect_limit).min(deadline),
            reply_by: deadline,
        };
        self.client.send(request, limits, abort)
    }

    /// The page that a reply brings: its type, its charset, its length and its body are looked at,
    /// in that order (spec T136 to T138).
    fn page(
        &self,
        url: Url,
        reply: Incoming,
        arguments: &FetchArguments,
        abort: &Abort,
    ) -> Result<Page, FetchFailure> {
        let Some(content_type) = header(&reply, CONTENT_TYPE) else {
            return Err(FetchFailure::NoType { url: shown(&url) });
        };
        let Some((media, charset)) = media::read(&content_type) else {
            return Err(FetchFailure::Type {
                url: shown(&url),
                content_type,
            });
        };
        let encoding = match charset {
            None => UTF_8,
            Some(label) => {
                Encoding::for_label_no_replacement(label.as_bytes()).ok_or_else(|| {
                    FetchFailure::Charset {
                        url: shown(&url),
                        label: label.to_owned(),
                    }
                })?
            }
        };
        let limit = self.policy.max_bytes;
        let too_large = || FetchFailure::TooLarge {
            url: shown(&url),
            limit,
        };
        let unread = || FetchFailure::Unread { url: shown(&url) };
        let coding = header(&reply, CONTENT_ENCODING).unwrap_or_default();
        let coding = Coding::read(&coding).ok_or_else(unread)?;
        let declares_too_much = reply.length.is_some_and(|length| length > limit as u64);
        if media != Media::Flat && coding == Coding::Identity && declares_too_much {
            return Err(too_large());
        }
        let body = take(reply, coding, limit).map_err(|_| unread())?;
        if media != Media::Flat && body.is_cut {
            return Err(too_large());
        }
        let (text, _) = encoding.decode_with_bom_removal(&body.bytes);
        let (text, is_cut) = (text.into_owned(), body.is_cut);
        let page = Page::new(url.clone(), media, text, is_cut, arguments, abort);
        page.ok_or_else(unread)
    }
}

/// Where a reply redirects to (spec T146).
fn location(reply: &Incoming) -> Option<String> {
    match reply.status {
        301 | 302 | 303 | 307 | 308 => header(reply, LOCATION),
        _ => None,
    }
}

fn header(reply: &Incoming, name: HeaderName) -> Option<String> {
    let value = reply.headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// What went wrong before a reply came (spec T144, T148).
fn failure(fault: Fault, url: &Url, requested: &Url) -> FetchFailure {
    let host = || url.host_str().unwrap_or_default().to_owned();
    match fault {
        Fault::TimedOut => FetchFailure::TimedOut { url: shown(url) },
        Fault::Unresolved(_) => FetchFailure::Unresolved { host: host() },
        Fault::NoAddress => FetchFailure::NoAddress { host: host() },
        Fault::System(_) | Fault::Excess | Fault::Aborted => FetchFailure::Network {
            requested: requested.clone(),
        },
    }
}
