//! Debug events of runs that a gateway serves (spec K188, K188a).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use runvil::engine::model::{FailureClass, Model, ModelFailure, Reply, Round, Thinking};
use runvil::harness::gateway::{Connection, Gateway};
use runvil::harness::model::{Broker, DebugEvents, Taken, Terms};
use runvil::harness::record::Recorder;
use runvil::harness::{Harness, Launch, Limits};
use runvil::{Event, Outcome};
use serde_json::Value;

use crate::server::{DONE, STREAM, Server, Step, choice, chunk, event, reply, stream, text, well};

/// Text of a rejection that nobody may see but who debugs.
const PRIVATE: &str = "PRIVATE-4711";
const KEY: &str = "sk-0123456789";

/// One round of `models.infer`, whose failure is caught.
const ASKS: &str = "local ok, said = pcall(models.infer, 'hi') return tostring(said)";

fn prompt(lua: &str) -> String {
    format!(
        "---\nname: t\ndescription: d\nrunvil: 0\nmodels: {{ m: {{}} }}\n---\n\
         # T\n\n```lua\nmodels.default('m')\n```\n\n## A\n\n```lua\n{lua}\n```\n\n\
         ## Arm\n\n```lua\nreturn models.infer(item)\n```\n"
    )
}

/// What a run showed, each part as JSON.
struct Seen {
    outcome: Outcome,
    /// All events in the order in which they came, those for debugging among them.
    events: Vec<Value>,
    record: String,
}

impl Seen {
    fn of_kind(&self, kind: &str) -> Vec<&Value> {
        let of_kind = |event: &&Value| event["kind"] == kind;
        self.events.iter().filter(of_kind).collect()
    }

    /// The kinds of the events of the section's round, in order.
    fn kinds(&self) -> Vec<&str> {
        let kinds = self
            .events
            .iter()
            .filter_map(|event| event["kind"].as_str());
        let of_round =
            |kind: &&str| ["request", "response"].contains(kind) || kind.starts_with("model_turn");
        kinds.filter(of_round).collect()
    }

    /// The body of the one response.
    #[track_caller]
    fn response(&self) -> &str {
        let responses = self.of_kind("response");
        assert_eq!(responses.len(), 1, "{:?}", self.kinds());
        responses[0]["body"].as_str().unwrap()
    }

    /// That nothing but a response has this text.
    #[track_caller]
    fn is_nowhere_else(&self, words: &str) {
        let events = self
            .events
            .iter()
            .filter(|event| event["kind"] != "response");
        let told: Vec<String> = events.map(Value::to_string).collect();
        let outcome = format!("{:?}", self.outcome);
        for told in told.iter().chain([&outcome, &self.record]) {
            assert!(!told.contains(words), "{told}");
        }
    }
}

fn gateway(server: &Server, key: Option<&str>) -> Arc<dyn Broker> {
    let connection = Connection::new(&server.url(), key).unwrap();
    Arc::new(Gateway::new(connection, BTreeMap::new()).unwrap())
}

/// A launch whose rounds this broker answers.
fn launch(broker: Arc<dyn Broker>) -> Launch {
    Launch {
        model: Some(Model {
            id: "m1".into(),
            context: 8000,
            thinking: Thinking::Never,
            description: "".into(),
        }),
        broker: Some(broker),
        ..Launch::default()
    }
}

/// Runs a block with debug events, each of which `told` is told of as it comes.
fn run_telling(lua: &str, launch: Launch, told: impl Fn(&Value) + Send + Sync + 'static) -> Seen {
    let events = Arc::<Mutex<Vec<Value>>>::default();
    let seen = events.clone();
    let runs = thread::current().id();
    let debug = DebugEvents::new(move |event| {
        assert_eq!(thread::current().id(), runs, "not on the run's own thread");
        let event = serde_json::to_value(event).unwrap();
        told(&event);
        seen.lock().unwrap().push(event);
    });
    let record = tempfile::NamedTempFile::new().unwrap();
    let launch = Launch {
        debug: Some(debug),
        record: Some(Recorder::new(record.reopen().unwrap())),
        ..launch
    };
    let report = Harness::default().run(&prompt(lua), launch, &mut |event: &Event| {
        events
            .lock()
            .unwrap()
            .push(serde_json::to_value(event).unwrap());
    });
    let events = events.lock().unwrap().clone();
    Seen {
        outcome: report.outcome,
        events,
        record: std::fs::read_to_string(record.path()).unwrap(),
    }
}

