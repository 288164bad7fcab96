//! Between Lua values and JSON data (spec L37).

use std::collections::BTreeMap;
use std::sync::Arc;

use mlua::{Lua, Table, Value};

use super::data::Data;
use super::failure::{Failure, INTERRUPTED};
use super::guard::snapshot_of;
use super::order::{self, sort};
use super::watch::{Cancelled, Watch};

/// Why a value is not JSON data (spec L48).
#[derive(Debug, PartialEq, Eq)]
pub enum NotData {
    /// A part of it is of a type that data does not have, or nested too deep.
    Offender {
        /// The path to that part from the root that was named.
        path: String,
        /// Its type.
        type_name: &'static str,
    },
    /// Written out it would be larger than a section VM may be.
    TooLarge,
    /// The run was cancelled before that was known.
    Cancelled,
}

impl From<Cancelled> for NotData {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl NotData {
    /// The message of a guarded assignment and of a read-back.
    pub fn message(&self) -> String {
        match self {
            Self::Offender { path, type_name } => {
                format!("{path} must be JSON data, got {type_name}")
            }
            Self::TooLarge => "not enough memory".to_owned(),
            Self::Cancelled => INTERRUPTED.to_owned(),
        }
    }

    /// What a guarded assignment and a read-back fail with.
    pub fn failure(self) -> Failure {
        match self {
            Self::Cancelled => Cancelled.into(),
            other => Failure::lua(other.message()),
        }
    }
}

/// The size that converted data may have: tables that share parts can stand for far more than they
/// hold themselves. Each value counts 16 bytes, a string its own bytes too.
const MAX_BYTES: usize = 64 << 20;

/// How many entries of an object are put into it without a look at the cancel flag, which is quicker.
const AT_ONCE: usize = 1 << 16;

/// The type word of the engine's own messages: Lua's, but `integer` for an integer.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Integer(_) => "integer",
        Value::Error(_) => "userdata",
        other => other.type_name(),
    }
}

/// The data a Lua value stands for. `root` names the value in the error's path.
pub(super) fn to_data(lua: &Lua, value: &Value, root: &str) -> Result<Data, NotData> {
    to_data_at(lua, value, root, 0)
}

/// As [`to_data`], for a value that becomes a part of data at a depth.
pub(super) fn to_data_at(
    lua: &Lua,
    value: &Value,
    root: &str,
    depth: usize,
) -> Result<Data, NotData> {
    convert(lua, value, root, depth, Entries::finish)
}

/// As [`to_data`], but a table with a sequence part is that sequence, whatever else it holds.
pub(super) fn to_sequences(lua: &Lua, value: &Value, root: &str) -> Result<Data, NotData> {
    convert(lua, value, root, 0, Entries::finish_sequence)
}

/// What becomes of a table's entries.
type Finish = fn(Entries, &Watch) -> Result<Data, Cancelled>;

/// How a value is read: into what a table's entries are made, how large it may still be, and what
/// looks at the cancel flag meanwhile.
struct Reading {
    finish: Finish,
    budget: usize,
    watch: Watch,
}

fn convert(
    lua: &Lua,
    value: &Value,
    root: &str,
    depth: usize,
    finish: Finish,
) -> Result<Data, NotData> {
    let mut reading = Reading {
        finish,
        budget: MAX_BYTES,
        watch: Watch::of(lua),
    };
    match reading.read(value, depth) {
        Ok(data) => Ok(data),
        Err(Refused::TooLarge) => Err(NotData::TooLarge),
        Err(Refused::Cancelled) => Err(NotData::Cancelled),
        Err(Refused::Offends) => {
            let found = find_offender(
                value,
                root.to_owned(),
                &mut Walk {
                    depth,
                    left: MAX_VISITS,
                    above: Vec::new(),
                    watch: reading.watch,
                },
            )?;
            Err(found.unwrap_or_else(|| NotData::Offender {
                path: root.to_owned(),
                type_name: value.type_name(),
            }))
        }
    }
}

/// Why a value was not read: where, is looked up only when someone asks.
enum Refused {
    Offends,
    TooLarge,
    Cancelled,
}

