//! What a model round costs over the HTTP that carries it, and how fast a reply streams.

#[path = "models/server.rs"]
mod server;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use runvil::engine::model::Body;
use ureq::Agent;

use server::{event, gateway, large, perform, reply, round, serve};

/// Rounds one after another on one connection, against the same requests with bare ureq, their
/// replies read and not decoded: the floor.
fn rounds(c: &mut Criterion) {
    let url = serve(reply(&[event("Hello"), event(", world"), event("!")]));
    let mut group = c.benchmark_group("rounds");
    group.bench_function("bare ureq", |b| {
        let agent = Agent::new_with_defaults();
        let url = format!("{url}/chat/completions");
        let body = concat!(
            r#"{"model":"m","messages":[{"role":"user","content":"Say hello."}],"stream":true,"#,
            r#""stream_options":{"include_usage":true},"#,
            r#""chat_template_kwargs":{"enable_thinking":false}}"#
        );
        b.iter(|| {
            let request = agent.post(&url).content_type("application/json");
            let mut reply = request.send(body).expect("answers");
            reply.body_mut().read_to_string().expect("a body")
        });
    });
    group.bench_function("gateway", |b| {
        let (gateway, round) = (gateway(&url), round());
        b.iter(|| perform(&gateway, &round).expect("answers"));
    });
    group.finish();
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

criterion_group!(benches, rounds, stream);
criterion_main!(benches);
