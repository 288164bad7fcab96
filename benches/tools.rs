//! What a call of a local tool costs, beside the same calls of a plain Lua function.

mod common;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use runvil::engine::{Run, Setup};

use common::{HEADER, finish, program, setup};

/// How many calls one block makes.
const CALLS: u64 = 10_000;

fn calls(c: &mut Criterion) {
    let mut group = c.benchmark_group("tools");
    group
        .throughput(Throughput::Elements(CALLS))
        .sample_size(20);
    for (name, call) in [
        ("Lua function", "plain({ x = 'text' })"),
        ("local tool", "tools.call('own', { x = 'text' })"),
        ("local tool without arguments", "tools.call('none')"),
    ] {
        let program = program(&format!(
            "{HEADER}\n## A\n\n```lua\n\
             local function plain(t) return t.x end\n\
             tools.offer_local('own', 'd', {{ x = 'string' }}, plain)\n\
             tools.offer_local('none', 'd', {{}}, function() return 'text' end)\n\
             for i = 1, {CALLS} do {call} end\n```\n"
        ));
        group.bench_function(BenchmarkId::new(name, CALLS), |b| {
            b.iter(|| {
                let setup = Setup {
                    memory: 1 << 30,
                    ..setup()
                };
                finish(Run::new(program.clone(), setup))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, calls);
criterion_main!(benches);