fn run(lua: &str, launch: Launch) -> Seen {
    run_telling(lua, launch, |_| {})
}

/// What one round showed whose server does so.
fn round(steps: Vec<Step>) -> Seen {
    let server = Server::first(steps);
    run(ASKS, launch(gateway(&server, Some(KEY))))
}

#[test]
fn a_streamed_reply_is_given_as_it_came() {
    let body = String::new()
        + ": ping\r\n\r\n"
        + &event(&choice(r#""delta":{"reasoning_content":"h"}"#))
        + &event(&choice(r#""delta":{"thinking":"m"}"#))
        + &text("so")
        + &event(&choice(r#""delta":{},"finish_reason":"length""#))
        + DONE;
    let mut sent = STREAM.as_bytes().to_vec();
    for piece in body.as_bytes().chunks(11) {
        sent.extend(chunk(piece));
    }
    sent.extend(chunk(""));
    let server = Server::always(sent);
    let seen = run(ASKS, launch(gateway(&server, Some(KEY))));
    assert_eq!(seen.outcome, Outcome::Completed("so".to_owned()));
    assert_eq!(
        seen.kinds()[..3],
        ["request", "response", "model_turn_completed"]
    );
    let request = seen.of_kind("request")[0];
    assert_eq!(request["body"], server.requests()[0].body);
    let response = seen.of_kind("response")[0];
    let came = response["body"].as_str().unwrap();
    // What follows the last words may not be read.
    assert_eq!(came.trim_end(), body.trim_end());
    assert_eq!(response["finish_reason"], "length");
    assert_eq!(response["reasoning_content"], "hm");
    for event in [request, response] {
        assert_eq!(
            (&event["section"], &event["turn"]),
            (&"A".into(), &1.into())
        );
        assert_eq!(event["provenance"], serde_json::json!({"task": "0"}));
        assert_eq!(event["execution"], seen.events[0]["execution"]);
        assert!(!event.to_string().contains(KEY), "{event}");
    }
    assert!(!seen.record.contains("ping"));
    assert!(!seen.record.contains("stream_options"));
}

#[test]
fn a_plain_reply_is_given_as_it_came() {
    let body = "{\"choices\":[ {\"message\":{\"content\":\"so\",\"reasoning\":\"hm\"},\n\
                \"finish_reason\":\"stop\"}]}";
    let seen = round(vec![Step::Send(reply("200 OK", "application/json", body))]);
    assert_eq!(seen.response(), body);
    let response = seen.of_kind("response")[0];
    assert_eq!(response["finish_reason"], "stop");
    assert_eq!(response["reasoning_content"], "hm");
}

#[test]
fn what_a_rejection_says_is_for_debugging_alone() {
    // spec M68, M73
    let words = format!("{PRIVATE}: no such model as \"m1\"\n");
    let seen = round(vec![Step::Send(reply(
        "404 Not Found",
        "text/plain",
        &words,
    ))]);
    assert_eq!(seen.kinds(), ["request", "response", "model_turn_failed"]);
    assert_eq!(seen.response(), words);
    let response = seen.of_kind("response")[0].as_object().unwrap();
    assert!(!response.contains_key("finish_reason"));
    assert!(!response.contains_key("reasoning_content"));
    seen.is_nowhere_else(PRIVATE);
    let failed = "the model backend rejected the request (status 404)";
    assert_eq!(seen.outcome, Outcome::Completed(failed.to_owned()));
}

#[test]
fn a_key_that_comes_back_is_not_shown() {
    let body = format!("{{\"error\":\"wrong key {KEY}, {KEY}!\"}}");
    let seen = round(vec![Step::Send(reply("401 No", "application/json", body))]);
    assert_eq!(seen.response(), "{\"error\":\"wrong key [key], [key]!\"}");
    let all: Vec<String> = seen.events.iter().map(Value::to_string).collect();
    assert!(!all.concat().contains(KEY));
    let said = event(&choice(&format!(
        r#""delta":{{"reasoning":"{KEY}"}},"finish_reason":"{KEY}""#
    )));
    let seen = round(vec![Step::Send(stream(said + DONE))]);
    let response = seen.of_kind("response")[0];
    assert_eq!(response["reasoning_content"], "[key]");
    assert!(!response.to_string().contains(KEY), "{response}");
    // One that may be any word is not looked for.
    let server = Server::always(reply("401 No", "text/plain", "no word"));
    let seen = run(ASKS, launch(gateway(&server, Some("word"))));
    assert_eq!(seen.response(), "no word");
}

/// What a round showed that was asked with this key and got this answer.
fn keyed(key: &str, steps: Vec<Step>, response_cap: Option<u64>) -> Seen {
    let server = Server::first(steps);
    let mut launch = launch(gateway(&server, Some(key)));
    if let Some(cap) = response_cap {
        launch.limits.response_cap = cap;
    }
    run(ASKS, launch)
}

#[test]
fn a_key_that_comes_back_escaped_is_not_shown() {
    let key = r#"sk-quote"key/1234"#;
    for echo in [
        r#"sk-quote\"key/1234"#,
        r#"sk-quote\"key\/1234"#,
        r"\u0073k-quote\u0022key\u002F1234",
        r#"sk-quote\\\"key\\/1234"#,
    ] {
        let body = format!("{{\"error\":\"wrong key '{echo}'\"}}");
        let rejects = reply("401 No", "application/json", body);
        let seen = keyed(key, vec![Step::Send(rejects)], None);
        assert_eq!(seen.response(), "{\"error\":\"wrong key '[key]'\"}");
    }
}

#[test]
fn a_key_with_white_space_around_it_comes_back_without() {
    let body = format!("wrong key <{KEY}>");
    for key in [format!("{KEY} "), format!("\t{KEY}"), format!(" {KEY}\t")] {
        let rejects = reply("401 No", "text/plain", &body);
        let seen = keyed(&key, vec![Step::Send(rejects)], None);
        assert_eq!(seen.response(), "wrong key <[key]>");
    }
}

#[test]
fn a_reply_that_ends_within_the_key_does_not_show_its_start() {
    // It breaks off, in a rejection and in a stream.
    let head = "HTTP/1.1 500 No\r\nContent-Length: 9000\r\n\r\n";
    let part = &KEY[..KEY.len() - 1];
    let broken = format!("{head}wrong key {part}");
    let seen = keyed(KEY, vec![Step::Send(broken.into()), Step::Close], None);
    assert_eq!(seen.response(), "wrong key [key]");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9000\r\n\r\n";
    let said = event(&choice(&format!(r#""delta":{{"reasoning":"{part}"}}"#)));
    let broken = format!("{head}{said}data: {{\"choices\":[{{\"delta\":{{\"content\":\"{part}");
    let seen = keyed(KEY, vec![Step::Send(broken.into()), Step::Close], None);
    assert_eq!(seen.of_kind("response")[0]["reasoning_content"], "[key]");
    assert!(seen.response().ends_with("\"content\":\"[key]"));
    // The cap cuts it.
    let long = text(&format!("{KEY}{}", "a".repeat(500)));
    let until = long.find(KEY).unwrap();
    let cap = Some((until + KEY.len() - 1) as u64);
    let seen = keyed(KEY, vec![Step::Send(stream(&long))], cap);
    assert_eq!(seen.response(), format!("{}[key]", &long[..until]));
}

#[test]
fn a_key_that_comes_back_in_pieces_is_not_shown() {
    let said = |words: [&str; 3]| words.map(text).concat() + DONE;
    let (start, end) = KEY.split_at(6);
    let sent = stream(said(["so ", &format!("<{start}"), &format!("{end}>")]));
    let seen = keyed(KEY, vec![Step::Send(sent)], None);
    assert_eq!(
        seen.response().trim_end(),
        said(["so ", "<[key]", ">"]).trim_end()
    );
    // It is the run's own all the same.
    let outcome = Outcome::Completed(format!("so <{KEY}>"));
    assert_eq!(seen.outcome, outcome);
}

#[test]
fn what_came_of_a_reply_that_breaks_off_is_given() {
    let part = text("par");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9000\r\n\r\n";
    let seen = round(vec![
        Step::Send(format!("{head}{part}").into()),
        Step::Close,
    ]);
    assert_eq!(seen.kinds(), ["request", "response", "model_turn_failed"]);
    assert_eq!(seen.response(), part);
    // What falls silent is the same.
    let server = Server::first(vec![
        Step::Send(format!("{head}{part}").into()),
        Step::Stall,
    ]);
    let launch = Launch {
        limits: Limits {
            receive_timeout: 1,
            ..Limits::default()
        },
        ..launch(gateway(&server, None))
    };
    let seen = run(ASKS, launch);
    assert_eq!(seen.kinds(), ["request", "response", "model_turn_failed"]);
    assert_eq!(seen.response(), part);
    // An error's body alike.
    let head = "HTTP/1.1 500 No\r\nContent-Length: 9000\r\n\r\n";
    let seen = round(vec![
        Step::Send(format!("{head}{PRIVATE}").into()),
        Step::Close,
    ]);
    assert_eq!(seen.response(), PRIVATE);
    seen.is_nowhere_else(PRIVATE);
}

#[test]
fn what_is_malformed_is_given_as_it_came() {
    let body = format!("data: {{\"{PRIVATE}\"\n\n{DONE}");
    let seen = round(vec![Step::Send(stream(&body))]);
    assert_eq!(seen.kinds(), ["request", "response", "model_turn_failed"]);
    assert_eq!(seen.response(), body);
    seen.is_nowhere_else(PRIVATE);
    // No text holds all bytes.
    let seen = round(vec![Step::Send(reply("500 No", "text/plain", b"a\xffb"))]);
    assert_eq!(seen.response(), "a\u{fffd}b");
}

#[test]
fn a_reply_is_given_up_to_the_cap() {
    // spec M71
    let long = text(&"a".repeat(500));
    let server = Server::always(stream(long.clone() + DONE));
    let launch = Launch {
        limits: Limits {
            response_cap: 100,
            ..Limits::default()
        },
        ..launch(gateway(&server, None))
    };
    let seen = run(ASKS, launch.clone());
    assert_eq!(seen.kinds(), ["request", "response", "model_turn_failed"]);
    assert_eq!(seen.response(), &long[..100]);
    // A rejection that says beforehand that it is too long is not read.
    let server = Server::always(reply("500 No", "text/plain", "a".repeat(500)));
    let broker = Some(gateway(&server, None));
    let seen = run(ASKS, Launch { broker, ..launch });
    assert_eq!(seen.kinds(), ["request", "model_turn_failed"]);
}

#[test]
fn where_nothing_came_there_is_no_response() {
    let empty = reply("503 No", "text/plain", "");
    let endless = STREAM.as_bytes().to_vec();
    for steps in [
        vec![Step::Close],
        vec![Step::Send(empty)],
        vec![Step::Send(endless), Step::Close],
    ] {
        let seen = round(steps.clone());
        assert_eq!(seen.kinds(), ["request", "model_turn_failed"], "{steps:?}");
    }
    // Nobody listens there.
    let server = Server::always(well());
    let broker = gateway(&server, None);
    let url = server.address;
    drop(server);
    while std::net::TcpStream::connect(url).is_ok() {}
    let seen = run(ASKS, launch(broker));
    assert_eq!(seen.kinds(), ["request", "model_turn_failed"]);
}

#[test]
fn a_request_that_is_sent_again_is_one() {
    // spec M68: the gateway closes the connection that was kept
    let server = Server::new(|nth, _| match nth {
        1 => vec![Step::Close],
        _ => vec![Step::Send(well())],
    });
    let lua = "models.infer('hi') return models.infer('again')";
    let seen = run(lua, launch(gateway(&server, None)));
    assert_eq!(seen.outcome, Outcome::Completed("well".to_owned()));
    assert_eq!((server.requests().len(), server.accepted()), (3, 2));
    assert_eq!(
        (
            seen.of_kind("request").len(),
            seen.of_kind("response").len()
        ),
        (2, 2)
    );
}

#[test]
fn a_request_is_given_while_its_round_hangs() {
    // spec K178: and a round that is stopped then has no response, whatever came of its reply
    let part = [STREAM.as_bytes(), &chunk(text("part"))].concat();
    for sent in [Vec::new(), part] {
        let server = Server::first(vec![Step::Send(sent), Step::Stall]);
        let launch = launch(gateway(&server, None));
        let stop = launch.stop.clone();
        let waits = Arc::new(server);
        let hangs = waits.clone();
        let seen = run_telling(ASKS, launch, move |event| {
            assert_eq!(event["kind"], "request");
            let (server, stop) = (hangs.clone(), stop.clone());
            thread::spawn(move || {
                server.await_requests(1);
                thread::sleep(Duration::from_millis(50));
                stop.stop();
            });
        });
        assert_eq!(seen.kinds(), ["request"]);
        assert_eq!(
            seen.outcome,
            Outcome::Completed("interrupted by Ctrl-C".to_owned())
        );
        assert!(waits.hung_up(1));
    }
}

#[test]
fn arms_have_their_own_coordinates() {
    // spec K183, K197: whichever is answered first
    let server = Server::new(|_, request| {
        let is_slow = request.body.contains("\"x\"");
        let wait = Duration::from_millis(if is_slow { 60 } else { 0 });
        vec![Step::Wait(wait), Step::Send(well())]
    });
    let lua = "tasks.fanout('## Arm', { 'x', 'y', 'z' }) return models.infer('end')";
    let seen = run(lua, launch(gateway(&server, None)));
    let told = |kind| -> Vec<(String, String, u64, bool)> {
        let of_kind = seen.of_kind(kind).into_iter();
        let place = |event: &Value| {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let body = text(&event["body"]);
            let task = text(&event["provenance"]["task"]);
            let item = ["x", "y", "z", "end"][match &*task {
                "0" => 3,
                task => task[2..].parse::<usize>().unwrap(),
            }];
            let is_its_own = kind == "response" || body.contains(&format!("\"{item}\""));
            (
                task,
                text(&event["section"]),
                event["turn"].as_u64().unwrap(),
                is_its_own,
            )
        };
        of_kind.map(place).collect()
    };
    let expected = |task: &str, section: &str| (task.to_owned(), section.to_owned(), 1, true);
    let mut all = [
        expected("0.0", "Arm"),
        expected("0.1", "Arm"),
        expected("0.2", "Arm"),
        expected("0", "A"),
    ];
    assert_eq!(told("request"), all);
    let mut responses = told("response");
    assert_eq!(responses.pop(), Some(expected("0", "A")));
    assert_eq!(
        responses.pop(),
        Some(expected("0.0", "Arm")),
        "the slow one"
    );
    responses.sort();
    all.sort();
    assert_eq!(responses, [all[2].clone(), all[3].clone()]);
}

/// Tells what listens in from its deed, as a broker may.
#[derive(Debug)]
struct Late;

impl Broker for Late {
    fn take(&self, _: Arc<Round>, terms: Terms) -> Taken {
        Taken::Deed(Box::new(move || {
            let tap = terms.tap.expect("the host listens in");
            tap.request("asked");
            tap.came(b"answ");
            tap.came(b"ered");
            thread::sleep(Duration::from_millis(50));
            Ok(Box::new(Reply::text("ok", None)))
        }))
    }
}

#[test]
fn a_broker_may_tell_late() {
    let seen = run(ASKS, launch(Arc::new(Late)));
    assert_eq!(
        seen.kinds(),
        ["request", "response", "model_turn_completed"]
    );
    assert_eq!(seen.response(), "answered");
}

/// Answers at once, and holds that nobody listens in.
#[derive(Debug)]
struct Unheard;

impl Broker for Unheard {
    fn take(&self, _: Arc<Round>, terms: Terms) -> Taken {
        let answer = match terms.tap {
            None => Ok(Box::new(Reply::text("unheard", None))),
            Some(_) => Err(ModelFailure::new(FailureClass::Connection, None)),
        };
        Taken::Known(Duration::ZERO, answer)
    }
}

#[test]
fn nothing_is_kept_where_the_host_wants_none() {
    let launch = launch(Arc::new(Unheard));
    let report = Harness::default().run(&prompt(ASKS), launch.clone(), &mut |_| {});
    assert_eq!(report.outcome, Outcome::Completed("unheard".to_owned()));
    // A broker that tells nothing has rounds without debug events.
    let seen = run(ASKS, launch);
    assert_eq!(seen.kinds(), ["model_turn_failed"]);
}
