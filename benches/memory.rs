//! What tasks hold in memory, counted where it is allocated, Lua's included.

mod common;

use mlua::{Lua, LuaOptions, StdLib};
use peak_alloc::PeakAlloc;
use runvil::engine::{Answer, Effect, Item, Run, Setup};

use common::{HEADER, finish, program, setup};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

fn main() {
    let before = MEMORY.current_usage();
    let lua = Lua::new_with(
        StdLib::STRING | StdLib::TABLE | StdLib::MATH,
        LuaOptions::new(),
    )
    .expect("a state");
    let floor = MEMORY.current_usage() - before;
    drop(lua);
    println!("floor, a bare Lua state: {floor} bytes");
    for members in [10_000, 100_000] {
        fanout(members);
    }
    parked(1_000);
}

/// The peak of a fanout whose worker gives back its item, with and without the fanout: the section
/// that calls it holds the collection in both.
fn fanout(members: usize) {
    let peak = |call: &str| {
        let main = format!("local t = {{}} for i = 1, {members} do t[i] = i end {call}");
        let source = format!(
            "{HEADER}\n## Main\n\n```lua\n{main}\n```\n\n### Work\n\n```lua\nreturn item\n```\n"
        );
        let run = Run::new(program(&source), roomy(8));
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        finish(run);
        MEMORY.peak_usage() - before
    };
    let (with, without) = (
        peak("return #tasks.fanout('### Work', t)"),
        peak("return #t"),
    );
    let each = (with - without) / members;
    println!("fanout of {members}: {each} bytes a member at the peak");
}

/// What started tasks hold that all wait for an answer, their owner for a timer.
fn parked(tasks: usize) {
    let main = format!(
        "local t = {{}} for i = 1, {tasks} do t[i] = tasks.spawn('### Work') end \
         tasks.join(t, {{ timeout = 1 }}) for _, task in ipairs(t) do tasks.cancel(task) end"
    );
    let source = format!(
        "{HEADER}\n## Main\n\n```lua\n{main}\n```\n\n### Work\n\n```lua\nstore.exists('x')\n```\n"
    );
    let mut run = Run::new(program(&source), roomy(1_000));
    let before = MEMORY.current_usage();
    let mut timer = None;
    let mut waiting = 0;
    loop {
        let step = run.step();
        for item in step.items {
            let Item::Effect(issued) = item else { continue };
            match issued.effect {
                Effect::Store { .. } => waiting += 1,
                Effect::Model(_) | Effect::Tool(_) => panic!("asks no model and calls no tool"),
                Effect::Timer { .. } => timer = Some(issued.id),
            }
        }
        if !step.more {
            break;
        }
    }
    assert_eq!(waiting, tasks, "every task waits");
    let each = (MEMORY.current_usage() - before) / tasks;
    println!("{tasks} waiting tasks: {each} bytes each");
    run.answer(timer.expect("the owner waits for a timer"), Answer::Fired);
    finish(run);
}

/// A setup whose section VMs have room for very many handles.
fn roomy(concurrency: u32) -> Setup {
    Setup {
        memory: 1 << 30,
        concurrency,
        ..setup()
    }
}
