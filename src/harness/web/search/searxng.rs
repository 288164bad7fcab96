//! SearXNG as a provider (spec T160).

use super::backend::{Backend, SearchSetupError, address};
use super::rows::{Columns, answer, with_hosts};
use super::{Freshness, SafeSearch, SearchAnswer, SearchProvider, SearchQuery};
use crate::engine::tool::ToolFailure;
use crate::harness::model::Abort;

/// Asks an instance of SearXNG, which must have its JSON format switched on. It knows no count:
/// what is above it is left out. Each search has 30 seconds.
#[derive(Debug)]
pub struct Searxng(Backend);

impl Searxng {
    /// A provider that asks the instance at a URL.
    ///
    /// # Errors
    /// The URL cannot be asked.
    pub fn new(url: &str) -> Result<Self, SearchSetupError> {
        let mut url = address(url)?;
        let mut path = url
            .path_segments_mut()
            .map_err(|()| SearchSetupError::Url)?;
        path.pop_if_empty().push("search");
        drop(path);
        Ok(Self(Backend::new(url, [])))
    }
}

const COLUMNS: Columns = Columns {
    description: "/content",
    age: "/publishedDate",
    site_name: "/site_name",
    extra_snippets: "/extra_snippets",
};

impl SearchProvider for Searxng {
    fn search(&self, query: &SearchQuery, abort: &Abort) -> Result<SearchAnswer, ToolFailure> {
        let text = with_hosts(query);
        let mut parameters = vec![("q", &*text), ("format", "json")];
        let language = match (&query.search_lang, &query.country) {
            (Some(language), Some(country)) => Some(format!("{language}-{country}")),
            (Some(language), None) => Some(language.clone()),
            (None, _) => None,
        };
        parameters.extend(language.as_deref().map(|language| ("language", language)));
        parameters.extend(query.freshness.map(|freshness| {
            let span = match freshness {
                Freshness::Day => "day",
                Freshness::Week => "week",
                Freshness::Month => "month",
                Freshness::Year => "year",
            };
            ("time_range", span)
        }));
        parameters.extend(query.safesearch.map(|strictness| {
            let strictness = match strictness {
                SafeSearch::Off => "0",
                SafeSearch::Moderate => "1",
                SafeSearch::Strict => "2",
            };
            ("safesearch", strictness)
        }));
        let reply = self.0.get(&parameters, abort)?;
        let mut answer = answer(reply.get("query"), reply.get("results"), &COLUMNS)?;
        if let Some(count) = query.count {
            answer.results.truncate(count.into());
        }
        // The operators are this provider's own.
        answer.query = answer.query.filter(|said| *said != text);
        Ok(answer)
    }
}
