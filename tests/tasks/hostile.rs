//! What a prompt may do to the scheduler, on purpose or not.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use runvil::engine::{
    Answer, Effect, EffectId, EventKind, Item, Outcome, Run, RunErrorKind, Setup, Withdrawal,
};
use runvil::harness::{Harness, Launch, Store};

use super::drive::{Order, Ran, drive, program, setup};
use super::{talk, trace};

/// A prompt whose main section holds this Lua, with more sections below it.
fn prompt(main: &str, more: &[(&str, &str)]) -> String {
    let mut out =
        String::from("---\nname: hostile\ndescription: d\nrunvil: 0\nmodels: {m: {}}\n---\n# T\n");
    for (heading, lua) in [("## Main", main)].iter().chain(more) {
        out.push_str(&format!("\n{heading}\n\n```lua\n{lua}\n```\n"));
    }
    out
}

/// Runs a prompt under a few orders of answers, and gives the last of the runs.
fn run(main: &str, more: &[(&str, &str)]) -> Ran {
    let program = program(&prompt(main, more));
    let runs: Vec<Ran> = (0..4)
        .map(|seed| {
            let order = Order {
                seed,
                concurrency: 8,
                meddles: false,
            };
            let ran = drive(&program, order);
            trace::check(&ran);
            ran
        })
        .collect();
    runs.into_iter().next_back().unwrap()
}

#[track_caller]
fn assert_result(main: &str, more: &[(&str, &str)], expected: &str) {
    assert_eq!(run(main, more).outcome, Outcome::Completed(expected.into()));
}

/// Runs a prompt whose events nobody keeps.
fn outcome(source: &str, setup: Setup) -> Outcome {
    let store = Store::memory();
    let mut run = Run::new(program(source), setup);
    loop {
        let step = run.step();
        for item in step.items {
            let Item::Effect(issued) = item else { continue };
            let answer = match &issued.effect {
                Effect::Store { op, .. } => Answer::Store(store.perform(op)),
                Effect::Model(round) => Answer::Model(Ok(Box::new(talk::answer(round)))),
                Effect::Tool(_) => panic!("calls no tool"),
                Effect::Timer { .. } => continue,
            };
            run.answer(issued.id, answer);
        }
        if let Some(outcome) = step.outcome {
            return outcome;
        }
    }
}

/// Very many; fewer where nothing is optimized.
const MANY: usize = if cfg!(debug_assertions) {
    20_000
} else {
    100_000
};

fn fanout_of(members: usize) {
    let main = format!(
        "local t = {{}} for i = 1, {members} do t[i] = i end \
         local r = tasks.fanout('### W', t) return #r .. r[#r].text .. r[#r].item"
    );
    let setup = Setup {
        memory: 2 << 30,
        ..setup(8)
    };
    let source = prompt(&main, &[("### W", "")]);
    let expected = format!("{members}{members}");
    assert_eq!(outcome(&source, setup), Outcome::Completed(expected));
}

#[test]
fn a_fanout_of_very_many_members_runs() {
    fanout_of(MANY);
}

/// `cargo test --release --test tasks -- --ignored million`
#[test]
#[ignore = "takes minutes where nothing is optimized"]
fn a_fanout_of_a_million_members_runs() {
    fanout_of(1_000_000);
}

#[test]
fn very_many_tasks_may_wait_to_be_run() {
    let main = format!(
        "local t = {{}} for i = 1, {MANY} do t[i] = tasks.spawn('### W') end \
         local n = #tasks.pending() local r, late = tasks.join(t) \
         return n .. ' ' .. #r .. ' ' .. #tasks.pending() .. ' ' .. tostring(late)"
    );
    let source = prompt(&main, &[("### W", "return 1")]);
    let expected = Outcome::Completed(format!("{MANY} {MANY} 0 false"));
    assert_eq!(outcome(&source, setup(8)), expected);
}

