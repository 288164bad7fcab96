//! Brave's web search API as a provider (spec T160).

use serde_json::Value;
use ureq::http::HeaderName;

use super::backend::{Backend, SearchSetupError, address, secret};
use super::rows::{Columns, answer, with_hosts};
use super::{Freshness, SafeSearch, SearchAnswer, SearchProvider, SearchQuery};
use crate::engine::tool::ToolFailure;
use crate::harness::model::Abort;

/// Asks Brave's web search API. Each search has 30 seconds.
#[derive(Debug)]
pub struct Brave(Backend);

impl Brave {
    /// Where the API is.
    pub const URL: &str = "https://api.search.brave.com/res/v1/web/search";

    /// A provider that asks the API at a URL, [`Brave::URL`] or another that does as it does, with
    /// a key.
    ///
    /// # Errors
    /// The URL cannot be asked, or no header can hold the key.
    pub fn new(url: &str, key: &str) -> Result<Self, SearchSetupError> {
        let header = HeaderName::from_static("x-subscription-token");
        let headers = [(header, secret(key)?)];
        Ok(Self(Backend::new(address(url)?, headers)))
    }
}

const COLUMNS: Columns = Columns {
    description: "/description",
    age: "/age",
    site_name: "/profile/name",
    extra_snippets: "/extra_snippets",
};

impl SearchProvider for Brave {
    fn search(&self, query: &SearchQuery, abort: &Abort) -> Result<SearchAnswer, ToolFailure> {
        let text = with_hosts(query);
        let count = query.count.map(|count| count.to_string());
        let freshness = query.freshness.map(|freshness| match freshness {
            Freshness::Day => "pd",
            Freshness::Week => "pw",
            Freshness::Month => "pm",
            Freshness::Year => "py",
        });
        let safesearch = query.safesearch.map(|strictness| match strictness {
            SafeSearch::Off => "off",
            SafeSearch::Moderate => "moderate",
            SafeSearch::Strict => "strict",
        });
        let optional = [
            ("count", count.as_deref()),
            ("freshness", freshness),
            ("country", query.country.as_deref()),
            ("search_lang", query.search_lang.as_deref()),
            ("safesearch", safesearch),
        ];
        // Else its texts have marks of HTML in them.
        let mut parameters = vec![("q", &*text), ("text_decorations", "false")];
        let given = optional.into_iter();
        parameters.extend(given.filter_map(|(name, value)| Some((name, value?))));
        let reply = self.0.get(&parameters, abort)?;
        let nothing = Value::Array(Vec::new());
        // Where it finds nothing it says nothing of the web.
        let rows = match (reply.get("web"), reply.is_object()) {
            (None, true) => Some(&nothing),
            (web, _) => web.and_then(|web| web.get("results")),
        };
        let mut answer = answer(reply.pointer("/query/original"), rows, &COLUMNS)?;
        answer.query = answer.query.filter(|said| *said != text);
        Ok(answer)
    }
}
