//! Where a cancel takes effect, and that the same cancel does the same again (spec K171, K211, R15).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use runvil::engine::{Answer, CancelPoint, EffectId, EventKind, Item, Outcome, Run, Setup, Step};
use runvil::lua::Cancel;

use super::drive::{program, setup};

fn prompt(sections: &[(&str, &str)]) -> String {
    let mut out = String::from("---\nname: c\ndescription: d\nrunvil: 0\n---\n# T\n");
    for (heading, lua) in sections {
        out.push_str(&format!("\n{heading}\n\n```lua\n{lua}\n```\n"));
    }
    out
}

fn kinds(items: &[Item]) -> Vec<&str> {
    fn kind(item: &Item) -> &str {
        match item {
            Item::Event(event) => event.kind.name(),
            Item::Effect(_) => "effect",
        }
    }
    items.iter().map(kind).collect()
}

fn effects(step: &Step) -> Vec<EffectId> {
    let items = step.items.iter();
    items
        .filter_map(|item| match item {
            Item::Effect(issued) => Some(issued.id),
            Item::Event(_) => None,
        })
        .collect()
}

/// Steps a run, cancelling it from elsewhere a while after the step has begun.
fn step_cancelled(run: &mut Run, cancel: &Cancel) -> Step {
    let cancel = cancel.clone();
    let canceller = thread::spawn(move || {
        thread::sleep(Duration::from_millis(30));
        cancel.raise();
    });
    let step = run.step();
    canceller.join().unwrap();
    step
}

/// A run and what cancels it.
fn start(source: &str) -> (Run, Cancel) {
    let setup = setup(8);
    let cancel = setup.cancel.clone();
    (Run::new(program(source), setup), cancel)
}

#[test]
fn a_cancel_in_a_loop_is_repeated_by_its_number() {
    let source = prompt(&[("## A", "for i = 1, 3 do log('x') end while true do end")]);
    let (mut run, cancel) = start(&source);
    let first = step_cancelled(&mut run, &cancel);
    assert_eq!(first.cancelled, Some(CancelPoint::After(6)));
    assert_eq!(first.outcome, Some(Outcome::Cancelled));
    assert_eq!(
        kinds(&first.items)[6..],
        [
            "lua_teardown_started",
            "lua_teardown_succeeded",
            "run_failed"
        ]
    );
    let (mut run, _) = start(&source);
    run.cancel_after(6);
    let again = run.step();
    assert_eq!(again.items, first.items);
    assert_eq!(again.cancelled, first.cancelled);
}

#[test]
fn a_cancel_in_a_resumed_loop_does_not_resume_it_again() {
    // What the loop would do if it were told of the cancel is seen; what the other chain does is,
    // too, and is the same.
    let worker = "pcall(store.exists, 'x') while true do end";
    let other =
        "local ok, e = pcall(store.exists, 'y') log(e.message) for i = 1, 3e3 do end log('z')";
    let main = "tasks.fanout('### W', { 1 })";
    let main = format!("tasks.spawn('### Other') {main}");
    let source = prompt(&[("## A", &main), ("### W", worker), ("### Other", other)]);
    let run_it = |after: Option<usize>| {
        let (mut run, cancel) = start(&source);
        let asked = effects(&run.step());
        assert_eq!(asked.len(), 2);
        let value = runvil::engine::store::StoreValue::Bool(false);
        run.answer(asked[1], Answer::Store(Ok(value)));
        match after {
            None => step_cancelled(&mut run, &cancel),
            Some(after) => {
                run.cancel_after(after);
                run.step()
            }
        }
    };
    let first = run_it(None);
    assert_eq!(first.cancelled, Some(CancelPoint::After(0)));
    let logged = first.items.iter().filter_map(|item| match item {
        Item::Event(event) => match &event.kind {
            EventKind::Checkpoint { message } => Some(message.clone()),
            _ => None,
        },
        Item::Effect(_) => None,
    });
    let logged: Vec<String> = logged.collect();
    assert_eq!(logged, ["interrupted by Ctrl-C", "z"]);
    assert_eq!(run_it(Some(0)).items, first.items);
}

