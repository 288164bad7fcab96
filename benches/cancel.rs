//! How soon a cancel reaches Lua, and what it costs Lua that it could: `cargo bench --bench cancel`.
//! A word behind `--` takes the rows with that word in their names. Fails where the 95th percentile
//! of a latency, or a ratio, is over its bound.

mod common;

use std::hint::black_box;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use mlua::{Lua, LuaOptions, StdLib, Value};
use runvil::engine::{Outcome, Program, Run, Setup};
use runvil::lua::Cancel;

use common::{HEADER, program, setup};

/// How often a latency is measured.
const TIMES: usize = 40;

/// Lua that runs for ever, or for much too long, its name, and its bound in milliseconds.
const ENDLESS: [(&str, &str, u64); 24] = [
    ("1 chain", "while true do end", 5),
    (
        "8 chains",
        "tasks.fanout('### W', { 1, 2, 3, 4, 5, 6, 7, 8 })",
        5,
    ),
    (
        "find, lazy",
        "('a'):rep(30000):find(('.-'):rep(20) .. 'b')",
        50,
    ),
    (
        "match, greedy",
        "('a'):rep(30000):match(('a*'):rep(20) .. 'b')",
        50,
    ),
    (
        "gmatch",
        "for m in ('a'):rep(30000):gmatch(('.-'):rep(20) .. 'b') do end",
        50,
    ),
    (
        "gsub",
        "('a'):rep(30000):gsub(('.-'):rep(20) .. 'b', 'c')",
        50,
    ),
    (
        "gsub, many short",
        "while true do ('ab '):rep(1000000):gsub('%a+', 'xy') end",
        50,
    ),
    (
        "gsub, function",
        "while true do ('ab '):rep(1000000):gsub('%a+', function() end) end",
        50,
    ),
    ("find, balanced", "('('):rep(3000000):find('%b()')", 50),
    (
        "find, plain",
        "while true do string.find(('a'):rep(2e7), ('a'):rep(1e7) .. 'b', 1, true) end",
        50,
    ),
    ("rep", "while true do string.rep('x', 6e7) end", 50),
    (
        "concat",
        "local t = {} for i = 1, 2e6 do t[i] = 'x' end while true do table.concat(t, ', ') end",
        50,
    ),
    (
        "sort",
        "local t = {} while true do for i = 1, 1e6 do t[i] = i * 7919 % 1000003 end table.sort(t) end",
        50,
    ),
    ("move", "table.move({}, 1, 1e15, 2)", 50),
    (
        "next",
        "local t = {} for i = 1, 1e5 do t['k' .. i] = i end while true do next(t) end",
        50,
    ),
    (
        "encode, list",
        "local t = {} for i = 1, 1e6 do t[i] = i end while true do json.encode(t) end",
        50,
    ),
    (
        "encode, texts",
        "local t = {} for i = 1, 1e5 do t['k' .. i * 7919 % 100003] = 'v' .. i end \
         while true do json.encode(t) end",
        50,
    ),
    (
        "encode, numbers",
        "local t = {} for i = 1, 5e5 do t[-i] = i end while true do json.encode(t) end",
        50,
    ),
    (
        "encode, no data",
        "local t = {} for i = 1, 1e5 do t['k' .. i] = i end t.z = print or type \
         while true do pcall(json.encode, t) end",
        50,
    ),
    (
        "decode, list",
        "local s = '[' .. ('1,'):rep(1e6) .. '1]' while true do json.decode(s) end",
        50,
    ),
    (
        "decode, long",
        "local s = ('1,'):rep(2e7) while true do pcall(json.decode, s) end",
        50,
    ),
    (
        "var",
        "local t = {} for i = 1, 1e5 do t['k' .. i] = i end while true do var.x = t end",
        50,
    ),
    (
        "var, parts",
        "local t = {} for i = 1, 3e4 do t[i] = { i } end var.x = t \
         for i = 1, 3e4 do local _ = var.x[i] end while true do json.encode(var) end",
        50,
    ),
    (
        "untrusted",
        "local s = ('<a '):rep(4e6) while true do untrusted(s) end",
        50,
    ),
];

