//! The string functions that look at the cancel flag while they work (spec R19): what they are
//! given, as Lua reads it and in its words, and what they give back.

use std::rc::Rc;

use mlua::{Error, Function as LuaFunction, IntoLua, Lua, LuaString, MultiValue, Value};

use super::arguments::{Arguments, Failed};
use super::helpers::{self, Helper};
use super::host::Host;
use super::pattern::{self, Capture, Fault, Matcher};
use super::vm::{Core, interrupt};

/// How much is copied between two looks at the cancel flag, in bytes.
const PIECE: usize = 1 << 20;

/// What a function does with its arguments.
type Body<T> = fn(&T, &Lua, &[Value]) -> Result<Vec<Value>, Failed>;

/// What the helper gets: whether that went well, and the results or the error's text.
type Answer = mlua::Result<MultiValue>;

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Pattern(text) => Self::Text(text),
            Fault::Cancelled => Self::Error(interrupt().into()),
        }
    }
}

impl<H: Host> Core<H> {
    /// The string functions that are replaced, but for `format`.
    pub(super) fn strings(self: &Rc<Self>, lua: &Lua) -> mlua::Result<mlua::Table> {
        let base = |name: &str| self.base.raw_get::<Value>(name);
        let memory = self.memory;
        let string = |name| self.native(lua, "string", name);
        helpers::load(lua, Helper::Strings)?.call((
            string("find")?,
            string("match")?,
            string("gmatch")?,
            string("gsub")?,
            string("rep")?,
            string("sub")?,
            base("type")?,
            base("error")?,
            self.native(lua, "table", "concat")?,
            lua.create_function(|_, pattern: LuaString| {
                Ok(pattern::longest(&pattern.as_bytes()).min(i64::MAX as usize))
            })?,
            self.answering(lua, Self::read)?,
            self.answering(lua, Self::search)?,
            self.answering(lua, Self::scan)?,
            self.answering(lua, Self::substitute)?,
            (
                lua.create_function(|_, pattern: LuaString| {
                    Ok(pattern::captures_in_pieces(&pattern.as_bytes()))
                })?,
                lua.create_function(
                    |lua, (text, pattern, from): (LuaString, LuaString, usize)| {
                        let ends = pattern::pieces(&text.as_bytes(), &pattern.as_bytes(), from - 1);
                        lua.create_sequence_from(ends)
                    },
                )?,
                lua.create_function(move |lua, bytes: i64| {
                    let bytes = usize::try_from(bytes).unwrap_or_default();
                    match lua.used_memory().saturating_add(bytes) > memory {
                        true => lua.gc_collect(),
                        false => Ok(()),
                    }
                })?,
            ),
        ))
    }

    fn answering(self: &Rc<Self>, lua: &Lua, body: Body<Self>) -> mlua::Result<LuaFunction> {
        let core = self.clone();
        lua.create_function(move |lua, mut args: MultiValue| -> Answer {
            core.poll()?;
            let (ok, values) = match body(&core, lua, args.make_contiguous()) {
                Ok(values) => (true, values),
                Err(Failed::Text(text)) => (false, vec![text.into_lua(lua)?]),
                Err(Failed::Error(error)) => return Err(error),
            };
            let mut values = MultiValue::from_vec(values);
            values.push_front(Value::Boolean(ok));
            Ok(values)
        })
    }

    fn is_cancelled(&self) -> bool {
        self.watch.is_cancelled()
    }

    /// Reads the arguments of `gmatch`, `gsub` or `rep`.
    fn read(&self, lua: &Lua, args: &[Value]) -> Result<Vec<Value>, Failed> {
        let Some((name, args)) = args.split_first() else {
            return Ok(Vec::new());
        };
        let is = |other: &str| matches!(name, Value::String(name) if *name == other);
        let is_gsub = is("gsub");
        if is("rep") {
            let name = "rep";
            return Self::read_repeated(&Arguments { lua, name, args });
        }
        let args = Arguments {
            lua,
            name: if is_gsub { "gsub" } else { "gmatch" },
            args,
        };
        let (text, pattern) = (args.string(0)?, args.string(1)?);
        if !is_gsub {
            let start = start(args.integer(2)?.unwrap_or(1), text.as_bytes().len());
            let start = i64::try_from(start).unwrap_or(i64::MAX).saturating_add(1);
            return Ok(vec![
                Value::String(text),
                Value::String(pattern),
                Value::Integer(start),
            ]);
        }
        let most = match args.integer(3)? {
            Some(most) => most,
            None => i64::try_from(text.as_bytes().len())
                .unwrap_or(i64::MAX)
                .saturating_add(1),
        };
        let by = match args.get(2) {
            by @ Value::Function(_) | by @ Value::Table(_) => by.clone(),
            Value::String(_) | Value::Integer(_) | Value::Number(_) => {
                Value::String(args.string(2)?)
            }
            _ => return Err(args.type_error(2, "string/function/table")),
        };
        Ok(vec![
            Value::String(text),
            Value::String(pattern),
            by,
            Value::Integer(most),
        ])
    }