/// A chain that ends with very many live tasks abandons them all, and names them.
#[test]
fn very_many_tasks_may_be_left() {
    let main = "for i = 1, 20000 do tasks.spawn('### W') end";
    let source = prompt(main, &[("### W", "return 1")]);
    let Outcome::Failed(error) = outcome(&source, setup(8)) else {
        panic!("the run leaves tasks behind");
    };
    assert!(error.message.contains("0.0, 0.1, "), "{}", error.message);
    assert!(error.message.contains(", 0.19999; wait on or cancel"));
}

/// A model that starts very many tasks in one reply, and then waits for each.
#[test]
fn a_model_may_start_very_many_tasks() {
    let main = "models.use('m') tools.allow_tasks() \
                local script = string.rep('t1 ', 3000) .. '|' .. string.rep('a ', 3000) \
                local m = messages.new():user(script) models.loop(m) \
                local ends = 0 for _, r in ipairs(m) do \
                  ends = ends + select(2, r.content:gsub('%) completed: ', '')) end \
                return #m .. ' ' .. ends .. ' ' .. #tasks.pending()";
    let source = prompt(main, &[("## S1", "return 'r'")]);
    let expected = Outcome::Completed("6004 3000 0".into());
    assert_eq!(outcome(&source, setup(8)), expected);
}

/// Handlers in each other, as deep as Lua goes, and a model loop in each of a few.
#[test]
fn handlers_may_call_each_other_without_end() {
    let main = "local deep = 0 \
                tools.offer_local('l', 'd', {}, function() deep = deep + 1 return tools.call('l') end) \
                local ok, e = pcall(tools.call, 'l') \
                tools.offer_local('m', 'd', {}, function(t) return t.n == 0 and 'end' or \
                  tools.call('m', { n = t.n - 1 }) end) \
                return tostring(ok) .. e.kind .. tostring(deep > 1000) .. tools.call('m', { n = 1000 }) \
                .. tools.calls.m";
    let setup = Setup {
        memory: 1 << 30,
        ..setup(8)
    };
    let expected = Outcome::Completed("falseluatrueend1001".into());
    assert_eq!(outcome(&prompt(main, &[]), setup), expected);
}

