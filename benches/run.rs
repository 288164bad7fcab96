//! The run's own costs against a floor measured beside them.

mod common;

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mlua::{Lua, LuaOptions, StdLib};
use runvil::engine::{Program, Run};
use runvil::prompt::Dialect;

use common::{HEADER, finish, floor, program, run, setup};

fn walk(sections: usize) -> String {
    let mut source = HEADER.to_owned();
    for i in 0..sections {
        let _ = write!(
            source,
            "\n## S{i}\n\n```lua\nvar.n = (var.n or 0) + 1\n```\n"
        );
    }
    source
}

fn walks(c: &mut Criterion) {
    let mut group = c.benchmark_group("walk");
    for sections in [100, 1_000, 10_000, 100_000] {
        let program = program(&walk(sections));
        group.throughput(Throughput::Elements(sections as u64));
        if sections >= 10_000 {
            group
                .sample_size(10)
                .measurement_time(Duration::from_secs(10));
        }
        group.bench_function(BenchmarkId::from_parameter(sections), |b| {
            b.iter(|| run(&program))
        });
    }
    group.finish();
}

fn calls(c: &mut Criterion) {
    let block = "for i = 1, 1000 do call('### Sub') end";
    let source =
        format!("{HEADER}\n## A\n\n```lua\n{block}\n```\n\n### Sub\n\n```lua\nreturn 1\n```\n");
    let program = program(&source);
    let mut group = c.benchmark_group("call");
    group.throughput(Throughput::Elements(1_000));
    group.bench_function("1000", |b| b.iter(|| run(&program)));
    group.finish();
}

fn var(c: &mut Criterion) {
    // About 1 MiB of nested tables, one field of which changes in every section.
    let build = "local t = {} for i = 1, 1000 do local r = {} for j = 1, 20 do \
                 r[j] = { name = 'entry ' .. i .. ' ' .. j, size = j } end t[i] = r end \
                 var.data = t var.n = 0";
    let mut source = format!("{HEADER}\n## Build\n\n```lua\n{build}\n```\n");
    for i in 0..100 {
        let _ = write!(
            source,
            "\n## S{i}\n\n```lua\nvar.data[5][7].size = {i}\n```\n"
        );
    }
    let big = program(&source);
    let only = program(&format!("{HEADER}\n## Build\n\n```lua\n{build}\n```\n"));
    let mut group = c.benchmark_group("var");
    group.sample_size(20);
    group.bench_function("1 MiB built, no boundary", |b| b.iter(|| run(&only)));
    group.bench_function("1 MiB across 100 sections", |b| b.iter(|| run(&big)));
    group.finish();
}

fn store(c: &mut Criterion) {
    let block = "local text = string.rep('x', 100) \
                 for i = 1, 1000 do local p = 'f' .. i store.write(p, text) store.read(p) end";
    let program = program(&format!("{HEADER}\n## A\n\n```lua\n{block}\n```\n"));
    let mut group = c.benchmark_group("store in a run");
    group.throughput(Throughput::Elements(2_000));
    group.bench_function("1000 writes and reads", |b| {
        b.iter_batched(
            || Run::new(program.clone(), setup()),
            finish,
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

fn parse(c: &mut Criterion) {
    let mut group = c.benchmark_group("parse");
    for sections in [200, 2_000, 20_000] {
        let mut source = HEADER.to_owned();
        for i in 0..sections {
            let _ = write!(
                source,
                "\n## Section {i}\n\nSome prose about *section* {i}, with `code`.\n\n```lua\n\
                 local x = prose\nvar.n = (var.n or 0) + {i}\nif var.n > 10 then log('n ' .. var.n) \
                 end\n```\n"
            );
        }
        let prompt = runvil::Prompt::parse(&source, Dialect::Runvil).expect("sound");
        let blocks: Vec<_> = prompt
            .sections
            .iter()
            .flat_map(|section| &section.blocks)
            .filter_map(|block| match block {
                runvil::prompt::Block::Lua(block) => Some(block.clone()),
                _ => None,
            })
            .collect();
        group.throughput(Throughput::Bytes(source.len() as u64));
        group.sample_size(20);
        group.bench_function(BenchmarkId::new("whole", sections), |b| {
            b.iter(|| black_box(Program::load(&source, Dialect::Runvil).program.is_ok()));
        });
        group.bench_function(BenchmarkId::new("compiling alone", sections), |b| {
            b.iter(|| {
                let lua = Lua::new_with(StdLib::NONE, LuaOptions::new()).expect("a state");
                for block in &blocks {
                    let chunk = lua
                        .load(&block.source)
                        .set_name(format!("={}", block.label));
                    black_box(chunk.into_function().expect("compiles").dump(false));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, floor, walks, calls, var, store, parse);
criterion_main!(benches);
