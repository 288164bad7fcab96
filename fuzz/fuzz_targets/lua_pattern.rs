//! Patterns and texts, matched by a section's library and by Lua's own: results and errors are the
//! same, also where the text is too long for Lua's own functions to be left alone with it.
#![no_main]

use std::fmt::Write;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use mlua::{Lua, LuaString};
use runvil::Outcome;
use runvil::harness::{Harness, Launch};

#[derive(Arbitrary, Debug)]
struct Input {
    text: Vec<u8>,
    pattern: Vec<u8>,
    by: Vec<u8>,
    init: i16,
    /// How often the text is there.
    times: u8,
}

const SCRIPT: &str = r#"
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
  for i = 1, 2000 do
    local r = table.pack(iterate())
    if r[1] == nil then break end
    found[i] = show(table.unpack(r, 1, r.n))
  end
  return table.concat(found, ';')
end
local s = text:rep(times)
try('find', string.find, s, pattern, init)
try('match', string.match, s, pattern, init)
try('gmatch', all, s, pattern, init)
try('gsub', string.gsub, s, pattern, by)
try('gsub most', string.gsub, s, pattern, by, init)
try('gsub function', string.gsub, s, pattern, function(...) return '<' .. show(...) .. '>' end)
try('plain', string.find, s, pattern, init, true)
try('rep', string.rep, text, times * 401, by)
return table.concat(out, '\\n')
"#;

/// Bytes as a Lua string.
fn literal(bytes: &[u8]) -> String {
    let mut out = String::from("'");
    for byte in bytes {
        let _ = write!(out, "\\{byte:03}");
    }
    out + "'"
}

/// How often items of a pattern repeat: each may multiply what Lua's own matching takes.
fn repeats(pattern: &[u8]) -> usize {
    let is_repeated = |byte: &&u8| matches!(byte, b'*' | b'+' | b'-' | b'?' | b'b');
    pattern.iter().filter(is_repeated).count()
}

fuzz_target!(|input: Input| {
    let Input { text, pattern, by, init, times } = input;
    if text.len() > 64 || pattern.len() > 40 || by.len() > 8 || repeats(&pattern) > 2 {
        return;
    }
    // Bytes that are no UTF-8 cannot be a section's result.
    if [&text, &pattern, &by].iter().any(|bytes| !bytes.is_ascii()) {
        return;
    }
    // Past the length at which a pattern that repeats is left to Lua's own functions.
    let times = match repeats(&pattern) {
        0 | 1 => u32::from(times) + 1,
        _ => u32::from(times % 32) + 1,
    };
    let script = format!(
        "local text, pattern, by, init, times = {}, {}, {}, {init}, {times}\n{SCRIPT}",
        literal(&text),
        literal(&pattern),
        literal(&by),
    );
    let lua = Lua::new();
    let own: LuaString = lua.load(&script).set_name("=s").eval().expect("a text");
    let own = own.to_string_lossy();
    let source = format!(
        "---\nname: s\ndescription: d\nrunvil: 0\n---\n# S\n\n## A\n\n```lua\n{script}```\n"
    );
    let report = Harness::default().run(&source, Launch::default(), &mut |_| {});
    assert_eq!(report.outcome, Outcome::Completed(own));
});