#[test]
fn garbage_is_no_set_of_tasks() {
    let main = "\
local garbage = { 1, 1.5, 0/0, 'x', true, log, coroutine and coroutine.create(log) or log, {}, \
{ {} }, { 1 }, { true }, { log }, { 'x' }, { '0..1' }, { '0.01' }, { '\\xff' }, { { task = 1 } }, \
{ { task = '' } }, { '0.99999999999999999999' }, { '0', '0' }, { n = 1 }, { [2] = '0.0' }, \
setmetatable({}, { __index = function() error('own') end }), \
setmetatable({}, { __len = function() return 1 << 60 end }) }
garbage[#garbage + 1] = { garbage }
local refused = 0
for _, call in ipairs({ tasks.join, tasks.join_any, tasks.ready, tasks.status, tasks.cancel }) do
  for _, value in ipairs(garbage) do
    local ok, failure = pcall(call, value)
    assert(not ok, 'taken for tasks')
    refused = refused + 1
  end
  assert(not pcall(call) and not pcall(call, nil))
end
for _, value in ipairs(garbage) do
  pcall(tasks.join, { '0.0' }, value)
  pcall(tasks.join, { '0.0' }, { timeout = value })
  pcall(tasks.spawn, '### W', { input = value, item = value, index = value })
  pcall(tasks.spawn, value)
  pcall(tasks.fanout, value, value)
  pcall(tasks.fanout, '### W', value)
  pcall(tasks.pending, value)
  pcall(tasks.note, value)
  pcall(tasks.concurrency, value)
end
for _, task in ipairs(tasks.pending()) do tasks.cancel(task) end
return refused";
    assert_result(main, &[("### W", "return item")], "125");
}

#[test]
fn a_set_without_an_end_is_refused() {
    let main = "return tostring(select(2, pcall(tasks.join, \
                setmetatable({}, { __index = function() return '0.7' end }))))";
    let expected = Outcome::Completed("not enough memory".into());
    assert_eq!(outcome(&prompt(main, &[]), setup(8)), expected);
}

#[test]
fn a_task_can_be_cancelled_in_every_state() {
    // Queued, ready, at the store, waiting for its own task, ended, delivered, and twice.
    let main = "\
local function state(task)
  local s = tasks.status(task)
  return s.state .. '/' .. tostring(s.blocked) .. '/' .. tostring(s.ok)
end
local seen = {}
local function cancel(task)
  local before = state(task)
  tasks.cancel(task)
  seen[#seen + 1] = before .. '>' .. state(task)
end
tasks.concurrency(2)
local a, b, c = tasks.spawn('### Store'), tasks.spawn('### Owner'), tasks.spawn('### Quick')
cancel(c)
store.exists('main')
cancel(a)
cancel(b)
local d = tasks.spawn('### Quick')
cancel(tasks.spawn('### Quick'))
while not tasks.ready(d) do store.exists('main') end
cancel(d)
tasks.join({ d })
cancel(d)
cancel(a)
return table.concat(seen, ' ')";
    let more = [
        ("### Store", "while true do store.exists('here') end"),
        (
            "### Owner",
            "tasks.join({ tasks.spawn('### Inner'), tasks.spawn('### Inner') })",
        ),
        ("### Inner", "while true do store.exists('there') end"),
        ("### Quick", "return 'q'"),
    ];
    let ran = run(main, &more);
    let cancelled = "cancelled/nil/false";
    let expected = [
        format!("running/queued/nil>{cancelled}"),
        format!("running/store/nil>{cancelled}"),
        format!("running/tasks/nil>{cancelled}"),
        format!("running/nil/nil>{cancelled}"),
        "done/nil/true>done/nil/true".to_owned(),
        "done/nil/true>done/nil/true".to_owned(),
        format!("{cancelled}>{cancelled}"),
    ];
    assert_eq!(ran.outcome, Outcome::Completed(expected.join(" ")));
    let inner = ran.items.iter().filter(|item| match item {
        Item::Event(event) => matches!(
            &event.kind,
            EventKind::TaskAbandoned { reason: "owner_aborted", task } if task.starts_with("0.1.")
        ),
        Item::Effect(_) => false,
    });
    assert_eq!(inner.count(), 2, "what a cancelled task owns is abandoned");
}

#[test]
fn every_arm_may_fail_at_once() {
    let main = "local t = {} for i = 1, 1000 do t[i] = i end \
                local ok, e = pcall(tasks.fanout, '### W', t) \
                return tostring(ok) .. ' ' .. e.kind .. ' ' .. tostring(e) .. ' ' .. #tasks.pending()";
    let ran = run(main, &[("### W", "error('arm ' .. item, 0)")]);
    let expected = "false lua arm 1 0";
    assert_eq!(ran.outcome, Outcome::Completed(expected.into()));
}

#[test]
fn a_task_that_runs_out_of_memory_harms_no_other() {
    let main = "local t = {} for i = 1, 4 do t[i] = tasks.spawn('### W', { item = i }) end \
                local out = {} for i, r in ipairs((tasks.join(t))) do out[i] = tostring(r.ok) end \
                return table.concat(out, ' ')";
    let greedy = "if item == 2 then local t = {} while true do t[#t + 1] = {} end end return item";
    let source = prompt(main, &[("### W", greedy)]);
    let setup = Setup {
        memory: 4 << 20,
        ..setup(2)
    };
    let expected = "true false true true".to_owned();
    assert_eq!(outcome(&source, setup), Outcome::Completed(expected));
}

#[test]
fn a_cancel_ends_tasks_that_never_end() {
    let main = "tasks.fanout('### W', { 1, 2, 3 })";
    for endless in [
        "while true do end",
        "while true do store.exists('x') end",
        "while true do pcall(error) end",
        "while true do pcall(call, '### Again') end",
    ] {
        let source = prompt(main, &[("### W", endless), ("### Again", "return 1")]);
        let setup = setup(8);
        let cancel = setup.cancel.clone();
        let canceller = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            cancel.raise();
        });
        assert_eq!(outcome(&source, setup), Outcome::Cancelled, "{endless}");
        canceller.join().unwrap();
    }
}

