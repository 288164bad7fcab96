//! Random programs of tasks: read from bytes, so that a property test and a fuzzer make the same
//! ones, and written as a prompt that logs what it is about to do.

use std::fmt::Write as _;

use super::talk::{self, Act};

/// The paths that accesses are made on, some below others; `@` stands for the task's id.
const PATHS: [&str; 11] = [
    "o/@", "o/@", "@/x", "@/y/z", "@/y", "a", "b", "d/x", "d/e/z", "d", "d/e",
];
const PATTERNS: [&str; 8] = ["@/*", "@/**/", "d/*", "d/*/", "**", "*", "**/", "o/*"];
/// The store's calls on one path.
const CALLS: [&str; 7] = [
    "write",
    "append",
    "read",
    "exists",
    "delete",
    "str_replace",
    "read_numbered",
];
/// How many section entries a program makes at most.
const MOST: usize = 150;

/// Reads numbers from bytes; zeros once they are used up.
pub struct Bytes<'a>(pub &'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.next()) % limit.max(1)
    }
}

/// Something a section does.
#[derive(Clone, Debug)]
enum Deed {
    Access(&'static str, &'static str),
    Spawn(usize),
    Call(usize),
    /// A fanout over so many members.
    Fanout(usize, usize),
    /// A wait on one of the handles.
    One(u8),
    /// A wait on any of them, or on all.
    Any(Option<f64>),
    All(Option<f64>),
    Cancel(u8),
    Ask(&'static str),
    Limit(u8),
    /// A loop of rounds with a model that does this.
    Talk(Vec<Vec<Act>>),
    /// Takes the handles of the live tasks that models have started.
    Adopt,
}

/// How a section ends.
#[derive(Clone, Debug)]
enum End {
    Return,
    Fail,
    FallThrough,
    Jump(usize),
}

#[derive(Clone, Debug)]
struct Section {
    deeds: Vec<Deed>,
    /// Whether it waits for all its tasks before it ends.
    tidy: bool,
    end: End,
}

/// A program: its sections run the ones after them, never those before.
#[derive(Clone, Debug)]
pub struct Plan {
    sections: Vec<Section>,
}

impl Plan {
    /// A program that may look at the order in which its tasks end.
    pub fn wild(bytes: &mut Bytes<'_>) -> Self {
        Self::read(bytes, false)
    }

    /// A program that does not (spec K198): it has no timeouts and no waits on any of several,
    /// asks for no state, cancels nothing, lets no arm fail and no task outlive its owner.
    pub fn calm(bytes: &mut Bytes<'_>) -> Self {
        Self::read(bytes, true)
    }

    fn read(bytes: &mut Bytes<'_>, calm: bool) -> Self {
        let count = 2 + bytes.below(5);
        let sections = (0..count)
            .map(|at| read_section(bytes, calm, count - at - 1))
            .collect();
        let mut plan = Self { sections };
        plan.resolve();
        plan
    }

    /// Makes each target, so far a distance, the index of a section, and drops what would make
    /// the program too long.
    fn resolve(&mut self) {
        let mut costs = vec![0; self.sections.len()];
        let mut fails = vec![false; self.sections.len()];
        for at in (0..self.sections.len()).rev() {
            let mut cost = 1;
            let mut afford = |more: usize| {
                let fits = cost + more <= MOST;
                cost += if fits { more } else { 0 };
                fits
            };
            let section = &mut self.sections[at];
            let calm = section.tidy && !section.deeds.iter().any(Deed::looks);
            section.end = match section.end {
                End::Jump(distance) if afford(costs[at + distance]) => End::Jump(at + distance),
                End::FallThrough if at + 1 == costs.len() || afford(costs[at + 1]) => {
                    End::FallThrough
                }
                End::Fail => End::Fail,
                _ => End::Return,
            };
            fails[at] = match section.end {
                End::Fail => true,
                End::Return => false,
                End::FallThrough => fails.get(at + 1).copied().unwrap_or(false),
                End::Jump(to) => fails[to],
            };
            section.deeds.retain_mut(|deed| match deed {
                Deed::Spawn(to) | Deed::Call(to) => {
                    *to += at;
                    afford(costs[*to])
                }
                Deed::Fanout(to, arms) => {
                    *to += at;
                    afford(costs[*to] * *arms) && !(calm && fails[*to])
                }
                Deed::Talk(batches) => {
                    for batch in batches {
                        batch.retain_mut(|act| match act {
                            Act::Start(to) => {
                                *to += at;
                                afford(costs[*to])
                            }
                            _ => true,
                        });
                    }
                    true
                }
                _ => true,
            });
            costs[at] = cost;
        }
    }

