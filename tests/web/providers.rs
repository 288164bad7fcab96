//! The providers that ask over HTTP (spec T152, T153, T160).

use std::sync::Arc;

use runvil::engine::tool::ToolClass;
use runvil::harness::web::search::{Brave, HttpSearch, SearchProvider, SearchSetupError, Searxng};

use crate::search::{failed, search};
use crate::server::{Request, Server, Step, chunk, reply};

const ALL: &str = r#"{"query":"a&b é","count":2,"freshness":"pw","country":"DE","search_lang":"de",
    "safesearch":"moderate","include_domains":["x.example","y.example"],
    "exclude_domains":["z.example"]}"#;

fn json(body: &str) -> Vec<u8> {
    reply("200 OK", "application/json", body)
}

/// What the three providers say to a reply, and the requests they made.
fn each(
    sent: Vec<u8>,
    given: &str,
    mut see: impl FnMut(&str, Result<String, (ToolClass, String)>),
) {
    let server = Server::new(move |_, _| vec![Step::Send(sent.clone()), Step::Close]);
    let url = format!("http://{}", server.address);
    let providers: [(&str, Arc<dyn SearchProvider>); 3] = [
        ("http", Arc::new(HttpSearch::new(&url, None).unwrap())),
        ("searxng", Arc::new(Searxng::new(&url).unwrap())),
        ("brave", Arc::new(Brave::new(&url, "key").unwrap())),
    ];
    for (name, provider) in providers {
        let result = search(provider, given);
        see(name, result.map_err(|failure| failed(Err(failure))));
    }
}

/// The only request of a provider that gets this answer, and the result.
fn asked(
    body: &'static str,
    given: &str,
    provider: impl FnOnce(&str) -> Arc<dyn SearchProvider>,
) -> (Request, String) {
    let server = Server::new(move |_, _| vec![Step::Send(json(body))]);
    let result = search(provider(&format!("http://{}", server.address)), given);
    let mut requests = server.requests();
    assert_eq!(requests.len(), 1);
    (requests.remove(0), result.unwrap())
}

/// The parameters of a request's query.
fn parameters(request: &Request) -> Vec<(String, String)> {
    let target = request.line.split(' ').nth(1).unwrap();
    let url = url::Url::parse(&format!("http://h{target}")).unwrap();
    url.query_pairs().into_owned().collect()
}

fn pairs(pairs: &[(String, String)]) -> Vec<(&str, &str)> {
    pairs
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect()
}

#[test]
fn t160_http_posts_the_arguments_as_they_are() {
    let body = r#"{"query":"said","more":[{}],"results":[
        {"title":"T","url":"u","description":"D","age":"a","site_name":"S","extra_snippets":["x"],"rank":1},
        {"url":"v","title":5,"description":null,"age":{},"site_name":[],"extra_snippets":["x",5]}]}"#;
    let (request, result) = asked(body, ALL, |url| {
        Arc::new(HttpSearch::new(&format!("{url}/v1?k=1"), Some("to-ken")).unwrap())
    });
    assert_eq!(request.line, "POST /v1?k=1 HTTP/1.1");
    assert_eq!(request.header("authorization"), Some("Bearer to-ken"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(
        request.body,
        r#"{"query":"a&b é","count":2,"freshness":"pw","country":"DE","search_lang":"de","safesearch":"moderate","include_domains":["x.example","y.example"],"exclude_domains":["z.example"]}"#
    );
    assert_eq!(
        result,
        r#"{"query":"said","results":[{"title":"T","url":"u","description":"D","age":"a","site_name":"S","extra_snippets":["x"]},{"title":"","url":"v","description":""}]}"#
    );
    let (request, result) = asked(r#"{"results":[]}"#, r#"{"query":"q"}"#, |url| {
        Arc::new(HttpSearch::new(url, Some("")).unwrap())
    });
    assert_eq!(request.header("authorization"), None);
    assert_eq!(request.body, r#"{"query":"q"}"#);
    assert_eq!(result, r#"{"query":"q","results":[]}"#);
}

#[test]
fn t160_searxng_is_asked_for_json() {
    let body = r#"{"query":"a&b é (site:x.example OR site:y.example) -site:z.example","results":[
        {"title":"T","url":"u","content":"C","publishedDate":"2020","engine":"e"},
        {"url":"v"},{"url":"w"}]}"#;
    let (request, result) = asked(body, ALL, |url| {
        Arc::new(Searxng::new(&format!("{url}/base/")).unwrap())
    });
    assert!(
        request.line.starts_with("GET /base/search?q="),
        "{}",
        request.line
    );
    let expected = [
        (
            "q",
            "a&b é (site:x.example OR site:y.example) -site:z.example",
        ),
        ("format", "json"),
        ("language", "de-DE"),
        ("time_range", "week"),
        ("safesearch", "1"),
    ];
    assert_eq!(pairs(&parameters(&request)), expected);
    assert_eq!(
        result,
        r#"{"query":"a&b é","results":[{"title":"T","url":"u","description":"C","age":"2020"},{"title":"","url":"v","description":""}]}"#
    );
    let (request, _) = asked(
        r#"{"results":[]}"#,
        r#"{"query":"q","country":"DE"}"#,
        |url| Arc::new(Searxng::new(url).unwrap()),
    );
    assert_eq!(
        pairs(&parameters(&request)),
        [("q", "q"), ("format", "json")]
    );
}

