//! What a model round costs over the HTTP that carries it, alone and in a run; how well rounds run
//! beside each other; and how fast a reply streams. Runs share a Host, as those of a program do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

#[path = "models/late.rs"]
mod late;
#[path = "models/server.rs"]
mod server;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use runvil::Outcome;
use runvil::engine::model::{Body, Model, Round, Thinking, Tool};
use runvil::harness::gateway::{Completion, Form};
use runvil::harness::model::Broker;
use runvil::harness::{Harness, Launch, Limits};
use runvil::lua::Data;
use ureq::Agent;

use late::serve_late;
use server::{event, gateway, large, perform, reply, round, serve};

/// How many rounds are measured in one go.
const ROUNDS: u64 = 100;

/// How many arms the fanout has.
const ARMS: usize = 200;

/// What bare ureq sends: the request of a round.
const REQUEST: &str = concat!(
    r#"{"model":"m","messages":[{"role":"user","content":"Say hello."}],"stream":true,"#,
    r#""stream_options":{"include_usage":true},"#,
    r#""chat_template_kwargs":{"enable_thinking":false}}"#
);

/// Rounds one after another on one connection, against the same requests with bare ureq, their
/// replies read and not decoded: the floor. `run` is a whole run that asks with `models.infer`.
fn rounds(c: &mut Criterion) {
    let harness = Harness::default();
    let url = serve(reply(&[event("Hello"), event(", world"), event("!")]));
    let mut group = c.benchmark_group("rounds");
    group.throughput(Throughput::Elements(ROUNDS));
    group.bench_function("bare ureq", |b| {
        let agent = Agent::new_with_defaults();
        let url = format!("{url}/chat/completions");
        b.iter(|| {
            for _ in 0..ROUNDS {
                ask(&agent, &url);
            }
        });
    });
    group.bench_function("gateway", |b| {
        let (gateway, round) = (gateway(&url), round());
        b.iter(|| {
            for _ in 0..ROUNDS {
                perform(&gateway, &round).expect("answers");
            }
        });
    });
    group.bench_function("run", |b| {
        let gateway: Arc<dyn Broker> = Arc::new(gateway(&url));
        let source = prompt(&format!(
            "for _ = 1, {ROUNDS} do models.infer('Say hello.') end"
        ));
        b.iter(|| run(&harness, &source, &gateway, 8));
    });
    group.finish();
}

/// Rounds of `models.loop` that offer no tools, and 100 with two parameters each, which makes a
/// request of some 20 KB. `request` is such a round without its run.
fn offered(c: &mut Criterion) {
    let harness = Harness::default();
    let url = serve(reply(&[event("Hello")]));
    let mut group = c.benchmark_group("offered tools");
    group.throughput(Throughput::Elements(ROUNDS));
    for count in [0, 100] {
        group.bench_function(format!("request, {count}"), |b| {
            let gateway = gateway(&url);
            let tools = (0..count).map(|i| tool(&format!("tool_{i}")));
            let round = Arc::new(Round {
                tools: tools.collect(),
                ..(*round()).clone()
            });
            b.iter(|| {
                for _ in 0..ROUNDS {
                    perform(&gateway, &round).expect("answers");
                }
            });
        });
        group.bench_function(format!("run, {count}"), |b| {
            let gateway: Arc<dyn Broker> = Arc::new(gateway(&url));
            let source = prompt(&format!(
                "for i = 1, {count} do tools.offer_local('tool_' .. i, '{DESCRIPTION}', \
                 {{ path = {{ 'string', '{DESCRIPTION}' }}, count = 'integer' }}, error) end \
                 for _ = 1, {ROUNDS} do models.loop(messages.new():user('Say hello.')) end"
            ));
            b.iter(|| run(&harness, &source, &gateway, 8));
        });
    }
    group.finish();
}

const DESCRIPTION: &str = "Reads so many lines of a file, from its beginning.";

/// A tool with two parameters.
fn tool(name: &str) -> Tool {
    let text = |text: &str| Data::text(text);
    let path = [("type", text("string")), ("description", text(DESCRIPTION))];
    let properties = [
        ("path", Data::object(path)),
        ("count", Data::object([("type", text("integer"))])),
    ];
    Tool {
        name: name.into(),
        description: DESCRIPTION.into(),
        parameters: Data::object([
            ("type", text("object")),
            ("properties", Data::object(properties)),
            ("required", Data::list([text("count"), text("path")])),
        ]),
    }
}

/// A round with bare ureq.
fn ask(agent: &Agent, url: &str) {
    let request = agent.post(url).content_type("application/json");
    let mut reply = request.send(REQUEST).expect("answers");
    reply.body_mut().read_to_string().expect("a body");
}

