//! What is wrong with a malformed reply, in spec M70's words and none of the reply's.

use runvil::engine::model::Body;

use crate::ask::malformed;
use crate::server::{DONE, choice, event, reply, stream, text};

const PRIVATE: &str = "PRIVATE-4711";

/// The text for a stream that holds a chunk after a good one.
#[track_caller]
fn of_chunk(chunk: &str) -> String {
    let told = malformed(stream(text("begun") + &event(chunk) + DONE));
    assert!(!told.contains(PRIVATE), "{told}");
    told
}

#[track_caller]
fn of_choice(inner: &str) -> String {
    of_chunk(&choice(inner))
}

/// Values of every JSON type but null, a few of them private.
fn values_but(kind: &str) -> Vec<&'static str> {
    let values = [
        ("boolean", "true"),
        ("integer", "7"),
        ("float", "1.5"),
        ("string", r#""PRIVATE-4711""#),
        ("array", r#"["PRIVATE-4711"]"#),
        ("array", "[]"),
        ("object", r#"{"PRIVATE-4711":"PRIVATE-4711"}"#),
        ("object", "{}"),
    ];
    let others = values.iter().filter(|(name, _)| *name != kind);
    others.map(|(_, value)| *value).collect()
}

#[test]
fn chunks_that_are_no_json() {
    let long = "[".repeat(5000);
    for chunk in [
        PRIVATE,
        "{",
        r#"{"a":1}}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"PRIVATE-4711}}]}"#,
        r#"{"choices":5,"x":PRIVATE-4711}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"\ud800"}}]}"#,
        "[DONE",
        &long,
    ] {
        assert_eq!(
            of_chunk(chunk),
            "stream chunk was not valid JSON",
            "{chunk}"
        );
    }
    // No UTF-8.
    let body = [b"data: {\"a\":\"\xff\"}\n\n", DONE.as_bytes()].concat();
    assert_eq!(malformed(stream(body)), "stream chunk was not valid JSON");
    // Two lines of one event that make no chunk together either.
    let body = format!("data: {{\ndata: [DONE\ndata: }}\n\n{DONE}");
    assert_eq!(malformed(stream(body)), "stream chunk was not valid JSON");
    // The end comes within an event.
    let body = format!("data: {PRIVATE}\n{DONE}");
    assert_eq!(malformed(stream(body)), "stream chunk was not valid JSON");
}

#[test]
fn parts_of_other_types() {
    for value in values_but("array") {
        assert_eq!(
            of_chunk(&format!(r#"{{"choices":{value}}}"#)),
            "stream chunk `choices` was present but not an array"
        );
        assert_eq!(
            of_choice(&format!(r#""delta":{{"tool_calls":{value}}}"#)),
            "stream delta `tool_calls` was present but not an array"
        );
    }
    for value in values_but("string") {
        assert_eq!(
            of_choice(&format!(r#""finish_reason":{value}"#)),
            "stream choice `finish_reason` was present but not a string"
        );
        for key in ["content", "reasoning_content", "reasoning", "thinking"] {
            assert_eq!(
                of_choice(&format!(r#""delta":{{"{key}":{value}}}"#)),
                format!("stream delta `{key}` was present but not a string")
            );
        }
    }
    for value in values_but("object") {
        assert_eq!(
            of_choice(&format!(r#""delta":{value}"#)),
            "stream choice `delta` was present but not an object"
        );
    }
}

#[test]
fn indexes_that_are_missing_or_no_integers() {
    let mut values = values_but("integer");
    values.extend(["null", "0.0", "1e0", "18446744073709551616"]);
    for value in values {
        assert_eq!(
            of_chunk(&format!(r#"{{"choices":[{{"index":{value}}}]}}"#)),
            "stream choice had no integer index"
        );
        assert_eq!(
            of_choice(&format!(
                r#""delta":{{"tool_calls":[{{"index":{value}}}]}}"#
            )),
            "stream tool-call fragment had no integer index"
        );
        assert_eq!(
            of_chunk(&format!(r#"{{"choices":[{value}]}}"#)),
            "stream choice had no integer index"
        );
    }
    assert_eq!(
        of_chunk(r#"{"choices":[{}]}"#),
        "stream choice had no integer index"
    );
    assert_eq!(
        of_choice(r#""delta":{"tool_calls":[{"id":"a"}]}"#),
        "stream tool-call fragment had no integer index"
    );
}

#[test]
fn long_lists_are_judged_like_short_ones() {
    let many = |item: &str, last: &str| format!("{}{last}", format!("{item},").repeat(300));
    let other = r#"{"index":1,"delta":"PRIVATE-4711"}"#;
    assert_eq!(
        of_chunk(&format!(r#"{{"choices":[{}]}}"#, many(other, "{}"))),
        "stream choice had no integer index"
    );
    let call = r#"{"index":0,"id":"a","function":{"name":"n"}}"#;
    let delta = |last: &str| format!(r#""delta":{{"tool_calls":[{}]}}"#, many(call, last));
    assert_eq!(
        of_choice(&delta(r#"{"index":0,"id":5}"#)),
        "stream tool-call fragment `id` was not a string"
    );
    let piece = |text: &str| format!(r#"{{"index":0,"function":{{"arguments":"{text}"}}}}"#);
    let pieces = many(&piece(" "), &piece("}"));
    let calls = format!(
        r#""delta":{{"tool_calls":[{},{call},{pieces}]}}"#,
        piece("{")
    );
    let spread = r#"{"index":0,"delta":{"content":"a"}}"#;
    let text = format!(r#"{{"model":"m","choices":[{}]}}"#, many(spread, spread));
    let read = |chunk: &str| crate::ask::answer(stream(event(chunk) + DONE)).expect("answers");
    assert_eq!(crate::ask::said(&read(&text)), "a".repeat(301));
    match &read(&choice(&calls)).body {
        Body::Calls(calls) => assert_eq!((&*calls[0].id, calls.len()), ("a", 1)),
        Body::Text(text) => panic!("calls nothing: {text}"),
    }
}

#[test]
fn other_choices_are_not_looked_into() {
    let odd = r#"{"model":"m","choices":[{"index":1,"delta":"PRIVATE-4711","finish_reason":5}]}"#;
    let sent = stream(event(odd) + &text("well") + DONE);
    let answered = crate::ask::answer(sent).expect("answers");
    assert_eq!(crate::ask::said(&answered), "well");
    assert_eq!(answered.finish_reason, None);
}

#[test]
fn fragments_of_other_types() {
    let of_fragment = |inner: &str| {
        of_choice(&format!(
            r#""delta":{{"tool_calls":[{{"index":0,{inner}}}]}}"#
        ))
    };
    for value in values_but("string") {
        assert_eq!(
            of_fragment(&format!(r#""id":{value}"#)),
            "stream tool-call fragment `id` was not a string"
        );
        for key in ["name", "arguments"] {
            assert_eq!(
                of_fragment(&format!(r#""function":{{"{key}":{value}}}"#)),
                format!("stream tool-call fragment `{key}` was not a string")
            );
        }
    }
    for value in values_but("object") {
        assert_eq!(
            of_fragment(&format!(r#""function":{value}"#)),
            "stream tool-call fragment `function` was not an object"
        );
    }
}

/// A reply that makes these calls, each an id, a name and its arguments.
fn calling(calls: &[(&str, &str, &str)], finish_reason: &str) -> Vec<u8> {
    let fragments: Vec<String> = calls
        .iter()
        .enumerate()
        .map(|(index, (id, name, arguments))| {
            let arguments = serde_json::to_string(arguments).unwrap();
            format!(
                r#"{{"index":{index},"id":"{id}","function":{{"name":"{name}","arguments":{arguments}}}}}"#
            )
        })
        .collect();
    let delta = format!(r#""delta":{{"tool_calls":[{}]}}"#, fragments.join(","));
    let end = choice(&format!(r#""finish_reason":"{finish_reason}""#));
    stream(event(&choice(&delta)) + &event(&end) + DONE)
}

/// The text for a reply that makes these calls.
#[track_caller]
fn of_calls(calls: &[(&str, &str, &str)], finish_reason: &str) -> String {
    let told = malformed(calling(calls, finish_reason));
    assert!(!told.contains(PRIVATE), "{told}");
    told
}

#[test]
fn calls_that_cannot_be_executed() {
    let good = ("a", "n", "{}");
    for blank in ["", " \\n"] {
        let told = of_calls(&[good, (blank, "", PRIVATE)], "stop");
        assert_eq!(told, "tool call id was blank");
        let told = of_calls(&[good, ("b", blank, PRIVATE)], "stop");
        assert_eq!(told, "tool call name was blank");
    }
    for (arguments, error) in [
        ("", "EOF while parsing a value at line 1 column 0"),
        (PRIVATE, "expected value at line 1 column 1"),
        ("{\n\"a\":", "EOF while parsing a value at line 2 column 4"),
        ("{} {}", "trailing characters at line 1 column 4"),
    ] {
        let told = of_calls(&[good, ("b", "n", arguments)], "tool_calls");
        assert_eq!(
            told,
            format!("tool call arguments were not valid JSON: {error}")
        );
    }
    // Values count over all calls, and what stands in strings counts for nothing.
    let many = |item: &str| format!(r#"{{"a":[{item}{}]}}"#, format!(",{item}").repeat(66_000));
    let (first, second) = (many("0"), many("[0]"));
    for calls in [
        &[("a", "n", &*second)][..],
        &[("a", "n", &first), ("b", "n", &first)],
    ] {
        assert_eq!(
            of_calls(calls, "tool_calls"),
            "tool call arguments were not valid JSON: too many values"
        );
    }
    let commas = format!(r#"{{"a":"{}"}}"#, "{[,\\\"".repeat(100_000));
    crate::ask::answer(calling(&[("a", "n", &first), ("b", "n", &commas)], "stop"))
        .expect("few enough");
    for arguments in ["null", "[]", "\"PRIVATE-4711\"", "5"] {
        let told = of_calls(&[("b", "n", arguments)], "");
        assert_eq!(told, "tool call arguments were not a JSON object");
    }
    let told = of_calls(&[(PRIVATE, "n", "{}"), good, (PRIVATE, "m", "{}")], "stop");
    assert_eq!(told, "duplicate tool call id within one turn");
    // case 05/M-C41
    for reason in ["length", "content_filter"] {
        assert_eq!(
            of_calls(&[(" ", PRIVATE, "{")], reason),
            format!(
                "tool-call batch truncated by finish_reason \"{reason}\": partial arguments must \
                 not execute"
            )
        );
    }
}

#[test]
fn streams_that_do_not_say_their_end() {
    let expected = "completion stream ended without the [DONE] sentinel";
    for body in [
        String::new(),
        text("a"),
        text("a") + "data: {\"choices\"",
        text("a") + "data: [DONE",
        text("a") + "[DONE]\n\n",
        text("a") + "data: [DONE]x",
        text("a") + "data: [DONE] \n".trim_end_matches("] \n"),
        format!("<html><body>{PRIVATE}</body></html>\n"),
    ] {
        assert_eq!(malformed(stream(&body)), expected, "{body}");
    }
    let page = format!("<!doctype html>\n<title>{PRIVATE}</title>\n");
    assert_eq!(malformed(reply("200 OK", "text/html", page)), expected);
    assert_eq!(
        malformed(reply("204 No Content", "text/html", "")),
        expected
    );
}
