//! Arguments, schemas and the admission of URLs (spec T129 to T133, T142).

use std::sync::Arc;

use runvil::engine::tool::ToolClass;
use runvil::harness::CancelToken;
use runvil::harness::model::Abort;
use runvil::harness::unit::Unit;
use runvil::harness::web::FetchPolicy;
use runvil::lua::Data;
use runvil::prompt::Dialect;

use crate::active::activate;
use crate::ask::{call, fetch, hard, policy, run, web};
use crate::network::FakeNetwork;

#[test]
fn t129_the_unit_is_first_party_in_both_dialects_and_needs_a_provider() {
    let web = web(FetchPolicy::default());
    assert_eq!(web.name(), "web");
    for (dialect, vendor, need) in [
        (
            Dialect::PromptForge,
            "promptforge",
            "promptforge/search-provider",
        ),
        (Dialect::Runvil, "runvil", "runvil/search-provider"),
    ] {
        assert_eq!(web.vendor(dialect), vendor);
        assert_eq!(web.needs(dialect), [need]);
    }
    assert!(web.conflicts().is_empty());
    assert_eq!(
        (
            web.fault(),
            activate(&web, &CancelToken::default()).unwrap().prelude()
        ),
        (None, None)
    );
}

#[test]
fn t130_t132_the_tools_are_described() {
    let web = web(FetchPolicy::default());
    let tools = activate(&web, &CancelToken::default()).unwrap().tools();
    let told: Vec<_> = tools
        .iter()
        .map(|tool| {
            (
                &*tool.name,
                &*tool.description,
                tool.trusted,
                tool.structured,
            )
        })
        .collect();
    let fetch = "Fetch a web page and return its main content as markdown.";
    let search = "Search the web and return a list of results (title, url, description).";
    assert_eq!(
        told,
        [
            ("fetch", fetch, false, false),
            ("search", search, false, false)
        ]
    );
    assert_eq!(
        tools[0].parameters.to_json(),
        r#"{"properties":{"max_chars":{"maximum":40000,"minimum":1,"type":"integer"},"raw":{"type":"boolean"},"url":{"type":"string"}},"required":["url"],"type":"object"}"#
    );
    let search = &tools[1].parameters;
    let Some(Data::Map(fields)) = search.get("properties") else {
        panic!("no properties");
    };
    let fields: Vec<_> = fields.keys().map(|field| &**field).collect();
    assert_eq!(
        fields,
        [
            "count",
            "country",
            "exclude_domains",
            "freshness",
            "include_domains",
            "query",
            "safesearch",
            "search_lang"
        ]
    );
    assert_eq!(search.get("additionalProperties"), Some(&Data::Bool(false)));
    assert_eq!(
        search.get("required"),
        Some(&Data::list([Data::text("query")]))
    );
}

#[test]
fn t133_arguments_are_checked_in_their_order() {
    let network = FakeNetwork::default();
    let web = web(policy(&network));
    let missing = "web_fetch: missing url argument";
    let positive = "web_fetch: max_chars must be a positive integer";
    let boolean = "web_fetch: raw must be a boolean";
    for (given, message) in [
        ("{}", missing),
        ("null", missing),
        ("[]", missing),
        (r#"{"url":null}"#, missing),
        (r#"{"url":5,"max_chars":0}"#, missing),
        (r#"{"url":"x","max_chars":0,"raw":1}"#, positive),
        (r#"{"url":"x","max_chars":-1}"#, positive),
        (r#"{"url":"x","max_chars":1.5}"#, positive),
        (r#"{"url":"x","max_chars":0.5}"#, positive),
        (r#"{"url":"x","max_chars":-2.0}"#, positive),
        (r#"{"url":"x","max_chars":"5"}"#, positive),
        (r#"{"url":"x","max_chars":true}"#, positive),
        (r#"{"url":"x","raw":"y"}"#, boolean),
        (r#"{"url":"x","raw":0}"#, boolean),
        (r#"{"url":"x","max_chars":null,"raw":null}"#, "invalid url"),
        (
            r#"{"url":"x","max_chars":2.0,"raw":true,"other":1}"#,
            "invalid url",
        ),
    ] {
        assert_eq!(hard(call(&web, given)), message, "{given}");
    }
    assert!(network.looked_up().is_empty());
}

#[test]
fn t142_the_first_broken_rule_is_named_before_any_look_up() {
    let network = FakeNetwork::default();
    let strict = web(FetchPolicy {
        network: Arc::new(network.clone()),
        ..FetchPolicy::default()
    });
    let invalid = "invalid url";
    let userinfo = "url must not contain userinfo";
    for (url, message) in [
        ("", invalid),
        ("a.example/", invalid),
        ("https://", invalid),
        ("https://h:99999/", invalid),
        ("https://a b/", invalid),
        ("https://[::g]/", invalid),
        ("https://1.2.3.4.5/", invalid),
        ("https://256.1.1.1/", invalid),
        ("https://u@h.example:8080/", userinfo),
        ("https://:p@127.0.0.1/", userinfo),
        ("https://u:p@h.example/", userinfo),
        ("https://h.example:8080/", "port not allowed: 8080"),
        ("https://127.0.0.1:1/", "port not allowed: 1"),
        (
            "https://0177.0.0.1/",
            "ip literal host not allowed: 127.0.0.1",
        ),
        (
            "https://2130706433/",
            "ip literal host not allowed: 127.0.0.1",
        ),
        ("https://0x7f.1/", "ip literal host not allowed: 127.0.0.1"),
        ("https://127.1/", "ip literal host not allowed: 127.0.0.1"),
        (
            "https://%31%32%37.1/",
            "ip literal host not allowed: 127.0.0.1",
        ),
        (
            "https://１２７.1/",
            "ip literal host not allowed: 127.0.0.1",
        ),
        ("https://8.8.8.8/", "ip literal host not allowed: 8.8.8.8"),
        ("https://[::1]/", "ip literal host not allowed: ::1"),
        (
            "https://[0:0::ffff:7f00:1]/",
            "ip literal host not allowed: ::ffff:127.0.0.1",
        ),
        (
            "https://[2606:4700::0:1111]:443/",
            "ip literal host not allowed: 2606:4700::1111",
        ),
    ] {
        assert_eq!(hard(fetch(&strict, url)), message, "{url}");
    }
    for (url, scheme) in [
        ("http://u:p@127.0.0.1:8080/", "http"),
        ("HTTP://a.example/", "http"),
        ("ftp://a.example/", "ftp"),
        ("file:///etc/passwd", "file"),
        ("data:text/html,x", "data"),
        ("javascript:alert(1)", "javascript"),
        ("ws://a.example/", "ws"),
        ("h.example:443/", "h.example"),
    ] {
        let message = format!("scheme not allowed: {scheme}");
        assert_eq!(fetch(&strict, url).unwrap(), message, "{url}");
    }
    assert!(network.looked_up().is_empty());
    assert!(network.connected().is_empty());
}

#[test]
fn the_unit_has_no_other_tools() {
    let web = web(FetchPolicy::default());
    let failure = run(&web, "post", &Data::empty(), &Abort::default());
    let failure = failure.unwrap_err();
    assert_eq!(failure.class, ToolClass::InvalidArguments);
    assert_eq!(failure.message, "web/post is no tool of the web unit");
}
