//! The search tool: arguments, results and the failures of any provider (spec T150 to T152, T154).

use std::sync::{Arc, Mutex};

use runvil::engine::tool::{ToolClass, ToolFailure};
use runvil::harness::model::Abort;
use runvil::harness::web::search::{SearchAnswer, SearchProvider, SearchQuery, SearchResult};
use runvil::harness::web::{FetchPolicy, Web};

use crate::ask::{arguments, run};

/// A provider that answers as it was told, and keeps what it was asked.
#[derive(Debug)]
pub struct Fake {
    answer: Result<SearchAnswer, ToolFailure>,
    asked: Mutex<Vec<String>>,
}

impl SearchProvider for Fake {
    fn search(&self, query: &SearchQuery, _: &Abort) -> Result<SearchAnswer, ToolFailure> {
        let query = serde_json::to_string(query).unwrap();
        self.asked.lock().unwrap().push(query);
        self.answer.clone()
    }
}

fn provider(answer: Result<SearchAnswer, ToolFailure>) -> Arc<Fake> {
    Arc::new(Fake {
        answer,
        asked: Mutex::default(),
    })
}

/// Searches with a provider.
pub fn search(provider: Arc<dyn SearchProvider>, given: &str) -> Result<String, ToolFailure> {
    let web = Web::new(FetchPolicy::default(), provider);
    run(&web, "search", &arguments(given), &Abort::default())
}

/// The class and the message of a failure.
pub fn failed(result: Result<String, ToolFailure>) -> (ToolClass, String) {
    let failure = result.expect_err("a failure");
    (failure.class, failure.message)
}

fn found(url: &str) -> SearchResult {
    SearchResult {
        url: url.to_owned(),
        ..SearchResult::default()
    }
}