impl From<Cancelled> for Refused {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

fn scalar(value: &Value) -> Option<Data> {
    match value {
        Value::Nil => Some(Data::Null),
        Value::Boolean(b) => Some(Data::Bool(*b)),
        Value::Integer(i) => Some(Data::Int(*i)),
        Value::Number(n) if n.is_finite() => Some(Data::Float(*n)),
        Value::String(s) => s.to_str().ok().map(|s| Data::text(&*s)),
        _ => None,
    }
}

impl Reading {
    fn spend(&mut self, bytes: usize) -> Result<(), Refused> {
        let left = self.budget.checked_sub(bytes.saturating_add(16));
        self.budget = left.ok_or(Refused::TooLarge)?;
        Ok(self.watch.step(1 + bytes / 64)?)
    }

    fn read(&mut self, value: &Value, depth: usize) -> Result<Data, Refused> {
        let Value::Table(table) = value else {
            let bytes = value.as_string().map_or(0, |text| text.as_bytes().len());
            self.spend(bytes)?;
            return scalar(value).ok_or(Refused::Offends);
        };
        self.spend(0)?;
        if let Some(data) = snapshot_of(table, &self.watch)? {
            return match depth + data.depth() > Data::MAX_DEPTH {
                true => Err(Refused::Offends),
                false => self.spend(data.size()).map(|()| data),
            };
        }
        if depth >= Data::MAX_DEPTH {
            return Err(Refused::Offends);
        }
        let mut entries = Entries::with_capacity(table.raw_len().min(self.budget / 16));
        for pair in table.pairs::<Value, Value>() {
            let (key, value) = pair.map_err(|_| Refused::TooLarge)?;
            let key = Key::from_lua(&key).ok_or(Refused::Offends)?;
            self.spend(key.size())?;
            entries.push(key, self.read(&value, depth + 1)?);
        }
        Ok((self.finish)(entries, &self.watch)?)
    }
}

/// The key of a table that stands for JSON data.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Bool(bool),
    Int(i64),
    /// A float key, as its text.
    Float(String),
    Text(Arc<str>),
}

impl Key {
    /// A key that JSON data can have, or `None`.
    pub(super) fn from_lua(key: &Value) -> Option<Self> {
        match key {
            Value::Boolean(b) => Some(Self::Bool(*b)),
            Value::Integer(i) => Some(Self::Int(*i)),
            Value::Number(n) if n.is_finite() => {
                let whole = *n as i64;
                if whole as f64 == *n && *n < 9_223_372_036_854_775_808.0 {
                    return Some(Self::Int(whole));
                }
                Some(Self::Float(Data::Float(*n).to_json()))
            }
            Value::String(s) => s.to_str().ok().map(|s| Self::Text(Arc::from(&*s))),
            _ => None,
        }
    }

    /// The bytes of its text, where it is one.
    fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            _ => 0,
        }
    }

    /// How an object writes the key.
    pub(super) fn into_text(self) -> Arc<str> {
        match self {
            Self::Bool(b) => Arc::from(if b { "true" } else { "false" }),
            Self::Int(i) => Arc::from(i.to_string()),
            Self::Float(text) => Arc::from(text),
            Self::Text(text) => text,
        }
    }

    /// The key as it stands in a path.
    pub(super) fn path(&self) -> String {
        match self {
            Self::Text(text) => format!(".{text}"),
            other => format!("[{}]", other.clone().into_text()),
        }
    }
}

/// A table's entries on their way to an array or an object.
pub(super) struct Entries {
    list: Vec<Data>,
    rest: Vec<(Key, Data)>,
}

