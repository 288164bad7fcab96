//! Calls of tools with any arguments, by a script and by a model, of a tool with any schema: a
//! unit's tool, a local one, the task tools, and the web's. Nothing panics, every run ends, the same
//! calls do the same, and what a tool is given is what was written.
//!
//! The first line of the input is the schema, every other one a call: a name, a space, and the
//! arguments as JSON.

#![no_main]

#[path = "../../tests/mcp/active.rs"]
mod active;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use runvil::engine::model::{Body, Model, Reply, Round, Thinking, ToolCall};
use runvil::engine::packs::{PackEntry, Packs};
use runvil::engine::tool::{ToolClass, ToolFailure, UnitTool};
use runvil::engine::{Answer, Effect, Item, Outcome, Program, Run, Setup};
use runvil::harness::CancelToken;
use runvil::harness::http::Network;
use runvil::harness::model::Abort;
use runvil::harness::unit::ActiveUnit;
use runvil::harness::web::search::{SearchAnswer, SearchProvider, SearchQuery, SearchResult};
use runvil::harness::web::{FetchPolicy, Web};
use runvil::lua::Data;
use runvil::prompt::Dialect;

const PROMPT: &str = "---
name: calls
description: d
runvil: 0
uses: [acme/x]
models: { m: { description: d } }
---
# Calls

## Main

```lua
models.use('m')
tools.allow_tasks({ '## Work' })
tools.offer_local('own', 'd', { a = 'string' }, function(call) return json.encode(call) end)
local said = { tostring(pcall(tools.offer, 'x/t')) }
for line in args:gmatch('[^\\n]+') do
  local name, arguments = line:match('^(%S*) (.*)$')
  local read, value = pcall(json.decode, arguments or '')
  if read then
    local called, answer = pcall(tools.call, name, value)
    said[#said + 1] = tostring(answer)
  end
end
local talk = messages.new():user('go')
local ok, e = pcall(models.loop, talk)
return table.concat(said, '\\n') .. tostring(ok) .. tostring(e) .. #talk
```

## Work

```lua
return args
```
";

static PROGRAM: LazyLock<Program> = LazyLock::new(|| {
    Program::load(PROMPT, Dialect::Runvil)
        .program
        .expect("it is sound")
});

/// A network on which nothing is found.
#[derive(Debug)]
struct Nowhere;

