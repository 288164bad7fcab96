//! What a configuration says of the web: of searches and of fetches (spec C9, T141, T160).

use std::num::{NonZeroU16, NonZeroU32};

use runvil::harness::yaml::Located;
use serde::Deserialize;

use super::VariableName;
use super::bytes::Bytes;
use super::units::Seconds;

/// The provider of the web search.
#[derive(Debug, Deserialize)]
#[serde(try_from = "SearchEntry")]
pub struct Search(pub SearchEntry);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a map")]
pub struct SearchEntry {
    /// What kind of provider it is.
    pub provider: Provider,
    /// Where it is.
    pub url: Option<String>,
    /// The variable that holds its token.
    pub token_env: Option<VariableName>,
}

/// The kinds of search provider.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// A SearXNG server.
    Searxng,
    /// Brave's web search API.
    Brave,
    /// A server that answers spec T160's request.
    Http,
}

impl TryFrom<SearchEntry> for Search {
    type Error = &'static str;

    fn try_from(entry: SearchEntry) -> Result<Self, Self::Error> {
        match entry.provider {
            Provider::Searxng | Provider::Http if entry.url.is_none() => {
                Err("this provider needs a `url`")
            }
            Provider::Brave if entry.token_env.is_none() => {
                Err("this provider needs a `token_env`")
            }
            Provider::Searxng if entry.token_env.is_some() => {
                Err("this provider takes no `token_env`")
            }
            _ => Ok(Self(entry)),
        }
    }
}

/// The policy of the web fetch, where it differs from the language's (spec T141).
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a map")]
pub struct Fetch {
    /// Whether pages of this machine and of private networks may be fetched.
    pub allow_private: bool,
    /// The schemes of URLs.
    pub schemes: Option<Located<Choice<Scheme>>>,
    /// The ports of URLs.
    pub ports: Option<Located<Choice<NonZeroU16>>>,
    /// How many redirects are followed.
    pub max_redirects: Option<u32>,
    /// The most bytes of a body.
    pub max_bytes: Option<Bytes>,
    /// The most characters of a page.
    pub max_chars: Option<NonZeroU32>,
    /// How long a connection may take to be made.
    pub connect_timeout: Option<Located<Seconds>>,
    /// How long all of a fetch may take.
    pub total_timeout: Option<Located<Seconds>>,
}

/// A scheme of URLs that can be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Without TLS.
    Http,
    /// With it.
    Https,
}

impl Scheme {
    /// As a URL has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

/// A list that is not empty: else nothing could be fetched.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<T>", bound = "T: Deserialize<'de>")]
pub struct Choice<T>(pub Vec<T>);

impl<T> TryFrom<Vec<T>> for Choice<T> {
    type Error = &'static str;

    fn try_from(items: Vec<T>) -> Result<Self, Self::Error> {
        match items.is_empty() {
            true => Err("the list is empty, and so nothing could be fetched"),
            false => Ok(Self(items)),
        }
    }
}
