//! Lines as they are written, and read back.

use std::sync::Arc;

use super::place::Place;
use super::write;
use super::*;
use crate::engine::model::{
    Body, Content, FailureClass, Message, Metrics, Model, ModelFailure, Origin, Part, Reply, Role,
    Round, Thinking, Tool, ToolCall, Usage,
};
use crate::engine::packs::{PackEntry, Packs};
use crate::engine::store::{Deny, Policy, PolicyRule, StoreFailure, StoreOp, StoreValue};
use crate::engine::tool::{ToolClass, ToolFailure, UnitTool};
use crate::engine::{
    Answer, Effect, EffectId, Event, EventKind, Issued, Outcome, RunError, RunErrorKind,
    ToolRequest, Withdrawal,
};
use crate::harness::{Limits, Seed, StartedAt};
use crate::lua::Data;
use crate::prompt::{Dialect, Location, ParseErrorKind};

/// Writes a line and reads it back.
#[track_caller]
fn there_and_back(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> (String, Line) {
    let mut bytes = Vec::new();
    write(&mut bytes).unwrap();
    let mut reader = Reader::new(&bytes[..]);
    let (number, line) = reader.next().expect("a line").expect("a good one");
    assert_eq!(number, 1);
    assert!(reader.next().is_none());
    assert_eq!(reader.torn(), None);
    assert_eq!(reader.offset(), bytes.len() as u64);
    let text = String::from_utf8(bytes).unwrap();
    (text.trim_end().to_owned(), line)
}

#[track_caller]
fn effect_is(effect: Effect, json: &str) {
    let issued = Issued {
        id: EffectId(3),
        task: "0.1".into(),
        seq: 7,
        effect: effect.clone(),
    };
    let (text, line) = there_and_back(|out| write::effect(out, &of(&issued, 12), &issued.effect));
    let wanted =
        format!(r#"{{"v":1,"t":"effect","task":"0.1","seq":7,"id":3,"at":12,"effect":{json}}}"#);
    assert_eq!(text, wanted);
    let read = EffectLine {
        task: "0.1".to_owned(),
        seq: 7,
        id: EffectId(3),
        at: 12,
        effect,
    };
    assert_eq!(line, Line::Effect(read));
}

fn of(issued: &Issued, at: u64) -> Place {
    let mut place = Place::default();
    place.move_to(issued, at);
    place
}

fn place() -> Place {
    let issued = Issued {
        id: EffectId(0),
        task: "0".into(),
        seq: 7,
        effect: Effect::Timer {
            timer: "t".into(),
            seconds: 1.0,
        },
    };
    of(&issued, 0)
}

#[track_caller]
fn answer_is(answer: Answer, json: &str) {
    let (text, line) = there_and_back(|out| write::answer(out, &place(), 1, &answer));
    let wanted =
        format!(r#"{{"v":1,"t":"answer","task":"0","seq":7,"id":0,"at":1,"answer":{json}}}"#);
    assert_eq!(text, wanted);
    let Line::Answer(line) = line else {
        panic!("{line:?}")
    };
    assert_eq!(line.answer, Answered::Taken(answer));
}

fn call() -> ToolCall {
    ToolCall {
        id: "c1".into(),
        name: "echo".into(),
        arguments: Data::object([("b", Data::Int(1)), ("a", Data::Float(0.5))]),
    }
}

#[test]
fn effects_are_written_in_their_form() {
    // spec R21, each row
    effect_is(
        Effect::Store {
            op: StoreOp::Write {
                path: "a.md".into(),
                contents: "…".into(),
            },
            direct: true,
        },
        r#"{"kind":"store","op":"write","path":"a.md","contents":"…","direct":true}"#,
    );
    effect_is(
        Effect::Store {
            op: StoreOp::Read {
                path: "a".into(),
                start: Some(-1),
                end: None,
            },
            direct: false,
        },
        r#"{"kind":"store","op":"read","path":"a","start":-1}"#,
    );
    effect_is(
        Effect::Timer {
            timer: "0.3".into(),
            seconds: 0.5,
        },
        r#"{"kind":"timer","timer":"0.3","seconds":0.5}"#,
    );
    let request = |call_id: Option<Arc<str>>| {
        Effect::Tool(Arc::new(ToolRequest {
            tool: "web/fetch".into(),
            call_id,
            arguments: call().arguments,
        }))
    };
    effect_is(
        request(Some("call_1".into())),
        r#"{"kind":"tool","tool":"web/fetch","call_id":"call_1","arguments":{"a":0.5,"b":1}}"#,
    );
    effect_is(
        request(None),
        r#"{"kind":"tool","tool":"web/fetch","arguments":{"a":0.5,"b":1}}"#,
    );
    let round = Round {
        round: 0,
        origin: Origin::Chat,
        model: "m1".into(),
        messages: Arc::from([Message::text(Role::User, "hi")]),
        tools: Arc::from([]),
        temperature: None,
        max_tokens: None,
        thinking: None,
    };
    effect_is(
        Effect::Model(Arc::new(round.clone())),
        r#"{"kind":"model","round":0,"origin":"chat","model":"m1","messages":[{"role":"user","content":"hi"}]}"#,
    );
    let messages = [
        Message {
            content: Content::Parts(vec![Part::Text("t".into()), Part::Image("u".into())]),
            ..Message::text(Role::System, "")
        },
        Message {
            tool_calls: vec![call()],
            ..Message::text(Role::Assistant, "")
        },
        Message {
            tool_call_id: Some("c1".into()),
            ..Message::text(Role::Tool, "r")
        },
    ];
    effect_is(
        Effect::Model(Arc::new(Round {
            origin: Origin::Infer,
            messages: Arc::from(messages),
            tools: Arc::from([Tool {
                name: "echo".into(),
                description: "d".into(),
                parameters: Data::object([("type", Data::text("object"))]),
            }]),
            temperature: Some(0.5),
            max_tokens: Some(20),
            thinking: Some(true),
            ..round
        })),
        &(r#"{"kind":"model","round":0,"origin":"infer","model":"m1","messages":["#.to_owned()
            + r#"{"role":"system","content":[{"type":"text","text":"t"},{"type":"image_url","image_url":{"url":"u"}}]},"#
            + r#"{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"echo","arguments":"{\"a\":0.5,\"b\":1}"}}]},"#
            + r#"{"role":"tool","content":"r","tool_call_id":"c1"}],"#
            + r#""tools":[{"name":"echo","description":"d","parameters":{"type":"object"}}],"#
            + r#""temperature":0.5,"max_tokens":20,"thinking":true}"#),
    );
}

#[test]
fn answers_are_written_in_their_form() {
    // spec R21, each row
    answer_is(Answer::Store(Ok(StoreValue::Null)), r#"{"value":null}"#);
    answer_is(
        Answer::Store(Ok(StoreValue::List(vec!["a".into()]))),
        r#"{"value":["a"]}"#,
    );
    answer_is(
        Answer::Store(Err(StoreFailure::not_found("gone"))),
        r#"{"failure":{"reason":"not_found","message":"file not found in store: gone","path":"gone"}}"#,
    );
    answer_is(Answer::Fired, r#"{"fired":true}"#);
    answer_is(Answer::Broken("b".into()), r#"{"broken":"b"}"#);
    answer_is(Answer::Tool(Ok("o".into())), r#"{"output":"o"}"#);
    answer_is(
        Answer::Tool(Err(ToolFailure::new(ToolClass::InvalidArguments, "m"))),
        r#"{"failure":{"class":"InvalidArguments","message":"m"}}"#,
    );
    answer_is(
        Answer::Model(Err(ModelFailure::new(FailureClass::RateLimit, Some(429)))),
        r#"{"failure":{"class":"rate_limit","status":429,"message":"the model backend is limiting the request rate (status 429)"}}"#,
    );
    answer_is(
        Answer::Model(Err(ModelFailure::connection("refused"))),
        r#"{"failure":{"class":"connection","message":"the connection to the model backend failed","cause":"refused"}}"#,
    );
    let reply = Reply {
        finish_reason: Some("stop".into()),
        reasoning: "because".into(),
        model: "m1".into(),
        metrics: Metrics {
            usage: Some(Usage {
                prompt_tokens: 1,
                completion_tokens: 2,
                total_tokens: 3,
                ..Usage::default()
            }),
            ..Metrics::default()
        },
        degraded: vec!["d".into()],
        ..Reply::text("", None)
    };
    answer_is(
        Answer::Model(Ok(Box::new(reply.clone()))),
        r#"{"text":"","finish_reason":"stop","reasoning":"because","model":"m1","metrics":{"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}},"degraded":["d"]}"#,
    );
    answer_is(
        Answer::Model(Ok(Box::new(Reply {
            body: Body::Calls(vec![call()]),
            ..Reply::text("", None)
        }))),
        r#"{"calls":[{"id":"c1","name":"echo","arguments":{"a":0.5,"b":1}}],"model":""}"#,
    );
    let (text, line) = there_and_back(|out| {
        write::withdrawal(out, &place(), 1, Withdrawal::Interrupted);
        Ok(())
    });
    assert!(
        text.ends_with(r#""at":1,"answer":"interrupted"}"#),
        "{text}"
    );
    let Line::Answer(line) = line else {
        panic!("{line:?}")
    };
    assert_eq!(line.answer, Answered::Withdrawn(Withdrawal::Interrupted));
}

#[test]
fn data_as_deep_as_the_language_allows_is_read_back() {
    // spec L37
    let mut data = Data::Null;
    for _ in 1..Data::MAX_DEPTH {
        data = Data::list([data]);
    }
    let arguments = Data::object([("deep", data)]);
    let request = ToolRequest {
        tool: "a/b".into(),
        call_id: None,
        arguments: arguments.clone(),
    };
    let issued = Issued {
        id: EffectId(0),
        task: "0".into(),
        seq: 0,
        effect: Effect::Tool(Arc::new(request)),
    };
    there_and_back(|out| write::effect(out, &of(&issued, 0), &issued.effect));
    let calls = vec![ToolCall {
        arguments,
        ..call()
    }];
    let reply = Reply {
        body: Body::Calls(calls),
        ..Reply::text("", None)
    };
    there_and_back(|out| write::answer(out, &place(), 0, &Answer::Model(Ok(Box::new(reply)))));
}

#[test]
fn other_lines_are_written_in_their_form() {
    // spec R14
    let event = Event {
        kind: EventKind::Checkpoint {
            message: "m".into(),
        },
        execution: "x".into(),
        section: "A".into(),
        task: "0".into(),
        seq: 4,
    };
    let (text, line) = there_and_back(|out| write::event(out, &event));
    assert_eq!(
        text,
        r#"{"v":1,"t":"event","task":"0","seq":4,"event":{"kind":"lua","execution":"x","section":"A","message":"m"}}"#
    );
    let Line::Event(line) = line else {
        panic!("{line:?}")
    };
    assert_eq!(
        (line.kind(), line.section(), line.text("message")),
        ("lua", "A", "m")
    );
    let (text, _) = there_and_back(|out| write::cancel(out, 5, None));
    assert_eq!(text, r#"{"v":1,"t":"cancel","at":5}"#);
    let (text, line) = there_and_back(|out| write::cancel(out, 5, Some(6)));
    assert_eq!(text, r#"{"v":1,"t":"cancel","at":5,"after":6}"#);
    let after = Some(6);
    assert_eq!(line, Line::Cancel(CancelLine { at: 5, after }));
    let (text, _) = there_and_back(|out| write::stop(out, 5, &[EffectId(1), EffectId(9)]));
    assert_eq!(text, r#"{"v":1,"t":"stop","at":5,"ids":[1,9]}"#);
    let failed = RunError {
        kind: RunErrorKind::Parse,
        parse_kind: Some(ParseErrorKind::Structure),
        message: "m".into(),
        location: Some(Location {
            path: Some("p".into()),
            line: Some(13),
            column: None,
            span: Some(100..104),
        }),
    };
    let rows = [
        (
            Outcome::Completed("r".into()),
            r#"{"v":1,"t":"outcome","at":5,"outcome":"completed","result":"r"}"#,
        ),
        (
            Outcome::Cancelled,
            r#"{"v":1,"t":"outcome","at":5,"outcome":"cancelled"}"#,
        ),
        (
            Outcome::Failed(failed),
            r#"{"v":1,"t":"outcome","at":5,"outcome":"failed","kind":"Parse","parse_kind":"Structure","message":"m","location":{"path":"p","line":13,"span":[100,104]}}"#,
        ),
        (
            Outcome::Failed(RunError::new(RunErrorKind::Lua, "l")),
            r#"{"v":1,"t":"outcome","at":5,"outcome":"failed","kind":"Lua","message":"l"}"#,
        ),
    ];
    for (outcome, json) in rows {
        let (text, line) = there_and_back(|out| write::outcome(out, 5, &outcome));
        assert_eq!(text, json);
        assert_eq!(line, Line::Outcome(OutcomeLine { at: 5, outcome }));
    }
}

fn head() -> Head {
    Head {
        run: "p-1".into(),
        run_id: "0".repeat(32),
        name: Some("p".into()),
        prompt_hash: prompt_hash("x"),
        seed: Seed::from(7),
        started_at: StartedAt(0),
        dialect: Dialect::Runvil,
        args: "a".into(),
        input: None,
        limits: Limits::default(),
        store: None,
        model: None,
        packs: None,
        ui: None,
        source: "x".into(),
        engine: ENGINE.into(),
    }
}

#[test]
fn the_first_line_has_all_that_a_run_is_told() {
    // spec R14, R22
    let (text, line) = there_and_back(|out| write::head(out, &head()));
    let wanted = r#"{"v":1,"t":"run","run":"p-1","run_id":"00000000000000000000000000000000","name":"p","prompt_hash":"sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881","seed":"0000000000000000000000000000000000000000000000000000000000000007","started_at":"1970-01-01T00:00:00Z","dialect":"runvil","args":"a","input":null,"limits":{"concurrency":8,"memory":67108864,"log_events":1024,"response_cap":16777216,"receive_timeout":120,"max_rounds":24},"store":null,"model":null,"packs":null,"ui":null,"source":"x","engine":"VERSION"}"#;
    assert_eq!(text, wanted.replace("VERSION", ENGINE));
    assert_eq!(line, Line::Head(Box::new(head())));
    let tool = UnitTool {
        name: "a".into(),
        description: "d".into(),
        parameters: Data::empty(),
        trusted: false,
        structured: true,
    };
    let unit = PackEntry {
        vendor: "acme".into(),
        name: "x".into(),
        declared: true,
        reason: None,
        prelude: Some("y = 1".into()),
        tools: vec![tool],
    };
    let absent = PackEntry {
        reason: Some("why".into()),
        prelude: None,
        tools: Vec::new(),
        ..unit.clone()
    };
    let rule = PolicyRule::new("a/**", Deny::Write, "no").unwrap();
    for (dialect, id) in [(Dialect::Runvil, "x/a"), (Dialect::PromptForge, "acme/x/a")] {
        let full = Head {
            name: None,
            dialect,
            input: Some("i".into()),
            store: Some(StoreHead {
                policy: Policy {
                    read_only: true,
                    rules: vec![rule.clone()],
                },
                is_declared: false,
                checks_open: true,
            }),
            model: Some(Model {
                id: "m".into(),
                context: 9,
                thinking: Thinking::Always,
                description: "d".into(),
            }),
            packs: Some(Packs {
                services: vec!["s/t".into()],
                units: vec![unit.clone(), absent.clone()],
                gaps: vec!["g".into()],
            }),
            ui: Some(Data::object([("k", Data::Int(1))])),
            ..head()
        };
        let (text, line) = there_and_back(|out| write::head(out, &full));
        for part in [
            r#""name":null,"#.to_owned(),
            r#""input":"i","#.to_owned(),
            r#""store":{"read_only":true,"policy":[{"pattern":"a/**","deny":"write","reason":"no"}],"absent":true,"checks":true},"#.to_owned(),
            r#""model":{"id":"m","context":9,"thinking":"always","description":"d"},"#.to_owned(),
            format!(r#""packs":{{"services":["s/t"],"units":[{{"id":"acme/x","declared":true,"prelude":"y = 1","tools":[{{"id":"{id}","description":"d","parameters":{{}},"trusted":false,"structured":true}}]}},{{"id":"acme/x","declared":true,"reason":"why","tools":[]}}],"gaps":["g"]}},"#),
            r#""ui":{"k":1},"#.to_owned(),
        ] {
            assert!(text.contains(&part), "{part} in {text}");
        }
        assert_eq!(line, Line::Head(Box::new(full)));
    }
}

#[track_caller]
fn is_refused(record: &[u8], wanted: &str) {
    let error = Reader::new(record).find_map(Result::err).expect("an error");
    assert_eq!(error.to_string(), wanted);
    let mut reader = Reader::new(record);
    while reader.next().is_some_and(|line| line.is_ok()) {}
    assert!(reader.next().is_none(), "nothing follows an error");
}

#[test]
fn what_is_no_line_is_refused_with_its_number() {
    let good = r#"{"v":1,"t":"cancel","at":5}"#;
    let after = |bad: &str| format!("{good}\n{bad}\n{good}\n");
    for (bad, wanted) in [
        ("", "line 2: it is no line of a record"),
        ("null", "line 2: it is no line of a record"),
        (
            r#"{"v":2,"t":"cancel","at":5}"#,
            "line 2: a record of version 2, and this build reads 1",
        ),
        (
            r#"{"v":1,"t":"x"}"#,
            r#"line 2: "x" is no line of a record"#,
        ),
        (
            r#"{"v":1,"t":"cancel","at":5,"x":1}"#,
            "line 2: unknown field `x`, expected one of `v`, `t`, `at`, `after`, at byte 30",
        ),
        (
            r#"{"v":1,"t":"outcome","at":5,"outcome":"failed"}"#,
            "line 2: it is no outcome",
        ),
        (
            r#"{"v":1,"t":"answer","task":"0","seq":1,"id":1,"at":1,"answer":"late"}"#,
            r#"line 2: "late" is no answer"#,
        ),
        (
            r#"{"v":1,"t":"effect","task":"0","seq":1,"id":1,"at":1,"effect":{"kind":"x"}}"#,
            r#"line 2: "x" is no effect"#,
        ),
    ] {
        is_refused(after(bad).as_bytes(), wanted);
    }
    is_refused(b"{\"v\":1,\"\xff\"}\n", "line 1: it is not UTF-8 text");
    is_refused(b"\0\0{}\n", "line 1: it is no line of a record");
}

#[test]
fn a_torn_last_line_is_what_a_crash_leaves() {
    let whole = b"{\"v\":1,\"t\":\"cancel\",\"at\":5}\n".repeat(2);
    let half = whole.len() / 2;
    for end in half + 1..whole.len() {
        let mut reader = Reader::new(&whole[..end]);
        assert!(reader.next().is_some_and(|line| line.is_ok()));
        assert!(reader.next().is_none());
        let torn = reader.torn().expect("torn");
        assert_eq!((torn.line, torn.offset), (2, half as u64));
        assert_eq!(torn.bytes, whole[half..end]);
    }
    let mut reader = Reader::new(&b"\0\0\0\0"[..]);
    assert!(reader.next().is_none());
    assert_eq!(reader.torn().map(|torn| torn.offset), Some(0));
}
