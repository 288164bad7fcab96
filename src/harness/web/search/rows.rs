//! The rows of an answer (spec T151, T152).

use serde_json::Value;

use super::backend::malformed;
use super::{SearchAnswer, SearchResult};
use crate::engine::tool::ToolFailure;

/// Where a row has what is reported of a result, as JSON pointers.
pub(super) struct Columns {
    pub(super) description: &'static str,
    pub(super) age: &'static str,
    pub(super) site_name: &'static str,
    pub(super) extra_snippets: &'static str,
}

/// The answer that rows are. Each must have a `url`; all else that is missing, or of a wrong type,
/// is not reported.
pub(super) fn answer(
    query: Option<&Value>,
    rows: Option<&Value>,
    columns: &Columns,
) -> Result<SearchAnswer, ToolFailure> {
    let rows = rows.and_then(Value::as_array).ok_or_else(malformed)?;
    let results = rows.iter().map(|row| {
        let text = |place| Some(row.pointer(place)?.as_str()?.to_owned());
        let snippets = row.pointer(columns.extra_snippets);
        let snippets = snippets.and_then(Value::as_array);
        Ok(SearchResult {
            title: text("/title").unwrap_or_default(),
            url: text("/url").ok_or_else(malformed)?,
            description: text(columns.description).unwrap_or_default(),
            age: text(columns.age),
            site_name: text(columns.site_name),
            extra_snippets: snippets.and_then(|snippets| {
                let snippets = snippets
                    .iter()
                    .map(|snippet| Some(snippet.as_str()?.to_owned()));
                snippets.collect()
            }),
        })
    });
    Ok(SearchAnswer {
        query: query.and_then(Value::as_str).map(str::to_owned),
        results: results.collect::<Result<_, _>>()?,
    })
}

/// A query with its hosts as operators, which most engines read.
pub(super) fn with_hosts(query: &super::SearchQuery) -> String {
    let mut text = query.query.clone();
    let included = query.include_domains.as_deref().unwrap_or_default();
    let included: Vec<_> = included.iter().map(|host| format!("site:{host}")).collect();
    match included.as_slice() {
        [] => {}
        [only] => text.push_str(&format!(" {only}")),
        several => text.push_str(&format!(" ({})", several.join(" OR "))),
    }
    for host in query.exclude_domains.as_deref().unwrap_or_default() {
        text.push_str(&format!(" -site:{host}"));
    }
    text
}
