//! Calls of the web unit.

use std::sync::Arc;

use runvil::engine::tool::{ToolClass, ToolFailure};
use runvil::harness::CancelToken;
use runvil::harness::model::Abort;
use runvil::harness::web::search::{SearchAnswer, SearchProvider, SearchQuery};
use runvil::harness::web::{FetchPolicy, Web};
use runvil::lua::Data;

use crate::active::{self, activate};
use crate::network::{FakeNetwork, PUBLIC};
use crate::server::{Request, Server, Step};

/// A provider that must not be asked.
#[derive(Debug)]
pub struct Unasked;

impl SearchProvider for Unasked {
    fn search(&self, query: &SearchQuery, _: &Abort) -> Result<SearchAnswer, ToolFailure> {
        panic!("asked for {query:?}");
    }
}

/// A web unit that fetches by a policy.
pub fn web(policy: FetchPolicy) -> Web {
    Web::new(policy, Arc::new(Unasked))
}

/// Calls a tool as a script does.
pub fn run(web: &Web, tool: &str, arguments: &Data, abort: &Abort) -> Result<String, ToolFailure> {
    let unit = activate(web, &CancelToken::default()).unwrap();
    let shown = format!("web/{tool}");
    unit.call(&active::call(tool, &shown, arguments.clone(), abort))
}

/// The default policy on a network, but with `http` too.
pub fn policy(network: &FakeNetwork) -> FetchPolicy {
    FetchPolicy {
        schemes: vec!["https".to_owned(), "http".to_owned()],
        network: Arc::new(network.clone()),
        ..FetchPolicy::default()
    }
}

/// The arguments that JSON text is.
pub fn arguments(json: &str) -> Data {
    Data::from_json(json).unwrap()
}

/// Calls fetch with JSON arguments.
pub fn call(web: &Web, json: &str) -> Result<String, ToolFailure> {
    run(web, "fetch", &arguments(json), &Abort::default())
}

/// Fetches a URL.
pub fn fetch(web: &Web, url: &str) -> Result<String, ToolFailure> {
    call(web, &format!(r#"{{"url":{url:?}}}"#))
}

/// The message of a hard failure.
pub fn hard(result: Result<String, ToolFailure>) -> String {
    let failure = result.expect_err("a hard failure");
    assert_eq!(failure.class, ToolClass::InvalidArguments);
    failure.message
}

/// A server behind [`PUBLIC`] for every name, and its network.
pub fn site(
    script: impl Fn(usize, &Request) -> Vec<Step> + Send + Sync + 'static,
) -> (Server, FakeNetwork) {
    let server = Server::new(script);
    let network = FakeNetwork::default();
    network.serve(PUBLIC, 80, server.address);
    (server, network)
}

/// What fetching from a server comes to that sends these bytes and hangs up.
pub fn fetched(reply: impl Into<Vec<u8>>) -> Result<String, ToolFailure> {
    fetched_with(|_| {}, "{}", reply)
}

/// The same with another policy and more arguments.
pub fn fetched_with(
    change: impl FnOnce(&mut FetchPolicy),
    more: &str,
    reply: impl Into<Vec<u8>>,
) -> Result<String, ToolFailure> {
    let reply = reply.into();
    let (_server, network) = site(move |_, _| vec![Step::Send(reply.clone()), Step::Close]);
    let mut policy = policy(&network);
    change(&mut policy);
    let mut given = arguments(more);
    if let Data::Map(more) = &given {
        let more = more
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()));
        given = Data::object(more.chain([("url".into(), Data::text("http://a.example/p?q=1#f"))]));
    }
    run(&web(policy), "fetch", &given, &Abort::default())
}

/// The content of a result, and whether it was cut.
pub fn content(result: &str) -> (&str, bool) {
    let (head, content) = result.split_once("\n\n").expect("a head");
    (content, head.contains("truncated: true"))
}
