//! Streamed replies (spec M66, M67, M72, M76).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use runvil::engine::model::{Body, Llama, Reply, Usage, Vllm};
use runvil::harness::gateway::{Completion, Form};
use runvil::harness::model::{Piece, Show, Terms};

use crate::ask::{LONG, answer, gateway, perform, round, said, terms};
use crate::server::{DONE, STREAM, Server, Step, choice, chunk, event, stream, text};

/// What a stream in these pieces comes to.
fn decoded<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Reply {
    let mut completion = Completion::new(Form::Stream);
    for piece in pieces {
        completion.feed(piece, &mut |_| {}).expect("is sound");
    }
    *completion.finish(&mut |_| {}).expect("is sound")
}

fn delta(delta: &str) -> String {
    event(&choice(&format!(r#""delta":{delta}"#)))
}

/// A stream with all that one may hold, framed in every way.
fn rich() -> String {
    let long = r#"{"model":"m2","usage":null,"choices":[{"index":1,"delta":{"content":"no"}},"#;
    let tail = r#"{"index":0,"delta":{"role":"assistant","content":null}}]}"#;
    [
        ": hello\r\n\r\n",
        "event: message\nid: 7\nretry: 1\ndata\n",
        &delta(r#"{"reasoning_content":"thin","role":"assistant"}"#),
        &delta(r#"{"reasoning":"k","content":"é\"\n"}"#).replace("data: ", "data:"),
        &delta(r#"{"thinking":"!","content":"日本🦀"}"#).replace('\n', "\r\n"),
        &delta(r#"{"content":"\ud83e\udd80"}"#).replace('\n', "\r"),
        &delta(r#"{"content":""}"#).replace("data: ", "data: \t "),
        &format!("data: {long}\ndata:\ndata: {tail}\n\n"),
        &event(
            r#"{"model":"","usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}"#,
        ),
        // No blank line between two events.
        &text("a").replace("\n\n", "\n"),
        &text("b"),
        &event(&choice(r#""finish_reason":"stop","delta":{}"#)),
        &event(&choice(r#""finish_reason":null"#)),
        "data: [DONE]",
    ]
    .concat()
}

#[track_caller]
fn is_rich(reply: &Reply) {
    assert_eq!(said(reply), "é\"\n日本🦀🦀ab");
    assert_eq!(&*reply.reasoning, "think!");
    assert_eq!(reply.finish_reason.as_deref(), Some("stop"));
    assert_eq!(&*reply.model, "m");
    assert_eq!(reply.metrics.usage.map(|usage| usage.total_tokens), Some(3));
    assert_eq!(reply.degraded, [""; 0]);
}

#[test]
fn a_stream_may_be_split_at_every_byte() {
    let rich = rich();
    let bytes = rich.as_bytes();
    let whole = decoded([bytes]);
    is_rich(&whole);
    for at in 0..=bytes.len() {
        let (head, tail) = bytes.split_at(at);
        assert_eq!(decoded([head, tail]), whole, "split at {at}");
    }
    assert_eq!(decoded(bytes.chunks(1)), whole);
    // The same over HTTP, a byte at a time.
    let mut sent = STREAM.as_bytes().to_vec();
    for byte in bytes {
        sent.extend(chunk([*byte]));
    }
    sent.extend(chunk(""));
    is_rich(&answer(sent).expect("answers"));
}

#[test]
fn a_stream_may_arrive_a_write_at_a_time() {
    let rich = rich();
    let mut steps = vec![Step::Send(STREAM.into())];
    for piece in rich.as_bytes().chunks(61) {
        steps.push(Step::Send(chunk(piece)));
        steps.push(Step::Wait(Duration::from_millis(1)));
    }
    steps.push(Step::Send(chunk("")));
    let server = Server::first(steps);
    is_rich(&perform(&gateway(&server.url()), round(), terms(LONG)).expect("answers"));
}

#[test]
fn every_framing_of_http_carries_a_stream() {
    let body = text("well") + DONE;
    let length = body.len();
    let framings = [
        format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}"),
        format!("HTTP/1.1 200 OK\r\n\r\n{body}"),
        format!("HTTP/1.0 200 OK\r\n\r\n{body}"),
        format!("HTTP/1.0 200 OK\r\nContent-Length: {length}\r\n\r\n{body}"),
        format!("HTTP/1.1 201 Made\nContent-Length: {length}\n\n{body}"),
        format!("HTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{body}"),
        format!(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n{length:X};a=b\r\n{body}\r\n0\r\nX: y\r\n\r\n"
        ),
    ];
    for sent in framings {
        let server = Server::new(move |_, _| vec![Step::Send(sent.clone().into()), Step::Close]);
        let reply = perform(&gateway(&server.url()), round(), terms(LONG));
        assert_eq!(said(&reply.expect("answers")), "well");
    }
}

#[test]
fn nothing_is_read_after_the_end() {
    let sent = stream(text("well") + DONE + "data: junk\n\n" + &text("more"));
    assert_eq!(said(&answer(sent).expect("answers")), "well");
}

#[test]
fn calls_are_merged_by_their_index_and_content_is_dropped() {
    let sent = [
        delta(r#"{"content":"let me see","tool_calls":[{"index":1,"id":"c","type":"x","function":{"name":"sec"}}]}"#),
        delta(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"first","arguments":""}},{"index":1,"id":"2","function":{"name":"ond","arguments":"{\"k\""}}]}"#),
        delta(r#"{"tool_calls":[{"index":0,"function":{"arguments":" { } "}},{"index":1,"id":null,"function":{"name":null,"arguments":":[1.5]}"}}]}"#),
        event(&choice(r#""finish_reason":"tool_calls""#)),
        DONE.to_owned(),
    ]
    .concat();
    let reply = answer(stream(sent)).expect("answers");
    let Body::Calls(calls) = &reply.body else {
        panic!("{reply:?}");
    };
    let told: Vec<_> = calls
        .iter()
        .map(|call| (&*call.id, &*call.name, call.arguments.to_json()))
        .collect();
    assert_eq!(
        told,
        [
            ("a", "first", "{}".to_owned()),
            ("c2", "second", r#"{"k":[1.5]}"#.to_owned())
        ]
    );
    assert_eq!(reply.finish_reason.as_deref(), Some("tool_calls"));
    assert!(reply.metrics.client.expect("times").ttft_ms.is_some());
}

#[test]
fn a_blank_reply_is_kept_with_its_reason_and_reasoning_is_not_promoted() {
    let reasoning = delta(r#"{"reasoning_content":"hm","content":" \n"}"#);
    let end = event(&choice(r#""finish_reason":"length""#));
    let reply = answer(stream(reasoning + &end + DONE)).expect("answers");
    assert_eq!((said(&reply), &*reply.reasoning), (" \n", "hm"));
    assert_eq!(reply.finish_reason.as_deref(), Some("length"));
    let reply = answer(stream(DONE)).expect("answers");
    assert_eq!((said(&reply), &reply.finish_reason), ("", &None));
}

#[test]
fn metadata_is_kept_or_told_of() {
    let sent = [
        text("a"),
        event(r#"{"usage":{"prompt_tokens":9},"timings":{"prompt_n":1},"choices":null}"#),
        event(
            r#"{"usage":{"prompt_tokens":4294967295,"completion_tokens":2,"total_tokens":3,"x":1,
            "prompt_tokens_details":{"cached_tokens":4,"y":2},
            "completion_tokens_details":{"reasoning_tokens":5}}}"#
                .replace('\n', "")
                .as_str(),
        ),
        event(r#"{"timings":{"prompt_n":3,"prompt_ms":1.5,"draft_n":null},"choices":[]}"#),
        event(r#"{"metrics":{"queue_time_ms":2,"tokens_per_second":0.5}}"#),
        event(r#"{"usage":null,"timings":null,"metrics":null}"#),
        event(r#"["neither"]"#),
        DONE.to_owned(),
    ]
    .concat();
    let reply = answer(stream(sent)).expect("answers");
    let usage = Usage {
        prompt_tokens: u32::MAX,
        completion_tokens: 2,
        total_tokens: 3,
        cached_tokens: Some(4),
        reasoning_tokens: Some(5),
    };
    let llama = Llama {
        prompt_n: Some(3),
        prompt_ms: Some(1.5),
        ..Llama::default()
    };
    let vllm = Vllm {
        queue_time_ms: Some(2.0),
        tokens_per_second: Some(0.5),
        ..Vllm::default()
    };
    assert_eq!(reply.metrics.usage, Some(usage));
    assert_eq!(reply.metrics.llama, Some(llama));
    assert_eq!(reply.metrics.vllm, Some(vllm));
    assert_eq!(reply.degraded, [""; 0]);
}

#[test]
fn malformed_metadata_never_fails_a_round() {
    let sent = [
        event(r#"{"model":5,"choices":[{"index":0,"delta":{"content":"a"}}]}"#),
        event(r#"{"model":null,"usage":{"prompt_tokens":-1},"timings":7,"metrics":[]}"#),
        DONE.to_owned(),
    ]
    .concat();
    let reply = answer(stream(sent)).expect("answers");
    assert_eq!((said(&reply), &*reply.model), ("a", ""));
    let ignored = |key: &str, error: &str| {
        format!("malformed `{key}` in completion response ignored: {error}")
    };
    assert_eq!(
        reply.degraded,
        [
            "completion response named no string `model`; recorded as empty".to_owned(),
            ignored("usage", "`prompt_tokens` is no integer in [0, 4294967295]"),
            ignored("timings", "it is no object"),
            ignored("metrics", "it is no object"),
        ]
    );
    assert_eq!(reply.metrics.usage, None);
    let sent = [
        text("a"),
        event(r#"{"usage":{"prompt_tokens":1}}"#),
        DONE.to_owned(),
    ]
    .concat();
    let reply = answer(stream(sent)).expect("answers");
    assert_eq!(
        reply.degraded,
        [ignored("usage", "missing field `completion_tokens`")]
    );
}

#[test]
fn what_is_told_of_malformed_metadata_quotes_nothing_of_it() {
    let integer = "is no integer in [0, 4294967295]";
    let usage = |inner: &str| {
        format!(r#"{{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2,{inner}}}"#)
    };
    let table = [
        (
            "usage",
            r#""PRIVATE""#.to_owned(),
            "it is no object".to_owned(),
        ),
        (
            "usage",
            r#"{"prompt_tokens":"PRIVATE\u001b[2J","completion_tokens":1,"total_tokens":2}"#
                .to_owned(),
            format!("`prompt_tokens` {integer}"),
        ),
        (
            "usage",
            r#"{"prompt_tokens":1,"completion_tokens":1.0,"total_tokens":"PRIVATE"}"#.to_owned(),
            format!("`completion_tokens` {integer}"),
        ),
        (
            "usage",
            r#"{"prompt_tokens":1,"completion_tokens":1,"total_tokens":1e999}"#.to_owned(),
            format!("`total_tokens` {integer}"),
        ),
        (
            "usage",
            usage(r#""prompt_tokens_details":["PRIVATE"]"#),
            "`prompt_tokens_details` is no object".to_owned(),
        ),
        (
            "usage",
            usage(r#""prompt_tokens_details":{"cached_tokens":4294967296}"#),
            format!("`prompt_tokens_details.cached_tokens` {integer}"),
        ),
        (
            "usage",
            usage(r#""completion_tokens_details":{"reasoning_tokens":{"PRIVATE":1}}"#),
            format!("`completion_tokens_details.reasoning_tokens` {integer}"),
        ),
        (
            "timings",
            r#"{"prompt_n":"PRIVATE"}"#.to_owned(),
            format!("`prompt_n` {integer}"),
        ),
        (
            "timings",
            r#"{"prompt_n":1,"predicted_ms":1e999}"#.to_owned(),
            "`predicted_ms` is no finite number".to_owned(),
        ),
        (
            "metrics",
            r#"{"queue_time_ms":true}"#.to_owned(),
            "`queue_time_ms` is no finite number".to_owned(),
        ),
    ];
    for (key, value, error) in table {
        let sent = text("a") + &event(&format!(r#"{{"{key}":{value}}}"#)) + DONE;
        let reply = answer(stream(sent)).expect("answers");
        assert_eq!(said(&reply), "a");
        let expected = format!("malformed `{key}` in completion response ignored: {error}");
        assert_eq!(reply.degraded, [expected], "{value}");
    }
    // A number that is too large anywhere else, and a name with half a character.
    let odd = r#"{"x":[1e999,"\ud800"],"model":"\ud800","usage":null}"#;
    let reply = answer(stream(text("a") + &event(odd) + DONE)).expect("answers");
    assert_eq!(reply.degraded, [""; 0]);
}

#[test]
fn times_are_taken_of_what_arrives() {
    let pause = Duration::from_millis(40);
    let mut steps = vec![Step::Send(STREAM.into()), Step::Wait(pause)];
    for _ in 0..3 {
        steps.push(Step::Send(chunk(text("a"))));
        steps.push(Step::Wait(pause));
    }
    steps.push(Step::Send([chunk(DONE), chunk("")].concat()));
    let server = Server::first(steps);
    let reply = perform(&gateway(&server.url()), round(), terms(LONG)).expect("answers");
    let times = reply.metrics.client.expect("times");
    let (first, mean) = (times.ttft_ms.unwrap(), times.mean_itl_ms.unwrap());
    assert!(first >= 40.0 && mean >= 30.0, "{times:?}");
    assert!(times.e2e_ms >= first + 2.0 * mean, "{times:?}");
    for time in [first, mean, times.e2e_ms] {
        let micros = time * 1000.0;
        assert!(
            (micros - micros.round()).abs() < 1e-6,
            "{time} is in whole microseconds"
        );
    }
    // One piece has no gaps, none has no first.
    let times = answer(stream(text("a") + DONE))
        .unwrap()
        .metrics
        .client
        .unwrap();
    assert!(times.ttft_ms.is_some() && times.mean_itl_ms.is_none());
    let times = answer(stream(DONE)).unwrap().metrics.client.unwrap();
    assert!(times.ttft_ms.is_none() && times.mean_itl_ms.is_none());
}

#[test]
fn pieces_are_shown_as_they_arrive_and_calls_never() {
    let sent = [
        delta(r#"{"reasoning_content":"hm","content":"a"}"#),
        delta(r#"{"content":"","tool_calls":[{"index":0,"id":"c","function":{"name":"n","arguments":"{}"}}]}"#),
        text("b"),
        DONE.to_owned(),
    ]
    .concat();
    let server = Server::always(stream(sent));
    let gateway = gateway(&server.url());
    let seen = Arc::<Mutex<Vec<(u64, bool, String)>>>::default();
    let pieces = seen.clone();
    let shown = Terms {
        show: Some(Show::new(move |piece: Piece<'_>| {
            let piece = (piece.round, piece.reasoning, piece.text.to_owned());
            pieces.lock().unwrap().push(piece);
        })),
        ..terms(LONG)
    };
    perform(&gateway, round(), shown).expect("answers");
    let expected = [(7, true, "hm"), (7, false, "a"), (7, false, "b")]
        .map(|(round, reasoning, text)| (round, reasoning, text.to_owned()));
    assert_eq!(*seen.lock().unwrap(), expected);

    let count = Arc::<Mutex<u32>>::default();
    let calls = count.clone();
    let panicking = Terms {
        show: Some(Show::new(move |_| {
            *calls.lock().unwrap() += 1;
            // No message on the test's output.
            std::panic::resume_unwind(Box::new(()));
        })),
        ..terms(LONG)
    };
    perform(&gateway, round(), panicking).expect("goes on");
    assert_eq!(count.lock().map(|count| *count).unwrap_or(1), 1);
}