/// Lua that is run in a section and bare, its name, and the most that it may take of the bare time.
const LOOPS: [(&str, &str, f64); 8] = [
    (
        "for",
        "local n = 0 for i = 1, 3e7 do n = n + i % 7 end return n",
        1.25,
    ),
    (
        "while",
        "local n = 0 while n < 3e7 do n = n + 1 end return n",
        1.25,
    ),
    (
        "calls",
        "local function f(n) if n < 2 then return n end return f(n - 1) + f(n - 2) end return f(31)",
        1.25,
    ),
    (
        "tables",
        "local t = {} for i = 1, 4e6 do t[i % 1000 + 1] = (t[i % 977 + 1] or 0) + i end return #t",
        1.25,
    ),
    (
        "find",
        "local n = 0 for i = 1, 1e6 do if ('key = value'):find('%w+%s*=') then n = n + 1 end end return n",
        2.0,
    ),
    (
        "gmatch",
        "local s, n = ('word '):rep(2e5), 0 for w in s:gmatch('%a+') do n = n + 1 end return n",
        2.0,
    ),
    (
        "gmatch, pairs",
        "local s, n = ('key=value; '):rep(1e5), 0 for k, v in s:gmatch('(%w+)=(%w+)') do n = n + #v end return n",
        1.75,
    ),
    (
        "insert",
        "local n = 0 for i = 1, 20 do local t = {} for j = 1, 1e5 do table.insert(t, j) end n = n + #t end return n",
        2.5,
    ),
];

fn main() -> ExitCode {
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let is_wanted = |name: &str| wanted.as_deref().is_none_or(|word| name.contains(word));
    let latencies = ENDLESS.map(|(name, lua, bound)| !is_wanted(name) || latency(name, lua, bound));
    let ratios = LOOPS.map(|(name, lua, bound)| !is_wanted(name) || ratio(name, lua, bound));
    match latencies.into_iter().chain(ratios).all(|is_good| is_good) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn prompt(lua: &str) -> Program {
    let worker = "while true do end";
    program(&format!(
        "{HEADER}\n## A\n\n```lua\n{lua}\n```\n\n### W\n\n```lua\n{worker}\n```\n"
    ))
}

/// From the raising of a cancel to the end of the run.
fn latency(name: &str, lua: &str, bound: u64) -> bool {
    let program = prompt(lua);
    let mut took: Vec<Duration> = (0..TIMES)
        .map(|at| {
            let cancel = Cancel::default();
            let setup = Setup {
                cancel: cancel.clone(),
                ..setup()
            };
            let mut run = Run::new(program.clone(), setup);
            // Not always at the same moment of what is done over and over.
            let wait = Duration::from_millis(150 + 7 * at as u64);
            let canceller = thread::spawn(move || {
                thread::sleep(wait);
                let now = Instant::now();
                cancel.raise();
                now
            });
            let step = run.step();
            let ended = Instant::now();
            assert_eq!(step.outcome, Some(Outcome::Cancelled), "{name}");
            ended - canceller.join().expect("raises")
        })
        .collect();
    took.sort();
    let (median, late) = (took[TIMES / 2], took[TIMES * 95 / 100]);
    let is_good = late <= Duration::from_millis(bound);
    let verdict = if is_good { "" } else { "  TOO LATE" };
    println!(
        "cancel, {name}: median {median:.2?}, 95th percentile {late:.2?} (bound {bound} ms){verdict}"
    );
    is_good
}

/// The time of a block in a section against that of the same Lua in a bare state.
fn ratio(name: &str, lua: &str, bound: f64) -> bool {
    let program = prompt(lua);
    let bare = || {
        let libraries = StdLib::STRING | StdLib::TABLE | StdLib::MATH;
        let state = Lua::new_with(libraries, LuaOptions::new()).expect("a state");
        let chunk = state.load(lua).into_function().expect("compiles");
        let before = Instant::now();
        black_box(chunk.call::<Value>(()).expect("runs"));
        before.elapsed()
    };
    let own = || {
        let mut run = Run::new(program.clone(), setup());
        let before = Instant::now();
        let step = run.step();
        let took = before.elapsed();
        assert!(
            matches!(step.outcome, Some(Outcome::Completed(_))),
            "{name}"
        );
        took
    };
    // Turn and turn about, so that both meet the same machine; the best of each.
    let (mut best, mut floor) = (Duration::MAX, Duration::MAX);
    for _ in 0..7 {
        floor = floor.min(bare());
        best = best.min(own());
    }
    let ratio = best.as_secs_f64() / floor.as_secs_f64();
    let is_good = ratio <= bound;
    let verdict = if is_good { "" } else { "  TOO SLOW" };
    println!(
        "Lua, {name}: {best:.2?} against {floor:.2?} bare, {ratio:.2} times (bound {bound}){verdict}"
    );
    is_good
}