    fn read_repeated(args: &Arguments<'_>) -> Result<Vec<Value>, Failed> {
        let text = args.string(0)?;
        let Some(count) = args.integer(1)? else {
            return Err(args.type_error(1, "number"));
        };
        let between = match args.get(2) {
            Value::Nil => args.lua.create_string("")?,
            _ => args.string(2)?,
        };
        Ok(vec![
            Value::String(text),
            Value::Integer(count),
            Value::String(between),
        ])
    }

    /// `find` and `match`.
    fn search(&self, lua: &Lua, args: &[Value]) -> Result<Vec<Value>, Failed> {
        let Some((finds, args)) = args.split_first() else {
            return Ok(Vec::new());
        };
        let finds = *finds == Value::Boolean(true);
        let name = if finds { "find" } else { "match" };
        let args = Arguments { lua, name, args };
        let (text, pattern) = (args.string(0)?, args.string(1)?);
        let (text, pattern) = (&*text.as_bytes(), &*pattern.as_bytes());
        let from = start(args.integer(2)?.unwrap_or(1), text.len());
        if from > text.len() {
            return Ok(vec![Value::Nil]);
        }
        let is_plain = || !matches!(args.get(3), Value::Nil | Value::Boolean(false));
        if finds && (is_plain() || !pattern.iter().any(|byte| b"^$*+?.([%-".contains(byte))) {
            let found = self.find_plain(text, pattern, from)?;
            return Ok(match found {
                Some(at) => vec![place(at), Value::Integer((at + pattern.len()) as i64)],
                None => vec![Value::Nil],
            });
        }
        let is_cancelled = || self.is_cancelled();
        let mut matcher = Matcher::new(text, pattern, true, &is_cancelled);
        let Some((first, last)) = matcher.find(from)? else {
            return Ok(vec![Value::Nil]);
        };
        let mut out = Vec::new();
        if finds {
            out.extend([place(first), Value::Integer(last as i64)]);
        } else if matcher.captures().is_empty() {
            out.push(Value::String(lua.create_string(&text[first..last])?));
        }
        for capture in matcher.captures() {
            out.push(match *capture {
                Capture::Text(from, to) => Value::String(lua.create_string(&text[from..to])?),
                Capture::Place(at) => place(at),
                Capture::Open(_) => return Err(unfinished()),
            });
        }
        Ok(out)
    }

    /// A text in another, looked for a piece at a time.
    fn find_plain(
        &self,
        text: &[u8],
        wanted: &[u8],
        mut from: usize,
    ) -> Result<Option<usize>, Failed> {
        // To prepare for a long text takes long too: its beginning is looked for.
        let (beginning, rest) = wanted.split_at(wanted.len().min(PIECE / 16));
        let finder = memchr::memmem::Finder::new(beginning);
        loop {
            if self.is_cancelled() {
                return Err(Fault::Cancelled.into());
            }
            let end = text.len().min(from + PIECE + beginning.len());
            match finder.find(&text[from..end]) {
                Some(at) if text[from + at + beginning.len()..].starts_with(rest) => {
                    return Ok(Some(from + at));
                }
                Some(at) => from += at + 1,
                None if end == text.len() => return Ok(None),
                None => from += PIECE,
            }
        }
    }

    /// The next matches of several: a list of the places of each and of its captures, its length, how
    /// many places a match has, where to go on, where the last one ended, and whether that was all.
    fn scan(&self, lua: &Lua, args: &[Value]) -> Result<Vec<Value>, Failed> {
        let [
            Value::String(text),
            Value::String(pattern),
            Value::Integer(at),
            Value::Integer(ended),
            Value::Integer(count),
            Value::Boolean(anchors),
            Value::Boolean(all),
        ] = args
        else {
            return Ok(Vec::new());
        };
        let (text, pattern) = (&*text.as_bytes(), &*pattern.as_bytes());
        let is_cancelled = || self.is_cancelled();
        let mut matcher = Matcher::new(text, pattern, *anchors, &is_cancelled);
        let (mut at, mut ended) = ((at - 1) as usize, usize::try_from(*ended).ok());
        let mut places: Vec<i64> = Vec::new();
        let (mut step, mut is_over) = (2, false);
        for _ in 0..*count {
            let found = matcher.find_next(at, ended);
            let found = found.and_then(|found| match (found, matcher.captures()) {
                (Some(_), [Capture::Open(_), ..]) => Err(unfinished_capture()),
                (Some(_), captures)
                    if *all && captures.iter().any(|c| matches!(c, Capture::Open(_))) =>
                {
                    Err(unfinished_capture())
                }
                (found, _) => Ok(found),
            });
            let (first, last) = match found {
                Ok(Some(found)) => found,
                Ok(None) => {
                    is_over = true;
                    break;
                }
                // It is met again, and raised, when what came before it has been taken.
                Err(Fault::Pattern(_)) if !places.is_empty() => break,
                Err(fault) => return Err(fault.into()),
            };
            places.extend([first as i64 + 1, last as i64]);
            for capture in matcher.captures() {
                places.extend(match *capture {
                    Capture::Text(from, to) => [from as i64 + 1, to as i64],
                    Capture::Place(at) => [at as i64 + 1, -1],
                    Capture::Open(at) => [at as i64 + 1, at as i64],
                });
            }
            step = 2 + 2 * matcher.captures().len();
            (at, ended) = (last, Some(last));
            if matcher.is_anchored() {
                is_over = true;
                break;
            }
        }
        let size = places.len() as i64;
        Ok(vec![
            Value::Table(lua.create_sequence_from(places)?),
            Value::Integer(size),
            Value::Integer(step as i64),
            place(at),
            Value::Integer(ended.map_or(-1, |ended| ended as i64)),
            Value::Boolean(is_over),
        ])
    }