/// A fanout of 200 arms with a round each, whose server takes 20 ms: at best as many times that as
/// there are waves, which is 200 / concurrency rounded up. The floor are as many bare threads, which
/// share those rounds out with bare ureq. All connections, and the run's threads, are there from the
/// run before; `connecting` is without.
fn fanout(c: &mut Criterion) {
    let url = serve_late(Duration::from_millis(20), reply(&[event("Hello")]));
    let completions = format!("{url}/chat/completions");
    let source = prompt(&format!(
        "local list = {{}} for i = 1, {ARMS} do list[i] = i end \
         tasks.fanout('### Ask', list)\n```\n\n### Ask\n\n```lua\n\
         return models.infer('Say hello.')"
    ));
    let new_agents = |count| (0..count).map(|_| Agent::new_with_defaults()).collect();
    let new_gateway = || -> Arc<dyn Broker> { Arc::new(gateway(&url)) };
    let harness = Harness::default();
    let mut group = c.benchmark_group("fanout of 200 rounds of 20 ms");
    group.sample_size(10);
    for concurrency in [8, 32, 200] {
        let agents: Vec<Agent> = new_agents(concurrency);
        let gateway = new_gateway();
        group.bench_function(BenchmarkId::new("bare threads", concurrency), |b| {
            b.iter(|| bare_threads(&agents, &completions));
        });
        group.bench_function(BenchmarkId::new("run", concurrency), |b| {
            b.iter(|| run(&harness, &source, &gateway, concurrency));
        });
        group.bench_function(
            BenchmarkId::new("bare threads, connecting", concurrency),
            |b| {
                b.iter(|| bare_threads(&new_agents(concurrency), &completions));
            },
        );
        group.bench_function(BenchmarkId::new("run, connecting", concurrency), |b| {
            b.iter(|| run(&Harness::default(), &source, &new_gateway(), concurrency));
        });
    }
    group.finish();
}

/// A thread for each agent; the rounds go to whoever is free.
fn bare_threads(agents: &[Agent], url: &str) {
    let taken = AtomicUsize::new(0);
    thread::scope(|scope| {
        for agent in agents {
            scope.spawn(|| {
                while taken.fetch_add(1, Ordering::Relaxed) < ARMS {
                    ask(agent, url);
                }
            });
        }
    });
}

/// A prompt with one role, its default, and a section of this Lua.
fn prompt(lua: &str) -> String {
    format!(
        "---\nname: bench\ndescription: Asks.\nrunvil: 0\nmodels: {{ asker: {{}} }}\n---\n\n\
         # Bench\n\n```lua\nmodels.default('asker')\n```\n\n## Main\n\n```lua\n{lua}\n```\n"
    )
}

/// Runs a prompt to its end.
fn run(harness: &Harness, source: &str, gateway: &Arc<dyn Broker>, concurrency: u32) {
    let launch = Launch {
        model: Some(Model {
            id: "m".into(),
            context: 32_768,
            thinking: Thinking::Switchable,
            description: "".into(),
        }),
        broker: Some(gateway.clone()),
        limits: Limits {
            concurrency,
            ..Limits::default()
        },
        ..Launch::default()
    };
    let report = harness.run(source, launch, &mut |_| {});
    assert!(
        matches!(report.outcome, Outcome::Completed(_)),
        "{:?}",
        report.outcome
    );
}

/// A reply that fills the default cap, in texts of 4 KiB.
fn stream(c: &mut Criterion) {
    let events = large();
    let bytes = events.iter().map(String::len).sum::<usize>();
    let text = events.len() * 4096;
    let (gateway, round) = (gateway(&serve(reply(&events))), round());
    let mut group = c.benchmark_group("stream");
    group
        .throughput(Throughput::Bytes(bytes as u64))
        .sample_size(20);
    group.bench_function("16 MiB", |b| {
        b.iter(|| {
            let reply = perform(&gateway, &round).expect("answers");
            assert!(matches!(&reply.body, Body::Text(whole) if whole.len() == text));
        });
    });
    group.finish();
}

/// Decoding the same reply, without the network.
fn decode(c: &mut Criterion) {
    let body = large().concat() + "data: [DONE]\n\n";
    let mut group = c.benchmark_group("decode");
    group
        .throughput(Throughput::Bytes(body.len() as u64))
        .sample_size(20);
    group.bench_function("16 MiB", |b| {
        b.iter(|| {
            let mut completion = Completion::new(Form::Stream);
            for piece in body.as_bytes().chunks(64 << 10) {
                completion.feed(piece, &mut |_| {}).expect("is sound");
            }
            completion.finish(&mut |_| {}).expect("is sound")
        });
    });
    group.finish();
}

criterion_group!(benches, rounds, offered, fanout, stream, decode);
criterion_main!(benches);
