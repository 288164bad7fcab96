//! What tasks cost: spawning, waiting, fanning out, and the claims on what they access. The floor
//! is measured beside them.

mod common;

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use runvil::engine::{Program, Run, Setup};

use common::{HEADER, finish, floor, program, setup};

/// A prompt of a main section and a worker.
fn prompt(main: &str, worker: &str) -> Program {
    program(&format!(
        "{HEADER}\n## Main\n\n```lua\n{main}\n```\n\n### Work\n\n```lua\n{worker}\n```\n"
    ))
}

/// Measures a program, per one of so many elements.
fn measure(c: &mut Criterion, group: &str, name: &str, elements: u64, program: &Program) {
    let mut group = c.benchmark_group(group);
    group.throughput(Throughput::Elements(elements));
    if elements >= 10_000 {
        group.sample_size(10).warm_up_time(Duration::from_secs(1));
    }
    group.bench_function(BenchmarkId::new(name, elements), |b| {
        b.iter(|| {
            let setup = Setup {
                memory: 1 << 30,
                ..setup()
            };
            finish(Run::new(program.clone(), setup))
        });
    });
    group.finish();
}

fn fanouts(c: &mut Criterion) {
    for members in [100, 10_000, 100_000] {
        let main = format!(
            "local t = {{}} for i = 1, {members} do t[i] = i end return #tasks.fanout('### Work', t)"
        );
        measure(c, "fanout", "item", members, &prompt(&main, "return item"));
    }
}

fn waits(c: &mut Criterion) {
    for count in [1_000, 10_000, 100_000] {
        let spawn =
            format!("local t = {{}} for i = 1, {count} do t[i] = tasks.spawn('### Work') end");
        let together = format!("{spawn} return #tasks.join(t)");
        measure(c, "wait", "join", count, &prompt(&together, "return 1"));
        let alone = format!("{spawn} for i = 1, #t do tasks.join_any({{ t[i] }}) end");
        measure(c, "wait", "one by one", count, &prompt(&alone, "return 1"));
    }
}

/// A hundred thousand accesses of ten thousand paths: by one chain, which claims nothing as no other
/// task is open, and by a thousand; and the thousand tasks without them.
fn claims(c: &mut Criterion) {
    const ACCESSES: u64 = 100_000;
    let members = "local t = {} for i = 1, 1000 do t[i] = i end tasks.fanout('### Work', t)";
    let by_one = "for i = 1, 100000 do store.exists('p' .. i % 10000) end";
    let by_many = "for i = 1, 100 do store.exists('p' .. (item * 100 + i) % 10000) end";
    let own = "for i = 1, 100 do store.write('d/' .. item .. '/' .. i % 10, 'x') end";
    let own_by_one = "for i = 1, 100000 do store.write('d/' .. i // 100 .. '/' .. i % 10, 'x') end";
    for (name, main, worker) in [
        ("reads by one chain", by_one, "return 1"),
        ("reads by 1,000 chains", members, by_many),
        ("writes by one chain", own_by_one, "return 1"),
        ("writes by 1,000 chains", members, own),
        ("1,000 chains without accesses", members, "return 1"),
    ] {
        measure(c, "claims", name, ACCESSES, &prompt(main, worker));
    }
    // Each arm touches the one folder that all of them fill.
    for members in [1_000, 10_000, 100_000] {
        let main = format!(
            "local t = {{}} for i = 1, {members} do t[i] = i end tasks.fanout('### Work', t)"
        );
        let program = prompt(&main, "store.write('out/' .. item, 'x')");
        measure(c, "claims", "arms in one folder", members, &program);
    }
}

criterion_group!(benches, floor, fanouts, waits, claims);
criterion_main!(benches);
