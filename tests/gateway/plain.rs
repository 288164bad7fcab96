//! Replies that are one JSON object (spec M66a).

use std::sync::{Arc, Mutex};

use runvil::engine::model::{Body, FailureClass, ModelFailure};
use runvil::harness::model::{Show, Terms};

use crate::ask::{LONG, answer, failure, gateway, malformed, perform, round, said, terms};
use crate::server::{Server, Step, reply};

fn plain(body: &str) -> Vec<u8> {
    reply("200 OK", "Application/JSON; charset=utf-8", body)
}

#[test]
fn a_plain_reply_is_read_like_a_chunk() {
    let server = Server::always(plain(
        r#"{"id":"x","object":"chat.completion","model":"m2","choices":[
            {"index":0,"finish_reason":"stop","logprobs":null,"delta":5,
             "message":{"role":"assistant","content":"héllo","reasoning_content":"hm"}},
            {"message":"not looked into"}],
            "usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}"#,
    ));
    let seen = Arc::<Mutex<String>>::default();
    let shown = seen.clone();
    let terms = Terms {
        show: Some(Show::new(move |piece| {
            *shown.lock().unwrap() += piece.text;
        })),
        ..terms(LONG)
    };
    let gateway = gateway(&server.url());
    let reply = perform(&gateway, round(), terms).expect("answers");
    assert_eq!((said(&reply), &*reply.reasoning), ("héllo", "hm"));
    assert_eq!(reply.finish_reason.as_deref(), Some("stop"));
    assert_eq!(&*reply.model, "m2");
    assert_eq!(reply.metrics.usage.expect("usage").total_tokens, 3);
    assert_eq!(reply.degraded, [""; 0]);
    assert_eq!(*seen.lock().unwrap(), "hmhéllo");
    let times = reply.metrics.client.expect("times");
    assert!(times.e2e_ms > 0.0 && times.ttft_ms.is_none() && times.mean_itl_ms.is_none());
    perform(&gateway, round(), crate::ask::terms(LONG)).expect("answers");
    assert_eq!(server.accepted(), 1);
}

#[test]
fn calls_need_no_index() {
    let sent = plain(
        r#"{"choices":[{"message":{"content":null,"tool_calls":[
            {"id":"a","type":"function","function":{"name":"n","arguments":"{}"}},
            {"id":"b","index":0,"function":{"name":"m","arguments":"{\"k\":1}"}}]}}]}"#,
    );
    let reply = answer(sent).expect("answers");
    let Body::Calls(calls) = &reply.body else {
        panic!("{reply:?}");
    };
    let told: Vec<_> = calls
        .iter()
        .map(|c| (&*c.id, c.arguments.to_json()))
        .collect();
    assert_eq!(
        told,
        [("a", "{}".to_owned()), ("b", r#"{"k":1}"#.to_owned())]
    );
}

#[test]
fn malformed_ones_are_told_in_their_own_words() {
    let cases = [
        ("", "completion response was not valid JSON"),
        ("SECRET", "completion response was not valid JSON"),
        ("data: {}", "completion response was not valid JSON"),
        ("{}", "completion response named no choice"),
        ("[]", "completion response named no choice"),
        (
            r#"{"detail":"SECRET"}"#,
            "completion response named no choice",
        ),
        (r#"{"choices":[]}"#, "completion response named no choice"),
        (
            r#"{"choices":{}}"#,
            "completion response `choices` was present but not an array",
        ),
        (
            r#"{"choices":[{"finish_reason":5}]}"#,
            "completion choice `finish_reason` was present but not a string",
        ),
        (
            r#"{"choices":[{"message":"SECRET"}]}"#,
            "completion choice `message` was present but not an object",
        ),
        (
            r#"{"choices":[{"message":{"content":["SECRET"]}}]}"#,
            "completion message `content` was present but not a string",
        ),
        (
            r#"{"choices":[{"message":{"tool_calls":"SECRET"}}]}"#,
            "completion message `tool_calls` was present but not an array",
        ),
        (
            r#"{"choices":[{"message":{"tool_calls":[{"id":5}]}}]}"#,
            "completion tool call `id` was not a string",
        ),
        (
            r#"{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"arguments":{}}}]}}]}"#,
            "completion tool call `arguments` was not a string",
        ),
        (
            r#"{"choices":[{"message":{"tool_calls":[5]}}]}"#,
            "tool call id was blank",
        ),
    ];
    for (body, what) in cases {
        assert_eq!(malformed(plain(body)), what, "{body}");
    }
}

#[test]
fn an_error_in_a_plain_reply_is_classified() {
    let sent = plain(r#"{"error":{"message":"SECRET quota"},"choices":7}"#);
    let failed = failure(vec![Step::Send(sent)], terms(LONG));
    assert_eq!(failed, ModelFailure::new(FailureClass::Quota, None));
}

#[test]
fn a_plain_reply_has_the_streams_cap() {
    let body = format!(
        r#"{{"choices":[{{"message":{{"content":"{}"}}}}]}}"#,
        "a".repeat(900)
    );
    let capped = |cap| Terms {
        response_cap: cap,
        ..terms(LONG)
    };
    let server = Server::always(plain(&body));
    let reply = perform(&gateway(&server.url()), round(), capped(body.len() as u64));
    assert_eq!(said(&reply.expect("passes")).len(), 900);
    let failed = failure(vec![Step::Send(plain(&body))], capped(900));
    assert_eq!(
        crate::ask::what(&failed),
        "response stream exceeds the 900-byte limit"
    );
}