#[test]
fn depth_is_capped_however_it_is_made() {
    let dive = "\
local ways = { 'call', 'spawn', 'fanout' }
local other = sys.section_name == 'Dive' and '## Dove' or '## Dive'
local way = ways[(tonumber(args) or 0) % 3 + 1]
var.depth = (var.depth or 0) + 1
local ok, result
if way == 'call' then
  ok, result = pcall(call, other, tostring(tonumber(args) + STEP))
elseif way == 'spawn' then
  local made, task = pcall(tasks.spawn, other, { input = tostring(tonumber(args) + STEP) })
  if made then ok, result = true, tasks.join({ task })[1].result else result = task end
else
  ok, result = pcall(tasks.fanout, other, { 1 })
  if ok then result = result[1].text end
end
if ok then return result end
return var.depth .. ' ' .. tostring(result)";
    for (step, first, word) in [
        (0, 0, "call"),
        (0, 1, "call"),
        (0, 2, "fanout"),
        (1, 0, "fanout"),
    ] {
        let dive = dive.replace("STEP", &step.to_string());
        let main = format!("return call('## Dive', '{first}')");
        let expected = format!("8 {word} recursion exceeded cap of 8");
        assert_result(&main, &[("## Dive", &dive), ("## Dove", &dive)], &expected);
    }
}

/// A step's effects, the store's by their paths.
fn effects(run: &mut Run) -> Vec<(String, EffectId)> {
    let items = run.step().items.into_iter();
    items
        .filter_map(|item| match item {
            Item::Effect(issued) => Some(match issued.effect {
                Effect::Store { op, .. } => (op.target().unwrap_or_default().to_owned(), issued.id),
                Effect::Model(_) | Effect::Tool(_) => panic!("asks no model and calls no tool"),
                Effect::Timer { timer, .. } => (timer.to_string(), issued.id),
            }),
            Item::Event(_) => None,
        })
        .collect()
}

/// A stop reaches a timed wait whose owner waits for a slot, a member having ended (spec K181).
#[test]
fn a_stop_reaches_a_wait_that_is_over_and_has_no_slot() {
    let main = "local a, b = tasks.spawn('### Owner'), tasks.spawn('### Busy') \
                store.exists('main') tasks.concurrency(1) \
                local r = tasks.join({ a, b }) return r[1].result";
    let owner = "local t = tasks.spawn('### Inner') log('once') \
                 local ok, e = pcall(tasks.join, { t }, { timeout = 60 }) \
                 local _, _, result = tasks.join_any({ t }) return tostring(e) .. '|' .. result";
    let more = [
        ("### Owner", owner),
        ("### Busy", "store.exists('busy') return 'b'"),
        ("### Inner", "store.exists('inner') return 'inner'"),
    ];
    let mut run = Run::new(program(&prompt(main, &more)), setup(2));
    let mut waiting = Vec::new();
    let mut answer = |run: &mut Run, path: &str| {
        waiting.extend(effects(run));
        let found = waiting.iter().find(|(at, _)| at == path);
        let id = found.unwrap_or_else(|| panic!("{path} is not asked for")).1;
        if path == "0.0.1" {
            run.stop(&[id]);
        } else {
            run.answer(
                id,
                Answer::Store(Ok(runvil::engine::store::StoreValue::Bool(true))),
            );
        }
    };
    answer(&mut run, "main");
    answer(&mut run, "inner");
    answer(&mut run, "0.0.1");
    answer(&mut run, "busy");
    let expected = Outcome::Completed("interrupted by Ctrl-C|inner".into());
    assert_eq!(run.step().outcome, Some(expected));
}

