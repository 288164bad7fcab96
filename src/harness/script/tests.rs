use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;
use crate::engine::model::{Content, Message, Origin, Part, Role, Thinking, Usage};
use crate::lua::Data;

fn script(text: &str) -> Script {
    Script::from_yaml(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn round(messages: impl Into<Vec<Message>>) -> Arc<Round> {
    Arc::new(Round {
        round: 3,
        origin: Origin::Chat,
        model: "scripted".into(),
        messages: messages.into().into(),
        tools: Arc::default(),
        temperature: None,
        max_tokens: None,
        thinking: None,
    })
}

fn user(text: &str) -> Arc<Round> {
    round([Message::text(Role::User, text)])
}

fn terms(show: Option<Show>) -> Terms {
    Terms {
        response_cap: 1,
        receive_timeout: Duration::from_secs(1),
        abort: crate::harness::model::Abort::default(),
        show,
        tap: None,
    }
}

fn take(script: &Script, round: Arc<Round>) -> (Duration, Answered) {
    match script.take(round, terms(None)) {
        Taken::Known(delay, answer) => (delay, answer),
        Taken::Deed(_) => panic!("a script knows its answers"),
    }
}

/// The text of the answer, or its failure.
fn answer(script: &Script, text: &str) -> String {
    match take(script, user(text)).1 {
        Ok(reply) => match reply.body {
            Body::Text(text) => text.to_string(),
            Body::Calls(calls) => format!("{calls:?}"),
        },
        Err(failure) => failure.to_string(),
    }
}

#[test]
fn a_script_plays_the_model_it_names() {
    let usual = script("");
    let expected = Model {
        id: "scripted".into(),
        context: 200_000,
        thinking: Thinking::Switchable,
        description: "Scripted replies".into(),
    };
    assert_eq!(usual.model(), &expected);
    let named = script("model: {id: m1, context: 32000, thinking: never}");
    let model = named.model();
    assert_eq!((&*model.id, model.context), ("m1", 32000));
    assert_eq!(model.thinking, Thinking::Never);
}

#[test]
fn the_first_rule_that_matches_answers() {
    let script = script(
        "rounds:\n- {when: {contains: sum}, reply: A, times: 1}\n- {when: {contains: sum, matches: '^s.m$'}, reply: B}\n- {when: {matches: \"\\\\d+\"}, reply: C, times: 2}\n- {reply: D, times: 1}\n",
    );
    let answers = ["sum", "sum", "sums", "1", "2", "3"].map(|text| answer(&script, text));
    let failed = "the connection to the model backend failed";
    assert_eq!(answers, ["A", "B", "D", "C", "C", failed]);
}

#[test]
fn a_rule_reads_the_last_messages_text_parts() {
    let script = script("rounds: [{when: {matches: \"^a\\nb$\"}, reply: parts}]");
    let parts = vec![
        Part::Text("a".into()),
        Part::Image("x".into()),
        Part::Text("b".into()),
    ];
    let last = Message {
        content: Content::Parts(parts),
        ..Message::text(Role::User, "")
    };
    let messages = [Message::text(Role::User, "c"), last];
    assert!(take(&script, round(messages)).1.is_ok());
}

#[test]
fn a_tools_result_is_known_by_the_call_it_answers() {
    let call = |id: &str, name: &str| ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: Data::empty(),
    };
    let result = |id: &str| Message {
        tool_call_id: Some(id.into()),
        ..Message::text(Role::Tool, "text")
    };
    let messages = [
        Message::text(Role::User, "go"),
        Message {
            tool_calls: vec![call("call_1", "search"), call("call_2", "fetch")],
            ..Message::text(Role::Assistant, "")
        },
        result("call_1"),
        result("call_2"),
    ];
    let script = script(
        "rounds: [{when: {tool_result: search}, reply: s}, {when: {tool_result: fetch}, reply: f}]",
    );
    let of = |count: usize| {
        let reply = take(&script, round(&messages[..count])).1.ok();
        reply.map(|reply| reply.body)
    };
    assert_eq!(of(4), Some(Body::Text("f".into())));
    assert_eq!(of(3), Some(Body::Text("s".into())));
    assert_eq!((of(2), of(1), of(0)), (None, None, None));
}

#[test]
fn calls_are_numbered_over_the_whole_run() {
    let script = script(
        "rounds:\n- calls: [{name: search, arguments: {q: rust, n: [1, 2.5]}}, {name: fetch}]\n  reply: dropped\n  delay_ms: 20\n",
    );
    let ids = |taken: (Duration, Answered)| {
        assert_eq!(taken.0, Duration::from_millis(20));
        let reply = taken.1.expect("answers");
        assert_eq!(reply.finish_reason.as_deref(), Some("tool_calls"));
        let Body::Calls(calls) = reply.body else {
            panic!("it calls tools")
        };
        assert_eq!(calls[0].arguments.to_json(), r#"{"n":[1,2.5],"q":"rust"}"#);
        assert_eq!(calls[1].arguments, Data::empty());
        calls
            .iter()
            .map(|call| call.id.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(take(&script, user(""))), ["call_1", "call_2"]);
    assert_eq!(ids(take(&script, user(""))), ["call_3", "call_4"]);
}

#[test]
fn a_reply_has_the_rest_of_what_the_rule_says() {
    let script = script(
        "rounds:\n- {reply: '', reasoning: hm, finish_reason: length, times: 1, usage: {prompt_tokens: 1000, completion_tokens: 50, reasoning_tokens: 20}}\n- {reply: x, finish_reason: null}\n",
    );
    let reply = take(&script, user("")).1.expect("answers");
    let usage = Usage {
        prompt_tokens: 1000,
        completion_tokens: 50,
        total_tokens: 1050,
        cached_tokens: None,
        reasoning_tokens: Some(20),
    };
    assert_eq!(
        (reply.metrics.usage, &*reply.reasoning),
        (Some(usage), "hm")
    );
    assert_eq!(reply.finish_reason.as_deref(), Some("length"));
    assert_eq!(
        (reply.body, &*reply.model),
        (Body::Text("".into()), "scripted")
    );
    let reply = take(&script, user("")).1.expect("answers");
    assert_eq!(reply.finish_reason, None);
}

#[test]
fn errors_are_what_they_would_be_on_the_wire() {
    let table = [
        (
            "{transport: true}",
            "the connection to the model backend failed",
        ),
        (
            "{timeout: true}",
            "the model backend did not answer in time",
        ),
        (
            "{status: 503}",
            "the model backend is overloaded (status 503)",
        ),
        (
            "{status: 429, body: out of credit}",
            "the model backend says the usage quota is spent (status 429)",
        ),
        (
            "{overflow: true}",
            "the request is larger than the model's context window (status 400)",
        ),
        (
            "{malformed: tool call id was blank}",
            "the model backend sent a reply that could not be understood: tool call id was blank",
        ),
    ];
    for (error, message) in table {
        let script = script(&format!("rounds: [{{error: {error}}}]"));
        assert_eq!(answer(&script, ""), message);
    }
    let script = script("rounds: [{calls: [{name: a}], finish_reason: length}]");
    assert_eq!(
        answer(&script, ""),
        "the model backend sent a reply that could not be understood: tool-call batch truncated by \
         finish_reason \"length\": partial arguments must not execute"
    );
}

#[test]
fn a_round_without_a_rule_is_told_of() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let list = told.clone();
    let script = script("rounds: []").on_unanswered(move |round, message| {
        list.lock().unwrap().push((round, message.to_owned()));
    });
    answer(&script, &"é".repeat(81));
    answer(&script, "short");
    let expected = [(3, "é".repeat(80)), (3, "short".to_owned())];
    assert_eq!(*told.lock().unwrap(), expected);
}

#[test]
fn pieces_are_shown_until_one_is_unwelcome() {
    let script = script("rounds: [{reasoning: \"r\\n\", reply: \"a\\nb\"}]");
    let seen = Arc::new(Mutex::new(String::new()));
    let list = seen.clone();
    let show = Show::new(move |piece| {
        let mark = if piece.reasoning { '?' } else { '!' };
        let mut list = list.lock().unwrap();
        *list += &format!("{mark}{}", piece.text);
    });
    script.take(user(""), terms(Some(show)));
    assert_eq!(*seen.lock().unwrap(), "?r\n!a\n!b");

    let calls = Arc::new(AtomicUsize::new(0));
    let count = calls.clone();
    let show = Show::new(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        std::panic::panic_any("no more");
    });
    script.take(user(""), terms(Some(show)));
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[test]
fn what_is_wrong_with_a_script_has_its_line() {
    let table = [
        (
            "rounds:\n- {repy: x}\n",
            "2: rounds[0].repy: unknown field `repy`, expected one of `when`, `times`, `delay_ms`, `reply`, `calls`, `reasoning`, `finish_reason`, `usage`, `error`",
        ),
        (
            "rounds:\n- reply: x\n- times: 1\n",
            "3: rounds[1]: a rule has a `reply`, `calls` or an `error`",
        ),
        (
            "rounds:\n- reply: x\n  error: {timeout: true}\n",
            "2: rounds[0]: a rule with an `error` has no reply",
        ),
        (
            "rounds:\n- error: {timeout: true, status: 500}\n",
            "2: rounds[0].error: an error is one of `transport`, `timeout`, `status`, `malformed`, `overflow`",
        ),
        (
            "rounds:\n- error: {timeout: false}\n",
            "2: rounds[0].error: it is `true`, or not there",
        ),
        (
            "rounds:\n- error: {body: x}\n",
            "2: rounds[0].error: a `body` goes with a `status`",
        ),
        (
            "rounds:\n- error: {status: 204}\n",
            "2: rounds[0].error: `status` is an HTTP status that tells of a failure",
        ),
        (
            "rounds:\n- when:\n    matches: '('\n  reply: x\n",
            "3: rounds[0].when.matches: invalid regular expression: unclosed group",
        ),
        (
            "rounds:\n- calls:\n  - name: ' '\n",
            "3: rounds[0].calls[0].name: the name is blank",
        ),
        (
            "rounds:\n- calls:\n  - name: a\n    arguments: [1]\n",
            "4: rounds[0].calls[0].arguments: arguments are a map",
        ),
        (
            "rounds:\n- calls:\n  - name: a\n    arguments: {x: [.inf]}\n",
            "4: rounds[0].calls[0].arguments: arguments are JSON, which has no number that is not finite",
        ),
        (
            "rounds:\n- {reply: x, usage: {prompt_tokens: 1}}\n",
            "2: rounds[0].usage: missing field `completion_tokens`",
        ),
        (
            "model: {context: 0}\n",
            "1: model.context: invalid value: integer `0`, expected a nonzero u32",
        ),
        (
            "model: {id: ''}\n",
            "1: model.id: invalid model id: name must not be empty",
        ),
        (
            "model: {thinking: often}\n",
            "1: model.thinking: unknown variant `often`, expected one of `never`, `always`, `switchable`",
        ),
        (
            "rounds:\n- reply: [x]\n",
            "2: rounds[0].reply: invalid type: sequence, expected a string",
        ),
    ];
    for (text, expected) in table {
        let error = Script::from_yaml(text).expect_err(text);
        assert_eq!(error.to_string(), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_panics(
        text in "(rounds:\n)?([ -]{0,2}(when|reply|calls|error|times|usage)?[:{}\\[\\], ]{0,4}[a-z0-9'\"&*!|]{0,4}\n){0,6}",
    ) {
        match Script::from_yaml(&text) {
            Ok(script) => drop(answer(&script, &text)),
            Err(error) => prop_assert!((1..=text.lines().count() + 1).contains(&error.line)),
        }
    }
}