#[test]
fn t160_brave_is_asked_with_its_key() {
    let body = r#"{"query":{"original":"other"},"web":{"results":[
        {"title":"T","url":"u","description":"D","age":"1 day","profile":{"name":"S"},"extra_snippets":["x"]}]}}"#;
    let brave =
        |url: &str| Arc::new(Brave::new(url, "the-key").unwrap()) as Arc<dyn SearchProvider>;
    let (request, result) = asked(body, ALL, brave);
    assert_eq!(request.header("x-subscription-token"), Some("the-key"));
    let expected = [
        (
            "q",
            "a&b é (site:x.example OR site:y.example) -site:z.example",
        ),
        ("text_decorations", "false"),
        ("count", "2"),
        ("freshness", "pw"),
        ("country", "DE"),
        ("search_lang", "de"),
        ("safesearch", "moderate"),
    ];
    assert_eq!(pairs(&parameters(&request)), expected);
    assert_eq!(
        result,
        r#"{"query":"other","results":[{"title":"T","url":"u","description":"D","age":"1 day","site_name":"S","extra_snippets":["x"]}]}"#
    );
    let (request, result) = asked("{}", r#"{"query":"q","include_domains":["x.y"]}"#, brave);
    assert_eq!(parameters(&request)[0].1, "q site:x.y");
    assert_eq!(result, r#"{"query":"q","results":[]}"#);
}

#[test]
fn t152_answers_that_are_no_list_of_results_are_malformed() {
    let deep = "[".repeat(100_000);
    for body in [
        "",
        "no",
        "[]",
        "null",
        r#""text""#,
        r#"{"results":null,"web":{"results":{}}}"#,
        r#"{"results":{},"web":[]}"#,
        r#"{"results":[1],"web":{"results":[1]}}"#,
        r#"{"results":[{}],"web":{"results":[{}]}}"#,
        r#"{"results":[{"url":"u"},{"url":5}],"web":{"results":[{"url":null}]}}"#,
        r#"{"results":[],"web":null} more"#,
        &*deep,
    ] {
        each(json(body), r#"{"query":"q"}"#, |name, result| {
            let message = "web_search: malformed search response".to_owned();
            assert_eq!(
                result,
                Err((ToolClass::Backend, message)),
                "{name}: {body:.80}"
            );
        });
    }
    each(
        json(r#"{"results":[{"url":" "}],"web":{"results":[{"url":" "}]}}"#),
        r#"{"query":"q"}"#,
        |_, result| {
            let message = "web_search: malformed search response: result 0 has an empty url";
            assert_eq!(result, Err((ToolClass::Backend, message.to_owned())));
        },
    );
}

#[test]
fn t152_a_status_is_told_with_what_the_backend_said() {
    let long = "é".repeat(1500);
    let cut = "é".repeat(1000);
    for (status, body, said) in [
        ("500 X", "", "500: (empty body)".to_owned()),
        (
            "404 X",
            "no\r\n\tsuch\u{7}",
            "404: no\\r\\n\\tsuch\\u{0007}".to_owned(),
        ),
        (
            "302 Found\r\nLocation: /other",
            "moved",
            "302: moved".to_owned(),
        ),
        ("429 X", &long, format!("429: {cut}")),
    ] {
        each(
            reply(status, "text/plain", body),
            r#"{"query":"q"}"#,
            |_, result| {
                let message = format!("web_search: backend returned {said}");
                assert_eq!(result, Err((ToolClass::Backend, message)));
            },
        );
    }
    let not_text = reply("500 X", "text/plain", b"\xffa");
    each(not_text, r#"{"query":"q"}"#, |_, result| {
        let message = "web_search: backend returned 500: \u{fffd}a".to_owned();
        assert_eq!(result, Err((ToolClass::Backend, message)));
    });
    let mut broken = reply("503 X", "text/plain", "half of it");
    broken.truncate(broken.len() - 5);
    each(broken, r#"{"query":"q"}"#, |_, result| {
        let message = "web_search: backend returned 503, and its error body could not be read";
        assert_eq!(result, Err((ToolClass::Backend, message.to_owned())));
    });
}

