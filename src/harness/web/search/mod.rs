//! The search tool and what it asks (spec T150 to T154, T160).

mod backend;
mod brave;
mod http;
mod query;
mod rows;
mod searxng;

pub use backend::SearchSetupError;
pub use brave::Brave;
pub use http::HttpSearch;
pub use query::{Freshness, SafeSearch, SearchQuery};
pub use searxng::Searxng;

use std::fmt;

use serde::Serialize;

use crate::engine::tool::{ToolClass, ToolFailure};
use crate::harness::model::Abort;
use crate::lua::Data;

pub(super) use query::schema;

/// What answers searches. It owns its transport and its time limit (spec T154).
pub trait SearchProvider: fmt::Debug + Send + Sync {
    /// Searches, on a worker thread. Once `abort` is set off the answer is not wanted any more.
    ///
    /// # Errors
    /// The provider's own failure, its message without the prefix `web_search: ` (spec T152).
    fn search(&self, query: &SearchQuery, abort: &Abort) -> Result<SearchAnswer, ToolFailure>;
}

/// What a provider answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchAnswer {
    /// The query as the provider understood it, where it says so.
    pub query: Option<String>,
    /// What it found, in its order.
    pub results: Vec<SearchResult>,
}

/// Something found. What a provider does not report is left out (spec T151).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SearchResult {
    /// Its title.
    pub title: String,
    /// Where it is; never blank.
    pub url: String,
    /// What it is about.
    pub description: String,
    /// How old it is, in the provider's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age: Option<String>,
    /// The name of its site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site_name: Option<String>,
    /// More of its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_snippets: Option<Vec<String>>,
}

/// A result's text, in the order of its keys (spec T151).
#[derive(Serialize)]
struct Answered<'a> {
    query: &'a str,
    results: &'a [SearchResult],
}

/// Calls the search tool. Every failure fails the call (spec T152).
pub(super) fn call(
    provider: &dyn SearchProvider,
    arguments: &Data,
    abort: &Abort,
) -> Result<String, ToolFailure> {
    let answer = SearchQuery::read(arguments).and_then(|query| {
        let answer = provider.search(&query, abort)?;
        let mut urls = answer.results.iter().map(|result| result.url.trim());
        if let Some(index) = urls.position(str::is_empty) {
            return Err(backend_failure(format!(
                "malformed search response: result {index} has an empty url"
            )));
        }
        let answered = Answered {
            query: answer.query.as_deref().unwrap_or(&query.query),
            results: &answer.results,
        };
        serde_json::to_string(&answered).map_err(|error| backend_failure(error.to_string()))
    });
    answer.map_err(|failure| {
        ToolFailure::new(failure.class, format!("web_search: {}", failure.message))
    })
}

fn backend_failure(message: impl Into<String>) -> ToolFailure {
    ToolFailure::new(ToolClass::Backend, message)
}