    /// `gsub` with a text to replace by.
    fn substitute(&self, lua: &Lua, args: &[Value]) -> Result<Vec<Value>, Failed> {
        let [
            Value::String(whole),
            Value::String(pattern),
            Value::String(by),
            Value::Integer(most),
        ] = args
        else {
            return Ok(Vec::new());
        };
        let (text, pattern, by) = (&*whole.as_bytes(), &*pattern.as_bytes(), &*by.as_bytes());
        let is_cancelled = || self.is_cancelled();
        let mut matcher = Matcher::new(text, pattern, true, &is_cancelled);
        let (mut out, mut copied, mut at, mut ended, mut count) = (Vec::new(), 0, 0, None, 0);
        while count < *most {
            let Some((first, last)) = matcher.find_next(at, ended)? else {
                break;
            };
            count += 1;
            out.extend_from_slice(&text[copied..first]);
            put(&mut out, by, text, (first, last), matcher.captures())?;
            // As soon as the heap could not hold it, as where Lua builds it.
            if out.len() > self.memory {
                return Err(no_memory());
            }
            (copied, at, ended) = (last, last, Some(last));
            if count % 1024 == 0 && self.is_cancelled() {
                return Err(Fault::Cancelled.into());
            }
            if matcher.is_anchored() {
                break;
            }
        }
        if count == 0 {
            return Ok(vec![args[0].clone(), Value::Integer(0)]);
        }
        out.extend_from_slice(&text[copied..]);
        let text = lua.create_string(&out)?;
        Ok(vec![Value::String(text), Value::Integer(count)])
    }
}

/// Puts what a match is replaced by.
fn put(
    out: &mut Vec<u8>,
    by: &[u8],
    text: &[u8],
    (first, last): (usize, usize),
    captures: &[Capture],
) -> Result<(), Failed> {
    let mut rest = by;
    while let Some(at) = memchr::memchr(b'%', rest) {
        out.extend_from_slice(&rest[..at]);
        let digit = rest.get(at + 1).copied().unwrap_or_default();
        match digit {
            b'%' => out.push(b'%'),
            b'0' => out.extend_from_slice(&text[first..last]),
            b'1'..=b'9' => match captures.get(usize::from(digit - b'1')) {
                Some(Capture::Text(from, to)) => out.extend_from_slice(&text[*from..*to]),
                Some(Capture::Place(at)) => out.extend((at + 1).to_string().bytes()),
                Some(Capture::Open(_)) => return Err(unfinished()),
                None if digit == b'1' && captures.is_empty() => {
                    out.extend_from_slice(&text[first..last]);
                }
                None => return Err(pattern::invalid_index(digit).into()),
            },
            _ => {
                let text = "invalid use of '%' in replacement string";
                return Err(Failed::Text(text.to_owned()));
            }
        }
        rest = &rest[at + 2..];
    }
    out.extend_from_slice(rest);
    Ok(())
}

fn unfinished_capture() -> Fault {
    Fault::Pattern("unfinished capture".to_owned())
}

fn unfinished() -> Failed {
    unfinished_capture().into()
}

fn no_memory() -> Failed {
    Failed::Error(Error::MemoryError("not enough memory".to_owned()))
}

/// A place as Lua counts it.
fn place(at: usize) -> Value {
    Value::Integer(at as i64 + 1)
}

/// Where to begin, counted from 0, as a function's `init` says: past the end at most by one.
fn start(init: i64, length: usize) -> usize {
    match usize::try_from(init) {
        Ok(0) => 0,
        Ok(init) => (init - 1).min(length + 1),
        Err(_) => {
            let back = usize::try_from(init.unsigned_abs()).unwrap_or(usize::MAX);
            length.saturating_sub(back)
        }
    }
}