/// A timer's turn comes however much is asked for meanwhile (spec K205).
#[test]
fn tasks_that_ask_without_end_hold_no_timer_up() {
    let main = "local t = {} for i = 1, 3 do t[i] = tasks.spawn('### W') end \
                local some = tasks.join_any(t, { timeout = 0.02 }) \
                local r, late = tasks.join(t, { timeout = 0.02 }) \
                for _, task in ipairs(t) do tasks.cancel(task) end \
                return tostring(some) .. ' ' .. #r .. ' ' .. tostring(late)";
    let source = prompt(main, &[("### W", "while true do store.exists('x') end")]);
    let report = Harness::default().run(&source, Launch::default(), &mut |_| {});
    assert_eq!(report.outcome, Outcome::Completed("nil 0 true".into()));
}

/// Accesses beside each other cost the same however many there are.
#[test]
fn very_many_arms_may_fill_one_folder() {
    let main = "local t = {} for i = 1, 20000 do t[i] = i end \
                tasks.fanout('### W', t) return tostring(store.exists('out'))";
    let worker = "store.exists('shared') store.write('out/' .. item, '')";
    let source = prompt(main, &[("### W", worker)]);
    let expected = Outcome::Completed("true".into());
    assert_eq!(outcome(&source, setup(8)), expected);
}

/// What a called chain leaves behind comes before what its caller does next (spec S66, J4).
#[test]
fn a_call_joins_what_it_leaves() {
    let more = [
        (
            "### Leave",
            "tasks.spawn('### W') store.exists('y') tasks.spawn('### W')",
        ),
        ("### W", "store.append('x' .. sys.taskid, 'w') return 'w'"),
    ];
    let main = "local _, e = pcall(call, '### Leave') \
                for i = 0, 1 do store.write('x0.0.' .. i, 'main') end return e.kind";
    assert_result(main, &more, "tasks_live");
}

#[test]
fn a_ceiling_of_nothing_is_one() {
    let source = prompt(
        "return tasks.concurrency() .. tasks.fanout('### W', { 1 })[1].text",
        &[("### W", "return 'ran'")],
    );
    assert_eq!(
        outcome(&source, setup(0)),
        Outcome::Completed("1ran".into())
    );
}

/// Spec R3: an `Internal` failure names the engine's source.
#[test]
fn an_answer_of_another_kind_is_the_engines_fault() {
    let source = prompt("return store.exists('x')", &[]);
    let mut run = Run::new(program(&source), setup(8));
    let asked = effects(&mut run);
    run.answer(asked[0].1, Answer::Tool(Ok("yes".into())));
    let Some(Outcome::Failed(error)) = run.step().outcome else {
        panic!("the run goes on");
    };
    assert_eq!(error.kind, RunErrorKind::Internal);
    let location = error.location.unwrap();
    assert_eq!(location.path.as_deref(), Some("src/engine/run.rs"));
    assert!(location.line.is_some());
}

#[test]
fn a_broken_answer_ends_the_run_and_all_its_tasks() {
    let main = "pcall(tasks.fanout, '### W', { 1, 2 }) return 'caught'";
    let source = prompt(main, &[("### W", "pcall(store.exists, 'x') return 1")]);
    let cancel = Arc::new(AtomicBool::new(false));
    let setup = Setup {
        cancel: cancel.clone().into(),
        ..setup(8)
    };
    let mut run = Run::new(program(&source), setup);
    let asked = effects(&mut run);
    assert_eq!(asked.len(), 2);
    run.answer(asked[0].1, Answer::Broken("a worker panicked: boom".into()));
    let step = run.step();
    let Some(Outcome::Failed(error)) = step.outcome else {
        panic!("the run goes on");
    };
    assert_eq!(error.kind, RunErrorKind::Internal);
    assert_eq!(error.message, "a worker panicked: boom");
    assert_eq!(step.withdrawn, [(asked[1].1, Withdrawal::Dropped)]);
    let names: Vec<&str> = step
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Event(event) => Some(event.kind.name()),
            Item::Effect(_) => None,
        })
        .collect();
    let ends = names
        .iter()
        .filter(|name| **name == "task_abandoned")
        .count();
    assert_eq!((ends, names.last()), (2, Some(&"run_failed")));
    drop(run);
    assert_eq!(Arc::strong_count(&cancel), 1);
}