#[test]
fn a_cancel_between_steps_has_no_number() {
    let (mut run, cancel) = start(&prompt(&[("## A", "store.exists('x')")]));
    let step = run.step();
    assert_eq!(step.cancelled, None);
    cancel.raise();
    let step = run.step();
    assert_eq!(step.cancelled, Some(CancelPoint::Between));
    assert_eq!(step.outcome, Some(Outcome::Cancelled));
}

#[test]
fn a_number_that_a_step_does_not_reach_cancels_nothing() {
    let (mut run, _) = start(&prompt(&[("## A", "store.exists('x') return 'done'")]));
    run.cancel_after(1000);
    let asked = effects(&run.step());
    let value = runvil::engine::store::StoreValue::Bool(false);
    run.answer(asked[0], Answer::Store(Ok(value)));
    let step = run.step();
    assert_eq!(step.cancelled, None);
    assert_eq!(step.outcome, Some(Outcome::Completed("done".into())));
}

#[test]
fn any_number_cancels_at_the_next_look() {
    let main = "log('a') local t = tasks.spawn('### W') log('b') call('### C') tasks.join({ t })";
    let source = prompt(&[
        ("## A", main),
        ("### W", "log('w') return 'w'"),
        ("### C", "log('c')"),
    ]);
    let (mut run, _) = start(&source);
    let whole = run.step();
    assert!(matches!(whole.outcome, Some(Outcome::Completed(_))));
    for after in 0..whole.items.len() {
        let (mut run, _) = start(&source);
        run.cancel_after(after);
        let step = run.step();
        // Some places put out several items before they look.
        match step.cancelled {
            Some(CancelPoint::After(at)) => {
                assert!((after..after + 4).contains(&at), "{after}: {at}");
                assert_eq!(kinds(&step.items)[..at], kinds(&whole.items)[..at]);
                assert_eq!(step.outcome, Some(Outcome::Cancelled), "{after}");
                let (mut run, _) = start(&source);
                run.cancel_after(at);
                assert_eq!(run.step().items, step.items);
            }
            // The run's own last words.
            other => assert!(other.is_none() && after + 4 > whole.items.len(), "{after}"),
        }
    }
}

/// Cancels endless Lua on this thread, and gives how long that took.
fn cancelled_in(lua: &str, cancel: Cancel, raise: impl FnOnce() + Send) -> Duration {
    let setup = Setup { cancel, ..setup(8) };
    let mut run = Run::new(program(&prompt(&[("## A", lua)])), setup);
    thread::scope(|scope| {
        let raised = scope.spawn(|| {
            thread::sleep(Duration::from_millis(30));
            let now = Instant::now();
            raise();
            now
        });
        let step = run.step();
        let ended = Instant::now();
        assert_eq!(step.outcome, Some(Outcome::Cancelled), "{lua}");
        ended.duration_since(raised.join().unwrap())
    })
}

#[test]
fn endless_lua_ends_wherever_it_runs() {
    for lua in [
        "while true do end",
        "local function f() return f() end f()",
        "while true do pcall(error, {}) end",
        "while true do xpcall(error, function() while true do end end) end",
        "string.gsub('x', 'x', function() while true do end end)",
        "while true do pcall(string.gsub, 'x', 'x', function() while true do end end) end",
        "table.sort({ 1, 2, 3 }, function() while true do end end)",
        "local x <close> = setmetatable({}, { __close = function() while true do end end }) error('x')",
        "error(setmetatable({}, { __tostring = function() while true do end end }))",
        "setmetatable(_G, { __index = function() while true do end end }) return nosuch",
    ] {
        let cancel = Cancel::default();
        let took = cancelled_in(lua, cancel.clone(), || cancel.raise());
        assert!(took < Duration::from_secs(2), "{lua}: {took:?}");
    }
}

