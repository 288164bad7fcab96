//! What the benches of whole runs share: a prompt, a run of it with its store in memory, and the
//! floor that every figure is compared with.

#![allow(dead_code)]

use criterion::Criterion;
use mlua::chunk::ChunkMode;
use mlua::{Lua, LuaOptions, StdLib};
use runvil::engine::{Answer, Effect, Item, Outcome, Program, Run, Setup};
use runvil::harness::Store;
use runvil::prompt::Dialect;

pub const HEADER: &str = "---\nname: bench\ndescription: d\nrunvil: 0\n---\n# T\n";

/// A prompt with its Lua compiled.
pub fn program(source: &str) -> Program {
    Program::load(source, Dialect::Runvil)
        .program
        .expect("the bench's prompt is sound")
}

pub fn setup() -> Setup {
    Setup {
        execution: "bench".into(),
        seed: [0; 32],
        when: "2026-01-01T00:00:00Z".into(),
        args: "".into(),
        memory: 64 << 20,
        concurrency: 8,
        log_events: 1024,
        model: None,
        packs: Default::default(),
        max_rounds: 24,
        ui: None,
        store: Some(Default::default()),
        opens_store: false,
        cancel: Default::default(),
    }
}

/// Steps a run to its end, its store in memory; a timer fires at once.
pub fn finish(mut run: Run) -> Outcome {
    let store = Store::memory();
    loop {
        let step = run.step();
        for item in step.items {
            if let Item::Effect(issued) = item {
                let answer = match &issued.effect {
                    Effect::Store { op, .. } => Answer::Store(store.perform(op)),
                    Effect::Model(_) | Effect::Tool(_) => panic!("asks no model and calls no tool"),
                    Effect::Timer { .. } => Answer::Fired,
                };
                run.answer(issued.id, answer);
            }
        }
        if let Some(outcome) = step.outcome {
            assert!(matches!(outcome, Outcome::Completed(_)), "{outcome:?}");
            return outcome;
        }
    }
}

/// Runs a program to its end.
pub fn run(program: &Program) -> Outcome {
    finish(Run::new(program.clone(), setup()))
}

/// The floor: a bare Lua state with the string, table and math libraries that loads a compiled
/// block, runs it once and is dropped.
pub fn floor(c: &mut Criterion) {
    let block = Lua::new()
        .load("local n = (nil or 0) + 1")
        .set_name("=section")
        .into_function()
        .expect("compiles")
        .dump(false);
    c.bench_function("floor", |b| {
        b.iter(|| {
            let libraries = StdLib::STRING | StdLib::TABLE | StdLib::MATH;
            let lua = Lua::new_with(libraries, LuaOptions::new()).expect("a state");
            let chunk = lua.load(&block[..]).set_mode(ChunkMode::Binary);
            chunk
                .into_function()
                .expect("loads")
                .call::<()>(())
                .expect("runs");
        });
    });
}