#[test]
fn t152_a_body_over_the_cap_is_refused_before_it_is_looked_at() {
    let within = |length: usize| {
        let body = r#"{"results":[],"x":""#.to_owned();
        let rest = length - body.len() - 2;
        body + &"x".repeat(rest) + r#""}"#
    };
    each(json(&within(262_144)), r#"{"query":"q"}"#, |_, result| {
        assert_eq!(result.unwrap(), r#"{"query":"q","results":[]}"#);
    });
    let over = "web_search: response body exceeded 262144 bytes";
    for body in [within(262_145), "\u{ff}".repeat(200_000)] {
        let mut in_chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        in_chunks.extend([chunk(&body), chunk("")].concat());
        for sent in [json(&body), in_chunks] {
            each(sent, r#"{"query":"q"}"#, |_, result| {
                assert_eq!(result, Err((ToolClass::Backend, over.to_owned())));
            });
        }
    }
}

#[test]
fn t152_what_breaks_is_told_by_where_it_broke() {
    let failures = [
        ("".to_owned(), ToolClass::Transport, "request failed"),
        ("no http".to_owned(), ToolClass::Transport, "request failed"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{".to_owned(),
            ToolClass::Transport,
            "reading response failed",
        ),
    ];
    for (sent, class, message) in failures {
        each(sent.into_bytes(), r#"{"query":"q"}"#, |_, result| {
            assert_eq!(result, Err((class, format!("web_search: {message}"))));
        });
    }
    let not_utf8 = reply("200 OK", "application/json", b"{\"results\":[\"\xff\"]}");
    each(not_utf8, r#"{"query":"q"}"#, |_, result| {
        let message = "web_search: response body was not valid UTF-8".to_owned();
        assert_eq!(result, Err((ToolClass::Backend, message)));
    });
    let nobody = Arc::new(HttpSearch::new("http://127.0.0.1:1/", None).unwrap());
    let failure = failed(search(nobody, r#"{"query":"q"}"#));
    let message = "web_search: request failed".to_owned();
    assert_eq!(failure, (ToolClass::Transport, message));
}

#[test]
fn t160_what_cannot_be_asked_is_refused_when_it_is_set_up() {
    for (url, error) in [
        ("", SearchSetupError::Url),
        ("search.example", SearchSetupError::Url),
        ("ftp://h/", SearchSetupError::Url),
        ("http://", SearchSetupError::Url),
        ("http://u:secret@h/", SearchSetupError::Credentials),
        ("http://u@h/", SearchSetupError::Credentials),
    ] {
        assert_eq!(HttpSearch::new(url, None).unwrap_err(), error, "{url}");
        assert_eq!(Searxng::new(url).unwrap_err(), error, "{url}");
        assert_eq!(Brave::new(url, "k").unwrap_err(), error, "{url}");
        assert!(!error.to_string().is_empty());
    }
    let token = SearchSetupError::Token;
    assert_eq!(
        HttpSearch::new("http://h/", Some("a\nb")).unwrap_err(),
        token
    );
    assert_eq!(Brave::new(Brave::URL, "a\nb").unwrap_err(), token);
}

#[test]
fn secrets_are_in_no_debug_print() {
    let told = [
        format!(
            "{:?}",
            HttpSearch::new("http://h/", Some("sec-ret")).unwrap()
        ),
        format!("{:?}", Brave::new(Brave::URL, "sec-ret").unwrap()),
    ];
    assert!(
        told.iter().all(|told| !told.contains("sec-ret")),
        "{told:?}"
    );
}