impl Entries {
    pub(super) fn with_capacity(length: usize) -> Self {
        Self {
            list: Vec::with_capacity(length),
            rest: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, key: Key, value: Data) {
        // nil never stands under a key; a null that data holds reads as nil.
        match key {
            Key::Int(i) if self.rest.is_empty() && i == self.list.len() as i64 + 1 => {
                self.list.push(value);
            }
            key => self.rest.push((key, value)),
        }
    }

    /// The array of the keys `1..n` where there are such, the other entries dropped, else an object.
    fn finish_sequence(self, watch: &Watch) -> Result<Data, Cancelled> {
        let Self { mut list, rest } = self;
        let rest = sort(rest, |a, b| a.0.cmp(&b.0), || watch.poll())?;
        let later = rest.iter().skip_while(|(key, _)| match key {
            Key::Int(i) => *i <= list.len() as i64,
            other => *other < Key::Int(0),
        });
        let following: Vec<Data> = later
            .zip(list.len() as i64 + 1..)
            .take_while(|((key, _), i)| *key == Key::Int(*i))
            .map(|((_, value), _)| value.clone())
            .collect();
        list.extend(following);
        match list.is_empty() {
            true => Self { list, rest }.finish(watch),
            false => Ok(Data::list(list)),
        }
    }

    /// An array where the keys are exactly `1..n`, else an object.
    pub(super) fn finish(self, watch: &Watch) -> Result<Data, Cancelled> {
        let Self { list, mut rest } = self;
        if rest.is_empty() && !list.is_empty() {
            return Ok(Data::list(list));
        }
        let numbered = list
            .into_iter()
            .zip(1..)
            .map(|(value, i)| (Key::Int(i), value));
        rest.extend(numbered);
        let rest = sort(rest, |a, b| a.0.cmp(&b.0), || watch.poll())?;
        let sequence = rest
            .iter()
            .zip(1i64..)
            .all(|((key, _), i)| *key == Key::Int(i));
        if sequence && !rest.is_empty() {
            return Ok(Data::list(
                rest.into_iter().map(|(_, value)| value).collect::<Vec<_>>(),
            ));
        }
        let mut named: Vec<(Arc<str>, Data)> = Vec::with_capacity(rest.len());
        for (key, value) in rest {
            watch.step(1)?;
            named.push((key.into_text(), value));
        }
        let named = sort(named, |a, b| a.0.cmp(&b.0), || watch.poll())?;
        // Of two keys with one text, such as 1 and '1', the string is the later one.
        if named.len() <= AT_ONCE {
            return Ok(Data::map(named.into_iter().collect()));
        }
        let mut map = BTreeMap::new();
        for (key, value) in named {
            watch.step(1)?;
            map.insert(key, value);
        }
        Ok(Data::map(map))
    }
}

/// How many values the search for an offender looks at.
const MAX_VISITS: usize = 1 << 20;

/// The search for an offender: how deep it began, what it may still look at, and the tables that
/// hold the value it looks at.
struct Walk {
    depth: usize,
    left: usize,
    above: Vec<Table>,
    watch: Watch,
}

/// Walks in the order of spec L38 to the first value that is not data (spec L48).
fn find_offender(
    value: &Value,
    path: String,
    walk: &mut Walk,
) -> Result<Option<NotData>, Cancelled> {
    walk.watch.step(1)?;
    let Some(left) = walk.left.checked_sub(1) else {
        return Ok(Some(NotData::TooLarge));
    };
    walk.left = left;
    let offends = |path, value: &Value| NotData::Offender {
        path,
        type_name: value.type_name(),
    };
    let level = walk.depth + walk.above.len();
    let Value::Table(table) = value else {
        return Ok(scalar(value).is_none().then(|| offends(path, value)));
    };
    if let Some(data) = snapshot_of(table, &walk.watch)? {
        let deep = level + data.depth() > Data::MAX_DEPTH;
        return Ok(deep.then(|| offends(path, value)));
    }
    if walk.above.contains(table) || level >= Data::MAX_DEPTH {
        return Ok(Some(offends(path, value)));
    }
    walk.above.push(table.clone());
    for (key, value) in sorted_pairs(table, &walk.watch)? {
        let Some(name) = Key::from_lua(&key) else {
            return Ok(Some(offends(path, &key)));
        };
        let found = find_offender(&value, format!("{path}{}", name.path()), walk)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    walk.above.pop();
    Ok(None)
}

/// A table's raw pairs in the order of spec L38.
pub(super) fn sorted_pairs(table: &Table, watch: &Watch) -> Result<Vec<(Value, Value)>, Cancelled> {
    let length = table.raw_len();
    let in_array = |key: &Value| matches!(key, Value::Integer(i) if *i >= 1 && *i <= length as i64);
    let mut pairs = Vec::new();
    for pair in table.pairs::<Value, Value>() {
        watch.step(1)?;
        pairs.extend(pair.ok());
    }
    let compare =
        |(a, _): &(Value, Value), (b, _): &(Value, Value)| match (in_array(a), in_array(b)) {
            (true, false) => std::cmp::Ordering::Less,
            (false, true) => std::cmp::Ordering::Greater,
            _ => order::compare(a, b),
        };
    sort(pairs, compare, || watch.poll())
}

/// A Lua value of plain tables; null reads as nil (spec L37).
pub(super) fn to_lua(lua: &Lua, data: &Data) -> mlua::Result<Value> {
    match data {
        Data::List(_) | Data::Map(_) => write(lua, data, &Watch::of(lua)),
        scalar => write(lua, scalar, &Watch::default()),
    }
}

fn write(lua: &Lua, data: &Data, watch: &Watch) -> mlua::Result<Value> {
    Ok(match data {
        Data::Null => Value::Nil,
        Data::Bool(b) => Value::Boolean(*b),
        Data::Int(i) => Value::Integer(*i),
        Data::Float(n) => Value::Number(*n),
        Data::Text(text) => {
            watch.step(text.len() / 64)?;
            Value::String(lua.create_string(&**text)?)
        }
        Data::List(items) => {
            let table = lua.create_table_with_capacity(items.len(), 0)?;
            for (item, i) in items.iter().zip(1i64..) {
                watch.step(1)?;
                if *item != Data::Null {
                    table.raw_set(i, write(lua, item, watch)?)?;
                }
            }
            Value::Table(table)
        }
        Data::Map(map) => {
            let table = lua.create_table_with_capacity(0, map.len())?;
            for (key, item) in map.iter() {
                watch.step(1)?;
                table.raw_set(&**key, write(lua, item, watch)?)?;
            }
            Value::Table(table)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::cancel::Cancel;
    use super::super::collection::collect;
    use super::*;
    use crate::prompt::Dialect;

    /// A state whose run is cancelled, and a table of that expression's making.
    fn cancelled(table: &str) -> (Lua, Value) {
        let lua = Lua::new();
        let value = lua.load(table).eval().expect("a table");
        let cancel = Cancel::default();
        cancel.raise();
        lua.set_app_data(Watch::new(cancel));
        (lua, value)
    }

    #[test]
    fn a_cancel_ends_every_conversion() {
        // spec R19
        let tables = [
            "(function() local t = {} for i = 1, 9999 do t[i] = i end return t end)()",
            "(function() local t = {} for i = 1, 9999 do t['k' .. i] = i end return t end)()",
            "(function() local t = {} for i = 1, 9999 do t[i] = {} end return t end)()",
            "{ ('x'):rep(1000000), y = 1 }",
        ];
        for table in tables {
            let (lua, value) = cancelled(table);
            let is_ended = |result: Result<Data, NotData>| result == Err(NotData::Cancelled);
            assert!(is_ended(to_data(&lua, &value, "v")), "{table}");
            assert!(is_ended(to_sequences(&lua, &value, "v")), "{table}");
            let data = to_data(&Lua::new(), &value, "v").expect("data");
            assert!(to_lua(&lua, &data).is_err(), "{table}");
            // Each makes a few members only where a table has few.
            if table.starts_with('(') {
                assert!(collect(&lua, Dialect::Runvil, value).is_err(), "{table}");
            }
        }
    }

    #[test]
    fn a_cancel_ends_the_search_for_what_is_no_data() {
        // spec R19
        let many = "(function() local t = {} for i = 1, 9999 do t[i] = i end return t end)()";
        let (lua, value) = cancelled(many);
        let walk = &mut Walk {
            depth: 0,
            left: MAX_VISITS,
            above: Vec::new(),
            watch: Watch::of(&lua),
        };
        assert_eq!(find_offender(&value, "v".into(), walk), Err(Cancelled));
    }
}