impl Network for Nowhere {
    fn look_up(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn connect(&self, _: SocketAddr, _: Duration) -> io::Result<TcpStream> {
        Err(io::ErrorKind::ConnectionRefused.into())
    }
}

/// A provider that answers with what it was asked.
#[derive(Debug)]
struct Echo;

impl SearchProvider for Echo {
    fn search(&self, query: &SearchQuery, _: &Abort) -> Result<SearchAnswer, ToolFailure> {
        assert!(!query.query.trim().is_empty() && query.query.chars().count() <= 400);
        assert!(query.count.is_none_or(|count| (1..=20).contains(&count)));
        for hosts in [&query.include_domains, &query.exclude_domains]
            .into_iter()
            .flatten()
        {
            assert!(hosts.len() <= 20 && hosts.iter().all(|host| !host.contains('/')));
        }
        let result = SearchResult {
            title: format!("{query:?}"),
            url: "u".to_owned(),
            ..SearchResult::default()
        };
        Ok(SearchAnswer {
            query: None,
            results: vec![result],
        })
    }
}

static WEB: LazyLock<Arc<dyn ActiveUnit>> = LazyLock::new(|| {
    let policy = FetchPolicy {
        network: Arc::new(Nowhere),
        ..FetchPolicy::default()
    };
    let web = Web::new(policy, Arc::new(Echo));
    active::activate(&web, &CancelToken::default()).expect("it is ready at once")
});

/// The calls of an input: those whose arguments are an object.
fn calls(lines: &str) -> Vec<ToolCall> {
    let calls = lines.lines().filter_map(|line| {
        let (name, arguments) = line.split_once(' ')?;
        let arguments = Data::from_json(arguments).ok()?;
        matches!(arguments, Data::Map(_)).then(|| ToolCall {
            // Two calls may have one id.
            id: name.chars().take(3).collect::<String>().into(),
            name: name.into(),
            arguments,
        })
    });
    calls.take(8).collect()
}

fn setup(schema: &Data, args: &str) -> Setup {
    let tool = UnitTool {
        name: "t".into(),
        description: "d".into(),
        parameters: schema.clone(),
        trusted: true,
        structured: true,
    };
    let pack = PackEntry {
        vendor: "acme".into(),
        name: "x".into(),
        declared: true,
        reason: None,
        prelude: None,
        tools: vec![tool],
    };
    Setup {
        execution: "calls".into(),
        seed: [0; 32],
        when: "2026-01-01T00:00:00Z".into(),
        args: args.into(),
        memory: 64 << 20,
        concurrency: 8,
        log_events: 100_000,
        model: Some(Model {
            id: "m".into(),
            context: u32::MAX,
            thinking: Thinking::Never,
            description: "".into(),
        }),
        packs: Packs {
            units: vec![pack],
            ..Packs::default()
        },
        max_rounds: 24,
        ui: None,
        store: Some(Default::default()),
        opens_store: false,
        cancel: Default::default(),
    }
}

/// What a model answers: all calls at once, then nothing more.
fn answer(round: &Round, schema: &Data, calls: &[ToolCall]) -> Reply {
    let offered = round.tools.iter().find(|tool| *tool.name == *"x_t");
    match schema {
        Data::Map(_) => assert_eq!(offered.map(|tool| &tool.parameters), Some(schema)),
        _ => assert_eq!(offered, None),
    }
    let is_first = round
        .messages
        .iter()
        .all(|message| message.tool_calls.is_empty());
    let body = match is_first && !calls.is_empty() {
        true => Body::Calls(calls.to_vec()),
        false => Body::Text("done".into()),
    };
    Reply {
        body,
        ..Reply::text("", Some("stop"))
    }
}

/// Runs all calls; gives all that the run said of them.
fn ran(schema: &Data, lines: &str, calls: &[ToolCall]) -> (Vec<Item>, Outcome) {
    let mut run = Run::new(PROGRAM.clone(), setup(schema, lines));
    let mut items = Vec::new();
    for _ in 0..10_000 {
        let step = run.step();
        let mut answers = Vec::new();
        for item in &step.items {
            let Item::Effect(issued) = item else { continue };
            let answer = match &issued.effect {
                Effect::Tool(request) => {
                    assert!(matches!(request.arguments, Data::Map(_)));
                    let text = request.arguments.to_json();
                    assert_eq!(Data::from_json(&text).as_ref(), Ok(&request.arguments));
                    if request.call_id.is_some() {
                        assert!(calls.iter().any(|call| call.arguments == request.arguments));
                    }
                    Answer::Tool(Ok(text))
                }
                Effect::Model(round) => Answer::Model(Ok(Box::new(answer(round, schema, calls)))),
                Effect::Timer { .. } => Answer::Fired,
                Effect::Store { .. } => panic!("the prompt has no store calls"),
            };
            answers.push((issued.id, answer));
        }
        items.extend(step.items);
        if let Some(outcome) = step.outcome {
            return (items, outcome);
        }
        assert!(
            step.more || !answers.is_empty(),
            "the run waits for an answer"
        );
        for (id, answer) in answers {
            run.answer(id, answer);
        }
    }
    panic!("the run does not end");
}

fuzz_target!(|input: &str| {
    let (schema, lines) = input.split_once('\n').unwrap_or((input, ""));
    let schema = Data::from_json(schema).unwrap_or_default();
    let calls = calls(lines);
    let (items, outcome) = ran(&schema, lines, &calls);
    assert!(matches!(outcome, Outcome::Completed(_)), "{outcome:?}");
    assert_eq!(ran(&schema, lines, &calls), (items, outcome));
    for call in &calls {
        let ask = |tool| {
            let shown = format!("web/{tool}");
            WEB.call(&active::call(
                tool,
                &shown,
                call.arguments.clone(),
                &Abort::default(),
            ))
        };
        for tool in ["fetch", "search"] {
            let answered = ask(tool);
            if let Err(failure) = &answered {
                assert_eq!(failure.class, ToolClass::InvalidArguments, "{failure}");
                assert!(failure.message.len() < 400, "{failure}");
            }
            assert_eq!(ask(tool), answered);
        }
    }
});