    /// The program as a prompt file.
    pub fn prompt(&self) -> String {
        let mut out = String::from(HEADER);
        for (at, section) in self.sections.iter().enumerate() {
            let _ = write!(out, "\n## S{at}\n\n```lua\n{PRELUDE}");
            for deed in &section.deeds {
                let _ = writeln!(out, "{}", deed.lua());
            }
            if section.tidy {
                out.push_str("all()\n");
            }
            match section.end {
                End::Return => out.push_str("return seen\n"),
                End::Fail => out.push_str("error('failed: ' .. seen)\n"),
                End::FallThrough => {}
                End::Jump(to) => {
                    let _ = writeln!(out, "jump('## S{to}')");
                }
            }
            out.push_str("```\n");
        }
        out
    }
}

fn read_section(bytes: &mut Bytes<'_>, calm: bool, after: usize) -> Section {
    let count = 2 + bytes.below(8);
    let deeds = (0..count)
        .filter_map(|_| read_deed(bytes, calm, after))
        .collect();
    let end = match bytes.below(8) {
        0 | 1 if after > 0 => End::Jump(1 + bytes.below(after)),
        2 => End::Fail,
        3 => End::FallThrough,
        _ => End::Return,
    };
    let tidy = calm || bytes.below(3) > 0;
    Section { deeds, tidy, end }
}

fn read_deed(bytes: &mut Bytes<'_>, calm: bool, after: usize) -> Option<Deed> {
    let kind = bytes.below(if calm { 14 } else { 22 });
    let timeout = |bytes: &mut Bytes<'_>| (bytes.below(3) == 0).then_some(0.5);
    Some(match kind {
        0..=2 => Deed::Access(
            CALLS[bytes.below(CALLS.len())],
            PATHS[bytes.below(PATHS.len())],
        ),
        3 => Deed::Access("glob", PATTERNS[bytes.below(PATTERNS.len())]),
        4..=6 if after > 0 => Deed::Spawn(1 + bytes.below(after)),
        7 if after > 0 => Deed::Call(1 + bytes.below(after)),
        8 if after > 0 => Deed::Fanout(1 + bytes.below(after), 1 + bytes.below(3)),
        9 => Deed::One(bytes.next()),
        10 if calm => Deed::All(None),
        10 => Deed::All(timeout(bytes)),
        11 => Deed::Limit(bytes.next() % 4 + 1),
        12 | 13 => Deed::Talk(read_talk(bytes, calm, after)),
        14 | 15 => Deed::Any(timeout(bytes)),
        16 | 17 => Deed::Cancel(bytes.next()),
        18 | 19 => Deed::Ask(["pending", "ready", "status"][bytes.below(3)]),
        20 | 21 => Deed::Adopt,
        _ => return None,
    })
}

/// What a model does. Where it is calm it waits for each task at once, so that it cannot tell when
/// the task has ended.
fn read_talk(bytes: &mut Bytes<'_>, calm: bool, after: usize) -> Vec<Vec<Act>> {
    let start = |bytes: &mut Bytes<'_>| match after {
        0 => Act::Await,
        _ => Act::Start(1 + bytes.below(after)),
    };
    let batches = 1 + bytes.below(4);
    let batches = (0..batches).map(|_| {
        if calm {
            return vec![start(bytes), Act::Await];
        }
        let calls = 1 + bytes.below(4);
        let calls = (0..calls).map(|_| match bytes.below(8) {
            0..=2 => start(bytes),
            3 => Act::Await,
            4 | 5 => Act::AwaitFor(bytes.next() % 5),
            6 => Act::Ask(bytes.next()),
            _ => Act::Cancel(bytes.next()),
        });
        calls.collect()
    });
    batches.collect()
}

impl Deed {
    /// Whether it looks at the order in which tasks end, or makes it matter.
    fn looks(&self) -> bool {
        match self {
            Self::Any(_) | Self::Cancel(_) | Self::Ask(_) | Self::Adopt => true,
            Self::All(timeout) => timeout.is_some(),
            _ => false,
        }
    }