#[test]
fn t150_broken_rules_are_told_before_anything_is_sent() {
    let provider = provider(Ok(SearchAnswer::default()));
    let long = |length: usize| "é".repeat(length);
    let hosts = |length: usize| vec!["a.b"; length];
    let invalid = "invalid arguments";
    let host = "include_domains contains an invalid hostname";
    let count = "count must be between 1 and 20";
    for (given, message) in [
        ("[]".to_owned(), invalid),
        ("null".to_owned(), invalid),
        ("{}".to_owned(), invalid),
        (r#"{"query":null}"#.to_owned(), invalid),
        (r#"{"query":5}"#.to_owned(), invalid),
        (r#"{"query":"q","lang":"en"}"#.to_owned(), invalid),
        (r#"{"query":"q","count":"5"}"#.to_owned(), invalid),
        (r#"{"query":"q","count":-1}"#.to_owned(), invalid),
        (r#"{"query":"q","count":1.5}"#.to_owned(), invalid),
        (r#"{"query":"q","count":true}"#.to_owned(), invalid),
        (r#"{"query":"q","freshness":"day"}"#.to_owned(), invalid),
        (r#"{"query":"q","freshness":"PD"}"#.to_owned(), invalid),
        (r#"{"query":"q","safesearch":"on"}"#.to_owned(), invalid),
        (r#"{"query":"q","country":5}"#.to_owned(), invalid),
        (
            r#"{"query":"q","include_domains":"a.b"}"#.to_owned(),
            invalid,
        ),
        (r#"{"query":"q","include_domains":[5]}"#.to_owned(), invalid),
        (
            r#"{"query":"q","include_domains":{"a":"a.b"}}"#.to_owned(),
            invalid,
        ),
        // Shape and choices come first.
        (r#"{"query":" ","freshness":"x"}"#.to_owned(), invalid),
        (r#"{"query":" ","extra":null}"#.to_owned(), invalid),
        // Then the fields in their order.
        (
            r#"{"query":" \t\u3000","count":0}"#.to_owned(),
            "query must not be empty",
        ),
        (r#"{"query":""}"#.to_owned(), "query must not be empty"),
        (
            format!(r#"{{"query":"{}","count":0}}"#, long(401)),
            "query exceeds 400 characters",
        ),
        (r#"{"query":"q","count":0,"country":" "}"#.to_owned(), count),
        (r#"{"query":"q","count":21}"#.to_owned(), count),
        (
            r#"{"query":"q","count":9223372036854775807}"#.to_owned(),
            count,
        ),
        (r#"{"query":"q","count":1e300}"#.to_owned(), count),
        (
            r#"{"query":"q","country":"","search_lang":""}"#.to_owned(),
            "country must be 1..=128 characters",
        ),
        (
            format!(r#"{{"query":"q","search_lang":"{}"}}"#, long(129)),
            "search_lang must be 1..=128 characters",
        ),
        (
            format!(
                r#"{{"query":"q","include_domains":{:?},"exclude_domains":[""]}}"#,
                hosts(21)
            ),
            "include_domains may list at most 20 hostnames",
        ),
        (
            format!(r#"{{"query":"q","exclude_domains":{:?}}}"#, hosts(21)),
            "exclude_domains may list at most 20 hostnames",
        ),
        (
            r#"{"query":"q","exclude_domains":["ok.example","a b"]}"#.to_owned(),
            "exclude_domains contains an invalid hostname",
        ),
        (
            r#"{"query":"q","include_domains":["a.b/c"]}"#.to_owned(),
            host,
        ),
        (r#"{"query":"q","include_domains":[" "]}"#.to_owned(), host),
        (
            r#"{"query":"q","include_domains":["a\u0000b"]}"#.to_owned(),
            host,
        ),
        (
            r#"{"query":"q","include_domains":["a\u00a0b"]}"#.to_owned(),
            host,
        ),
        (
            format!(r#"{{"query":"q","include_domains":["{}"]}}"#, long(129)),
            host,
        ),
    ] {
        let failure = failed(search(provider.clone(), &given));
        let message = format!("web_search: {message}");
        assert_eq!(failure, (ToolClass::InvalidArguments, message), "{given}");
    }
    assert!(provider.asked.lock().unwrap().is_empty());
}

#[test]
fn t151_accepted_fields_reach_the_provider_unchanged() {
    let provider = provider(Ok(SearchAnswer::default()));
    let long = "é".repeat(400);
    for (given, asked) in [
        (format!(r#"{{"query":"{long}"}}"#), format!(r#"{{"query":"{long}"}}"#)),
        (
            r#"{"query":" q ","count":null,"freshness":null,"country":null,"include_domains":null}"#
                .to_owned(),
            r#"{"query":" q "}"#.to_owned(),
        ),
        (
            r#"{"query":"q","count":20.0,"freshness":"pw","country":"DE","search_lang":"de",
                "safesearch":"strict","include_domains":["a.b","A.B"],"exclude_domains":{}}"#
                .to_owned(),
            r#"{"query":"q","count":20,"freshness":"pw","country":"DE","search_lang":"de","safesearch":"strict","include_domains":["a.b","A.B"],"exclude_domains":[]}"#
                .to_owned(),
        ),
    ] {
        search(provider.clone(), &given).unwrap();
        assert_eq!(provider.asked.lock().unwrap().pop(), Some(asked));
    }
}

#[test]
fn t151_results_are_compact_json_with_what_is_reported() {
    let full = SearchResult {
        title: "A \"title\"".to_owned(),
        url: "https://a.example/".to_owned(),
        description: "one\ntwo".to_owned(),
        age: Some("2 days".to_owned()),
        site_name: Some("A".to_owned()),
        extra_snippets: Some(vec!["s".to_owned()]),
    };
    let answer = SearchAnswer {
        query: None,
        results: vec![full, found("https://b.example/")],
    };
    assert_eq!(
        search(provider(Ok(answer)), r#"{"query":"q"}"#).unwrap(),
        r#"{"query":"q","results":[{"title":"A \"title\"","url":"https://a.example/","description":"one\ntwo","age":"2 days","site_name":"A","extra_snippets":["s"]},{"title":"","url":"https://b.example/","description":""}]}"#
    );
    let answer = SearchAnswer {
        query: Some("quest".to_owned()),
        results: Vec::new(),
    };
    let answer = search(provider(Ok(answer)), r#"{"query":"q"}"#).unwrap();
    assert_eq!(answer, r#"{"query":"quest","results":[]}"#);
}

#[test]
fn t152_every_providers_failures_fail_the_call() {
    for class in [ToolClass::Transport, ToolClass::Backend] {
        let failing = provider(Err(ToolFailure::new(class, "the index is away")));
        let failure = failed(search(failing, r#"{"query":"q"}"#));
        let message = "web_search: the index is away".to_owned();
        assert_eq!(failure, (class, message));
    }
    // case 06/C50
    for url in ["", " ", "\n\u{3000}"] {
        let results = vec![found("https://a.example/"), found(url), found("")];
        let answer = SearchAnswer {
            query: None,
            results,
        };
        let failure = failed(search(provider(Ok(answer)), r#"{"query":"q"}"#));
        let message = "web_search: malformed search response: result 1 has an empty url";
        assert_eq!(failure, (ToolClass::Backend, message.to_owned()));
    }
}
