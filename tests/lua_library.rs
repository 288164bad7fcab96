//! The library functions of a section VM against Lua's own: results and errors are the same, where
//! Lua's own do the work and where they do not (spec L3, R19).

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use mlua::{Lua, LuaString};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use runvil::Outcome;
use runvil::harness::{Harness, Launch};

/// One text, one pattern, and what is done with them.
#[derive(Clone, Debug)]
struct Case {
    text: String,
    pattern: String,
    by: String,
    init: i64,
    most: i64,
}

/// A set that no text has anything of: a pattern as long as this is never left to Lua's own
/// functions.
const PAD: &str = "[\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1]?";

/// What is done with each case. Errors are given without their place, which is another.
const SCRIPT: &str = r"
local out = {}
local function show(...)
  local parts = {}
  for i = 1, select('#', ...) do
    local v = (select(i, ...))
    parts[i] = type(v) == 'string' and ('%q'):format(v) or tostring(v)
  end
  return table.concat(parts, ',')
end
local function note(name, ok, ...)
  local text = ok and show(...) or 'error ' .. tostring((...)):gsub('^s:%d+: ', '')
  out[#out + 1] = name .. ': ' .. text
end
local function try(name, f, ...) note(name, pcall(f, ...)) end
local function all(s, p, init)
  local found = {}
  local iterate = string.gmatch(s, p, init)
  for i = 1, 40 do
    local r = { iterate() }
    if r[1] == nil then break end
    found[i] = show(table.unpack(r))
  end
  return table.concat(found, ';')
end
local function check(s, p, by, init, most)
  try('find', string.find, s, p, init)
  try('match', string.match, s, p, init)
  try('gmatch', all, s, p, init)
  try('gsub', string.gsub, s, p, by)
  try('gsub most', string.gsub, s, p, by, most)
  local seen = {}
  try('gsub function', string.gsub, s, p, function(...)
    seen[#seen + 1] = show(...)
    local first = ...
    if first == 'a' then return nil elseif first == 'b' then return false end
    if type(first) == 'number' then return first + 0.5 end
    return '<' .. first .. '>'
  end, most)
  out[#out + 1] = table.concat(seen, ';')
  try('gsub table', string.gsub, s, p, { a = 'A', b = false, [1] = 1, [2] = {}, ['ab'] = 2.5 })
  try('plain', string.find, s, p, init, true)
  if most < 1000 then try('rep', string.rep, s, most, by) end
end
";

/// A text as a Lua string.
fn literal(text: &str) -> String {
    let mut out = String::from("'");
    for byte in text.bytes() {
        let _ = write!(out, "\\{byte:03}");
    }
    out + "'"
}

fn script(cases: &[Case]) -> String {
    let mut out = SCRIPT.to_owned();
    let pad = PAD.replacen("\\1", &"\\1".repeat(500), 1);
    for case in cases {
        let (text, pattern) = (literal(&case.text), literal(&case.pattern));
        let (by, init, most) = (literal(&case.by), case.init, case.most);
        for pattern in [pattern.clone(), format!("{pattern} .. '{pad}'")] {
            let _ = writeln!(out, "check({text}, {pattern}, {by}, {init}, {most})");
        }
    }
    out + "return table.concat(out, '\\n')\n"
}

fn by_lua(script: &str) -> String {
    let lua = Lua::new();
    let text: LuaString = lua.load(script).set_name("=s").eval().unwrap();
    text.to_string_lossy()
}

fn by_vm(script: &str) -> String {
    let source = format!(
        "---\nname: s\ndescription: d\nrunvil: 0\n---\n# S\n\n## A\n\n```lua\n{script}```\n"
    );
    match Harness::default()
        .run(&source, Launch::default(), &mut |_| {})
        .outcome
    {
        Outcome::Completed(text) => text,
        other => panic!("{other:?}"),
    }
}

/// The first lines that are not the same, with their number.
fn difference(own: &str, other: &str) -> Option<(usize, String, String)> {
    let length = own.lines().count().max(other.lines().count());
    let line = |text: &str, at| text.lines().nth(at).map(str::to_owned).unwrap_or_default();
    let own_lines: Vec<&str> = own.lines().collect();
    let other_lines: Vec<&str> = other.lines().collect();
    (0..length)
        .find(|at| own_lines.get(*at) != other_lines.get(*at))
        .map(|at| (at, line(own, at), line(other, at)))
}

fn pieces(from: &'static [&'static str], most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(from), 0..most).prop_map(|parts| parts.concat())
}

fn case() -> impl Strategy<Value = Case> {
    const TEXT: &[&str] = &[
        "a", "a", "b", "ab", " ", "1", "=", "(", ")", "\n", "%", "\0", "é", "]",
    ];
    const PATTERN: &[&str] = &[
        "a", "b", ".", "%a", "%d", "%s", "%w", "%S", "%p", "%c", "%z", "%q", "[ab]", "[^a]",
        "[a-c%d]", "[]]", "[^]a]", "[%a-]", "[a-]", "(", ")", "(a", ")", "()", "(.-)", "(%w+)",
        "%b()", "%bab", "%f[%w]", "%f[^a]", "%1", "%2", "%0", "^", "$", "-", "*", "+", "?", "*",
        "+", "-", "%", "[", "]", "%%", "\0", "=",
    ];
    const BY: &[&str] = &["x", "%0", "%1", "%2", "%%", "%", "<", "", "%9"];
    let parts = (
        pieces(TEXT, 16),
        pieces(PATTERN, 9),
        pieces(BY, 4),
        -20i64..22,
        -1i64..6,
    );
    parts.prop_map(|(text, pattern, by, init, most)| Case {
        text,
        pattern,
        by,
        init,
        most,
    })
}

#[test]
fn texts_and_patterns_give_what_they_give_in_lua() {
    let mut runner = TestRunner::new(Config {
        cases: 40,
        failure_persistence: None,
        ..Config::default()
    });
    let cases = prop::collection::vec(case(), 60);
    runner
        .run(&cases, |cases| {
            let script = script(&cases);
            let difference = difference(&by_vm(&script), &by_lua(&script));
            prop_assert_eq!(difference, None);
            Ok(())
        })
        .unwrap();
}

#[test]
fn long_texts_give_what_they_give_in_lua() {
    // Each of them is past what is left to Lua's own functions.
    let script = SCRIPT
        .replace("for i = 1, 40 do", "for i = 1, 4000 do")
        .to_owned()
        + r"
local words = ('alpha = beta; gamma=12 \n'):rep(200)
for _, p in ipairs({ '(%w+)%s*=%s*(%w+)', '%w+=', '^%s*(.-)%s*$', '(%a)(%a)', '()=()', '(a)(.-)(;)' }) do
  check(words, p, '[%0]', -5000, 40)
  check(words, p, '[%0]', 1, 1 << 40)
end
try('invalid', string.gsub, words, '%w+=', function() return {} end)
try('invalid', string.gsub, words, '(%w+)=', { gamma = {} })
try('raised', string.gsub, words, '%w+=', function(m) error(m, 0) end)
try('complex', string.find, ('a'):rep(250000), '(.-)%w*' .. ('.?'):rep(250))
try('rep', string.rep, 'ab', 100001, ',')
try('rep', string.rep, 'ab', 100489, '--')
try('rep', string.rep, 'x', '200003')
try('rep', string.rep, 'x', 300000.0, 7)
try('rep', string.rep, 'x', 1 << 52, ('y'):rep(5000))
-- Matched in pieces of the text, from any place, and on where there are none.
local pairs_of = ('key=value; k=; =v; a=b=c, '):rep(3000)
for _, p in ipairs({ '%a+', '(%w+)=(%w+)', '(%w+)=', '((%w)%w*)=(%w+)([;,])', '%w+=%w+[;,]' }) do
  for _, init in ipairs({ 1, 2, 17, -40, 0, 1e6 }) do
    try('pieces', all, pairs_of, p, init)
    try('pieces', all, pairs_of .. ('w'):rep(3000) .. pairs_of, p, init)
  end
end
try('rep', string.rep, 'abc', 400000)
try('rep', string.rep, '', 1e15)
try('rep', string.rep, 'x', 1 << 62, 'yy')
try('rep', string.rep, 'x', -1)
try('plain', string.find, ('x'):rep(3000000) .. 'y', ('x'):rep(1000) .. 'y', 7, true)
try('plain', string.find, ('x'):rep(3000000), ('x'):rep(1000) .. 'y', 7, true)
return table.concat(out, '\n')
";
    assert_eq!(difference(&by_vm(&script), &by_lua(&script)), None);
}

#[test]
fn a_long_text_takes_the_place_of_one_that_is_garbage() {
    // spec R19: each is nearly all that a section may hold
    let script = "local n = 0 for i = 1, 4 do n = n + #('x'):rep(60000000 + i) end \
                  for i = 1, 4 do n = n + #('x'):rep(6000 + i):rep(10000) end return tostring(n)";
    assert_eq!(by_vm(&format!("{script}\n")), by_lua(script));
}

#[test]
fn wrong_arguments_are_refused_in_the_words_of_lua() {
    let script = SCRIPT.to_owned()
        + r"
local odd = setmetatable({}, { __name = 'Odd' })
for _, name in ipairs({ 'find', 'match', 'gmatch', 'gsub', 'rep' }) do
  local f = string[name]
  try('direct', function() return (f()) end)
  try('number', function() return show(f(1212, 2, 1)) end)
  for _, s in ipairs({ 'x', 12, false, {}, odd }) do
    for _, p in ipairs({ 'x', 2, '2', false, odd }) do
      for _, i in ipairs({ 1, '1', 'x', 1.5, 2.0, false, 1e300, {} }) do
        try('function', function() return (f(s, p, i)) end)
        if name ~= 'gmatch' then
          try('field', function() local r = string[name](s, p, 'y', i) return r end)
        end
      end
    end
  end
  try('method', function() local s = 'x' return (s[name](s)) end)
end
try('method', function() return (('x'):find()) end)
try('method', function() return (('x'):find('x', {})) end)
try('method', function() return (('x'):match({})) end)
try('method', function() return (('x'):gsub('x')) end)
try('method', function() return (('x'):gsub('x', 'y', 'z')) end)
try('method', function() return (('x'):gmatch()) end)
try('method', function() return (('x'):rep()) end)
try('self', function() return (string.find)() end)
return table.concat(out, '\n')
";
    // An iterator is shown by its address in the one and by a number in the other.
    let plain = |text: String| {
        let lines = text
            .lines()
            .map(|line| match line.split_once("function: ") {
                Some((name, _)) => format!("{name}function"),
                None => line.to_owned(),
            });
        lines.collect::<Vec<_>>().join("\n")
    };
    let (own, other) = (plain(by_vm(&script)), plain(by_lua(&script)));
    assert_eq!(difference(&own, &other), None);
}

#[test]
fn what_replaces_cannot_wait() {
    for text in ["'abc'", "('abc='):rep(100000)"] {
        for way in [
            "string.gsub(s, '%w+=?', function(m) store.exists(m) end)",
            "string.gsub(s, '%w+=?', setmetatable({}, { __index = function(_, m) store.exists(m) end }))",
        ] {
            let script = format!(
                "local s = {text} local ok, e = pcall(function() {way} end) return tostring(e)\n"
            );
            assert_eq!(by_vm(&script), "attempt to yield across a C-call boundary");
        }
    }
}

#[test]
fn the_table_of_strings_looks_like_lua_s() {
    let script = "local names = {} for name in pairs(string) do names[#names + 1] = name end \
                  table.sort(names) return table.concat(names, ' ') .. tostring(getmetatable(string)) \
                  .. tostring(string.find == ('').find)\n";
    assert_eq!(by_vm(script), by_lua(script));
    let script = "return tostring(getmetatable(getmetatable('').__index))\n";
    assert_eq!(by_vm(script), "nil");
}

#[test]
fn tables_are_sorted_as_in_lua() {
    // Lists that a sort splits evenly, badly and not at all, and orders that are none. The results,
    // what is compared and in which order, and the errors.
    let script = SCRIPT.to_owned()
        + r"
local state = 7
local function dice(n) state = (state * 1103515245 + 12345) % 2147483648 return state // 65536 % n end
local lists = {
  function(n) return dice(n) end,
  function(n) return dice(4) end,
  function(_, i) return i end,
  function(n, i) return n - i end,
  function(n, i) return i % 2 == 0 and i or n - i end,
  function() return 1 end,
}
local orders = {
  function(a, b) return a > b end,
  function(a, b) return a % 5 < b % 5 end,
  function(a, b) return a <= b end,
  function() return true end,
  function() return false end,
  function(a, b) return (a + b) % 2 == 0 end,
  function(a, b) if a == 3 then error('three', 0) end return a < b end,
}
for _, n in ipairs({ 0, 1, 2, 3, 4, 5, 10, 50, 99 }) do
  for at, item in ipairs(lists) do
    local function list() local t = {} for i = 1, n do t[i] = item(n, i) end return t end
    local t = list()
    try('sort ' .. at, function() table.sort(t) return table.concat(t, ' ') end)
    for number, order in ipairs(orders) do
      local t, seen, count = list(), {}, 0
      try('by ' .. number, function()
        table.sort(t, function(a, b)
          count = count + 1
          if count < 200 then seen[count] = show(a, b) end
          return order(a, b)
        end)
      end)
      out[#out + 1] = count .. ': ' .. table.concat(seen, ';')
      for i, v in ipairs(t) do t[i] = tostring(v) end
      out[#out + 1] = table.concat(t, ' ')
    end
  end
end
local words = setmetatable({}, { __lt = function() return true end })
for _, t in ipairs({ { 'b', 'a', 'c' }, { 1, 'a' }, { {}, {} }, { words, words }, { 2.5, 1, -0.0 }, { true, false } }) do
  try('mixed', function() table.sort(t) return show(t[1] == nil, #t) end)
end
for _, f in ipairs({ false, 5, 'x', {} }) do try('order', function() return table.sort({ 2, 1 }, f), 1 end) end
for _, t in ipairs({ false, 5, 'text', tostring }) do try('list', function() return table.sort(t), 1 end) end
return table.concat(out, '\n')
";
    assert_eq!(difference(&by_vm(&script), &by_lua(&script)), None);
}

#[test]
fn tables_are_moved_as_in_lua() {
    let script = SCRIPT.to_owned()
        + r"
local function list(n) local t = {} for i = 1, n do t[i] = i end return t end
local function sum(t) return show(#t, t[1], t[2], t[3], t[100], t[#t - 1], t[#t]) end
-- A list that says how long it is, and notes what is done to it.
local function noted(n)
  local log = {}
  return setmetatable({}, {
    __len = function() log[#log + 1] = 'len' return n end,
    __index = function(_, k) log[#log + 1] = 'get ' .. tostring(k) return k end,
    __newindex = function(_, k, v) log[#log + 1] = 'set ' .. tostring(k) .. '=' .. tostring(v) end,
  }), function() return table.concat(log, ' ') end
end
for _, n in ipairs({ 0, 1, 5, 20000 }) do
  for _, pos in ipairs({ 1, 2, n, n + 1, n + 2, 0, -1, 1.0, 1.5, '2', 'x', {} }) do
    local t = list(n)
    try('insert', function() table.insert(t, pos, 'new') return sum(t) end)
    t = list(n)
    try('insert nil', function() table.insert(t, pos, nil) return sum(t) end)
    t = list(n)
    try('remove', function() local v = table.remove(t, pos) return show(v, sum(t)) end)
  end
  local t = list(n)
  try('append', function() table.insert(t, 'x') return sum(t) end)
  try('remove last', function() return show(table.remove(t), table.remove(t), sum(t)) end)
  try('wrong', function() table.insert(t) end)
  try('wrong', function() table.insert(t, 1, 2, 3) end)
  for _, r in ipairs({ { 1, n, 2 }, { 1, n, 1 }, { 2, n, 1 }, { 1, n, n }, { '1', n + 0.0, 3 }, { 5, 1, 1 } }) do
    t = list(n)
    try('move', function() return sum(table.move(t, r[1], r[2], r[3])) end)
    try('move to', function() return sum(table.move(list(n), r[1], r[2], r[3], {})) end)
  end
end
for _, n in ipairs({ 0, 3, -3, 2.0, 2.5, '2', 'x', {} }) do
  for _, pos in ipairs({ 1, 2, 4, 5, 0, -4, -5 }) do
    local t, seen = noted(n)
    try('insert', function() table.insert(t, pos, 'v') end)
    try('remove', function() return (table.remove(t, pos)) end)
    out[#out + 1] = seen()
  end
  local t, seen = noted(n)
  try('append', function() table.insert(t, 'v') end)
  try('last', function() return (table.remove(t)) end)
  out[#out + 1] = seen()
end
local t, seen = noted(20000)
try('remove', function() return (table.remove(t, 19997)) end)
try('insert', function() table.insert(t, 19998, 'v') end)
out[#out + 1] = seen()
for _, t in ipairs({ false, 5, 'text', tostring }) do
  try('no table', function() return table.insert(t, 1, 2), 1 end)
  try('no table', function() return table.remove(t, 1), 1 end)
  try('no table', function() return table.move(t, 1, 2, 3), 1 end)
  try('no table', function() return table.concat(t), 1 end)
end
try('too many', function() return table.move({}, -5, math.maxinteger, 1), 1 end)
try('wrap', function() return table.move({}, 1, math.maxinteger, 2), 1 end)
try('wrap', function() return table.move({}, 1, 20000, math.maxinteger - 5), 1 end)
local long = list(45000)
try('concat', function() return (table.concat(long, ', ')) end)
try('concat', function() return (table.concat(long, '', 7, 30006)) end)
try('concat', function() return (table.concat(long, {}, 7, 30006)) end)
long[25000] = false
try('concat', function() return (table.concat(long, ', ')) end)
return table.concat(out, '\n')
";
    let plain = |text: String| text.replace("(a boolean value)", "(boolean)");
    let (own, other) = (plain(by_vm(&script)), plain(by_lua(&script)));
    assert_eq!(difference(&own, &other), None);
}
