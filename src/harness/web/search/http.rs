//! The provider that takes searches as they are (spec T153, T160).

use ureq::http::header::AUTHORIZATION;

use super::backend::{Backend, SearchSetupError, address, is_json, malformed, secret};
use super::rows::{Columns, answer};
use super::{SearchAnswer, SearchProvider, SearchQuery};
use crate::engine::tool::ToolFailure;
use crate::harness::model::Abort;

/// Posts the accepted arguments as JSON, and takes `{"query"?, "results": […]}` (spec T160). Each
/// search has 30 seconds.
#[derive(Debug)]
pub struct HttpSearch(Backend);

impl HttpSearch {
    /// A provider that posts to a URL, with a bearer token or none; an empty one counts as none.
    ///
    /// # Errors
    /// The URL cannot be asked, or no header can hold the token.
    pub fn new(url: &str, token: Option<&str>) -> Result<Self, SearchSetupError> {
        let token = token.filter(|token| !token.is_empty());
        let token = token.map(|token| secret(&format!("Bearer {token}")));
        let authorization = token.transpose()?.map(|token| (AUTHORIZATION, token));
        let headers = [is_json()].into_iter().chain(authorization);
        Ok(Self(Backend::new(address(url)?, headers)))
    }
}

const COLUMNS: Columns = Columns {
    description: "/description",
    age: "/age",
    site_name: "/site_name",
    extra_snippets: "/extra_snippets",
};

impl SearchProvider for HttpSearch {
    fn search(&self, query: &SearchQuery, abort: &Abort) -> Result<SearchAnswer, ToolFailure> {
        let body = serde_json::to_vec(query).map_err(|_| malformed())?;
        let reply = self.0.post(body, abort)?;
        answer(reply.get("query"), reply.get("results"), &COLUMNS)
    }
}