    fn lua(&self) -> String {
        let options = |timeout: &Option<f64>| match timeout {
            Some(seconds) => format!("{{ timeout = {seconds} }}"),
            None => "nil".to_owned(),
        };
        match self {
            Self::Access(call, path) => format!("touch('{call}', '{path}')"),
            Self::Spawn(to) => format!("spawn('## S{to}')"),
            Self::Call(to) => format!("enter('## S{to}')"),
            Self::Fanout(to, arms) => format!("fan('## S{to}', {arms})"),
            Self::One(which) => format!("one({which})"),
            Self::Any(timeout) => format!("any({})", options(timeout)),
            Self::All(timeout) => format!("all({})", options(timeout)),
            Self::Cancel(which) => format!("cancel({which})"),
            Self::Ask(what) => format!("ask('{what}')"),
            Self::Limit(limit) => format!("tasks.concurrency({limit})"),
            Self::Talk(batches) => format!("talk('{}')", talk::write(batches)),
            Self::Adopt => "adopt()".to_owned(),
        }
    }
}

const HEADER: &str = "---\nname: plan\ndescription: d\nrunvil: 0\nmodels: {m: {}}\n---\n# Plan\n";

/// What every section begins with. A line is logged right before an access or a call, and right
/// after a delivery; no other chain runs in between.
const PRELUDE: &str = r#"log('at ' .. sys.id)
local handles, seen = {}, sys.taskid
local function see(text) seen = (seen .. '|' .. tostring(text)):sub(-200) end
local function take(handle)
  log('got ' .. handle.task)
  for i, other in ipairs(handles) do
    if other.task == handle.task then return table.remove(handles, i) end
  end
end
local function touch(call, path)
  local more = { write = { sys.taskid }, append = { '.' }, str_replace = { '0', '1' } }
  path = path:gsub('@', sys.taskid)
  log(call .. ' ' .. path)
  local ok, result = pcall(store[call], path, table.unpack(more[call] or {}))
  if call == 'glob' and ok then result = table.concat(result, ',') end
  see(result)
end
local function spawn(target)
  local ok, task = pcall(tasks.spawn, target, { item = #handles, index = #handles })
  if ok then handles[#handles + 1] = task else see(task) end
end
local function enter(target)
  log('call')
  local _, result = pcall(call, target, seen)
  log('return')
  see(result)
end
local function fan(target, count)
  local members = {}
  for i = 1, count do members[i] = i end
  log('fan')
  local ok, results = pcall(tasks.fanout, target, members)
  log('fanned')
  see(ok and table.concat({ tostring(results[1]), tostring(results[count]) }, ',') or results)
end
local function pick(which) return handles[which % #handles + 1] end
local function any(options)
  if #handles == 0 then return end
  local handle, ok, result = tasks.join_any(handles, options)
  if handle then take(handle) end
  see(tostring(ok) .. tostring(result))
end
local function one(which)
  if #handles == 0 then return end
  local handle, ok, result = tasks.join_any({ pick(which) })
  take(handle)
  see(tostring(ok) .. tostring(result))
end
local function all(options)
  if #handles == 0 then return end
  local results, late = tasks.join(handles, options)
  for i = #handles, 1, -1 do
    if results[i] then take(results[i]) see(results[i].result) end
  end
  see(late)
end
local function cancel(which) if #handles > 0 then tasks.cancel(pick(which)) end end
local function talk(script)
  models.use('m')
  tools.allow_tasks()
  local list = messages.new():user(script)
  local ok, failure = pcall(models.loop, list)
  for i = 2, #list do see(list[i].content) end
  if not ok then see(failure) end
end
local function adopt()
  for _, task in ipairs(tasks.pending({ origin = 'model' })) do
    local known = false
    for _, other in ipairs(handles) do known = known or other.task == task.task end
    if not known then handles[#handles + 1] = task end
  end
end
local function ask(what)
  if what == 'pending' then see(#tasks.pending())
  elseif #handles > 0 and what == 'ready' then see(tasks.ready(handles[1]))
  elseif #handles > 0 then see(tasks.status(handles[1]).blocked) end
end
"#;