#[test]
fn endless_library_calls_end() {
    for lua in [
        "return ('a'):rep(30000):find(('.-'):rep(20) .. 'b')",
        "return ('a'):rep(30000):match(('a*'):rep(20) .. 'b')",
        "for m in ('a'):rep(30000):gmatch(('.-'):rep(20) .. 'b') do end",
        "return ('a'):rep(30000):gsub(('.-'):rep(20) .. 'b', 'c')",
        "return ('a'):rep(30000):gsub(('.-'):rep(20) .. 'b', function() end)",
        "return ('a'):rep(30000):gsub(('.-'):rep(20) .. 'b', {})",
        "return ('('):rep(3000000):find('%b()')",
        "return ('a'):rep(3000000):find('(a*)%1%1b')",
        "return string.find(('a'):rep(60), ('a?'):rep(60) .. ('a'):rep(60) .. 'b')",
        "while true do string.find(('a'):rep(2e7), ('a'):rep(1e7) .. 'b', 1, true) end",
        "while true do string.rep('x', 6e7) end",
        "while true do string.rep('x', 1e6, ', ') end",
        "return string.format('%' .. ('0'):rep(30000) .. '!', {})",
        "table.insert(setmetatable({}, { __len = function() return 1e15 end }), 1, 0)",
        "table.remove(setmetatable({}, { __len = function() return 1e15 end }), 1)",
        "table.move({}, 1, 1e15, 2)",
        "table.move({}, 1.0, 1e15, 2, {})",
        "table.concat(setmetatable({}, { __index = function() return '' end }), '', 1, 1 << 60)",
        "local t = {} for i = 1, 3e4 do t[i] = i end \
         while true do pcall(table.sort, t, function() return true end) end",
        "local t = {} for i = 1, 3e5 do t['k' .. i] = i end \
         while true do for k in pairs(t) do break end end",
        "local t = {} for i = 1, 3e5 do t['k' .. i] = i end while true do next(t) end",
    ] {
        let cancel = Cancel::default();
        let took = cancelled_in(lua, cancel.clone(), || cancel.raise());
        assert!(took < Duration::from_secs(2), "{lua}: {took:?}");
    }
}

#[test]
fn a_flag_that_something_else_raises_is_looked_at() {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = flag.clone();
    let raise = move || raised.store(true, Ordering::Relaxed);
    let took = cancelled_in("while true do end", flag.into(), raise);
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[test]
fn one_cancel_ends_runs_on_many_threads_and_leaves_others_alone() {
    let cancel = Cancel::default();
    thread::scope(|scope| {
        for _ in 0..8 {
            let cancel = cancel.clone();
            scope.spawn(move || cancelled_in("while true do end", cancel, || {}));
        }
        let other = scope.spawn(|| {
            let source = prompt(&[(
                "## A",
                "local n = 0 for i = 1, 3e6 do n = n + 1 end return n",
            )]);
            Run::new(program(&source), setup(8)).step().outcome
        });
        thread::sleep(Duration::from_millis(60));
        cancel.raise();
        assert_eq!(
            other.join().unwrap(),
            Some(Outcome::Completed("3000000".into()))
        );
    });
}

#[test]
fn a_told_block_runs_ten_thousand_instructions_and_no_more() {
    // Each turn of the loop is one instruction, and each `log` a few.
    let told = |turns: u32| {
        let lua = format!("pcall(store.exists, 'x') for i = 1, {turns} do end log('end')");
        let (mut run, _) = start(&prompt(&[("## A", &lua)]));
        run.step();
        run.cancel();
        // A second one in between changes nothing.
        run.cancel();
        let step = run.step();
        assert_eq!(step.outcome, Some(Outcome::Cancelled));
        kinds(&step.items).contains(&"lua")
    };
    assert!(told(9_900));
    assert!(!told(10_000));
}
