//! Guarded tables: `var`, and the frozen `argv` (spec L44 to L56, L126, L127).
//!
//! A guarded table is an empty proxy, so that `pairs`, `next` and `#` see nothing. What it stands
//! for is a node here: the data it came with, shared and untouched until something is assigned, and
//! then a map of its own. Reads go to a shadow table, which Lua reaches without a call and which is
//! filled as keys are read. So a big `var` that crosses a section costs what the section touches.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use mlua::{Function, Lua, Table, Value};

use super::convert::{Entries, Key, NotData, to_data_at, to_lua};
use super::data::Data;
use super::failure::Failure;

/// Objects up to this size have their scalars put in the shadow at once.
const EAGER: usize = 16;
/// Where a metatable keeps its node: out of a prompt's reach, since `__metatable` hides it.
const NODE: i64 = 1;

/// What may be done to a guarded table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    /// `var`: JSON data may be assigned.
    Writable,
    /// `argv` outside the H1 body: nothing may.
    Frozen,
}

/// What one guarded table stands for. It lives as long as Lua holds the table.
struct Node {
    policy: Policy,
    /// Its place, for messages.
    path: Rc<str>,
    /// How deep it is nested.
    depth: usize,
    content: RefCell<Content>,
}

enum Content {
    /// The data it came with, and the nodes made for parts of it that were read.
    Shared {
        data: Data,
        children: BTreeMap<Key, Rc<Node>>,
    },
    /// Its own entries, since something was assigned.
    Own(BTreeMap<Key, Slot>),
}

enum Slot {
    Data(Data),
    Node(Rc<Node>),
}

impl Content {
    /// The data of a key. A part that has a node is in the shadow and not asked for here.
    fn get(&self, key: &Key) -> Option<Data> {
        match self {
            Self::Own(entries) => match entries.get(key)? {
                Slot::Node(node) => Some(node.snapshot()),
                Slot::Data(data) => Some(data.clone()),
            },
            Self::Shared { data, .. } => match (data, key) {
                (Data::Map(map), Key::Text(text)) => map.get(text).cloned(),
                (Data::List(items), Key::Int(i)) => items
                    .get(usize::try_from(*i).ok()?.checked_sub(1)?)
                    .cloned(),
                _ => None,
            },
        }
    }

    fn attach(&mut self, key: Key, node: Rc<Node>) {
        match self {
            Self::Own(entries) => drop(entries.insert(key, Slot::Node(node))),
            Self::Shared { children, .. } => drop(children.insert(key, node)),
        }
    }

    /// Replaces one entry. Shared data first becomes entries of the node's own: one level of it,
    /// its parts still shared.
    fn assign(&mut self, key: Key, value: Data) {
        let mut entries = match std::mem::replace(self, Self::Own(BTreeMap::new())) {
            Self::Own(entries) => entries,
            Self::Shared { data, children } => {
                let mut entries = entries_of(&data);
                entries.extend(
                    children
                        .into_iter()
                        .map(|(key, node)| (key, Slot::Node(node))),
                );
                entries
            }
        };
        if value == Data::Null {
            entries.remove(&key);
        } else {
            entries.insert(key, Slot::Data(value));
        }
        *self = Self::Own(entries);
    }

    fn snapshot(&self) -> Data {
        let (data, children) = match self {
            Self::Own(entries) => {
                let mut out = Entries::with_capacity(entries.len());
                for (key, slot) in entries {
                    let value = match slot {
                        Slot::Data(data) => data.clone(),
                        Slot::Node(node) => node.snapshot(),
                    };
                    out.push(key.clone(), value);
                }
                return out.finish();
            }
            Self::Shared { data, children } => (data, children),
        };
        let mut data = data.clone();
        for (key, node) in children {
            let value = node.snapshot();
            match (&mut data, key) {
                (Data::Map(map), Key::Text(text))
                    if !map.get(text).is_some_and(|old| old.same(&value)) =>
                {
                    Arc::make_mut(map).insert(text.clone(), value);
                }
                (Data::List(items), Key::Int(i)) => {
                    let at = (*i - 1) as usize;
                    if !items.get(at).is_some_and(|old| old.same(&value))
                        && let Some(slot) = Arc::make_mut(items).get_mut(at)
                    {
                        *slot = value;
                    }
                }
                _ => {}
            }
        }
        data
    }
}

/// One level of data as entries. A null reads as nil, and nil stands under no key.
fn entries_of(data: &Data) -> BTreeMap<Key, Slot> {
    let entry =
        |key: Key, value: &Data| (*value != Data::Null).then(|| (key, Slot::Data(value.clone())));
    match data {
        Data::Map(map) => map
            .iter()
            .filter_map(|(key, value)| entry(Key::Text(key.clone()), value))
            .collect(),
        Data::List(items) => (1..)
            .zip(items.iter())
            .filter_map(|(i, value)| entry(Key::Int(i), value))
            .collect(),
        _ => BTreeMap::new(),
    }
}

impl Node {
    fn snapshot(&self) -> Data {
        self.content.borrow().snapshot()
    }
}

fn node_of(table: &Table) -> Option<Rc<Node>> {
    match table.metatable()?.raw_get(NODE).ok()? {
        Value::UserData(data) => data.borrow::<Rc<Node>>().ok().map(|node| node.clone()),
        _ => None,
    }
}

/// The data a table stands for, if it is a guarded one.
pub(super) fn snapshot_of(table: &Table) -> Option<Data> {
    node_of(table).map(|node| node.snapshot())
}

/// Makes the guarded tables of one section VM.
#[derive(Clone)]
pub(super) struct Guards {
    assign: Function,
    load: Function,
}

impl Guards {
    pub(super) fn new(lua: &Lua) -> mlua::Result<Self> {
        Ok(Self {
            assign: lua.create_function(assign)?,
            load: lua.create_function(load)?,
        })
    }

    /// A guarded table over data. `path` names it in messages.
    pub(super) fn create(
        &self,
        lua: &Lua,
        policy: Policy,
        path: &str,
        data: Data,
    ) -> mlua::Result<Table> {
        let content = RefCell::new(Content::Shared {
            data,
            children: BTreeMap::new(),
        });
        self.proxy(
            lua,
            Rc::new(Node {
                policy,
                path: Rc::from(path),
                depth: 0,
                content,
            }),
        )
    }

    fn proxy(&self, lua: &Lua, node: Rc<Node>) -> mlua::Result<Table> {
        let proxy = lua.create_table()?;
        let shadow = lua.create_table()?;
        let metatable = lua.create_table_with_capacity(1, 3)?;
        metatable.raw_set("__index", &shadow)?;
        metatable.raw_set("__newindex", &self.assign)?;
        let label = match node.policy {
            Policy::Writable => "var is guarded",
            Policy::Frozen => "argv is frozen",
        };
        metatable.raw_set("__metatable", label)?;
        let complete = match &*node.content.borrow() {
            Content::Shared { data, .. } => fill(lua, &shadow, data)?,
            Content::Own(_) => false,
        };
        metatable.raw_set(NODE, lua.create_any_userdata(node.clone())?)?;
        proxy.set_metatable(Some(metatable))?;
        if !complete {
            self.load_on_demand(lua, &shadow, node)?;
        }
        Ok(proxy)
    }

    /// Gives a shadow a metatable that fetches from the node what the shadow lacks.
    fn load_on_demand(&self, lua: &Lua, shadow: &Table, node: Rc<Node>) -> mlua::Result<()> {
        if shadow.metatable().is_none() {
            let metatable = lua.create_table_with_capacity(1, 1)?;
            metatable.raw_set("__index", &self.load)?;
            metatable.raw_set(NODE, lua.create_any_userdata(node)?)?;
            shadow.set_metatable(Some(metatable))?;
        }
        Ok(())
    }
}

/// The VM's guards, which its globals made when the first guarded table was asked for.
fn guards(lua: &Lua) -> mlua::Result<Guards> {
    let found = lua.app_data_ref::<Guards>().map(|guards| guards.clone());
    found.ok_or_else(|| Failure::internal("a guarded table without its guards").into())
}

/// Reads a key that a shadow does not hold yet.
fn load(lua: &Lua, (shadow, key): (Table, Value)) -> mlua::Result<Value> {
    let (Some(node), Some(name)) = (node_of(&shadow), Key::from_lua(&key)) else {
        return Ok(Value::Nil);
    };
    let found = node.content.borrow().get(&name);
    let value = match found {
        None => return Ok(Value::Nil),
        Some(data @ (Data::List(_) | Data::Map(_))) => {
            let child = Rc::new(Node {
                policy: node.policy,
                path: Rc::from(format!("{}{}", node.path, name.path())),
                depth: node.depth + 1,
                content: RefCell::new(Content::Shared {
                    data,
                    children: BTreeMap::new(),
                }),
            });
            let proxy = guards(lua)?.proxy(lua, child.clone())?;
            node.content.borrow_mut().attach(name, child);
            Value::Table(proxy)
        }
        Some(scalar) => to_lua(lua, &scalar)?,
    };
    shadow.raw_set(key, &value)?;
    Ok(value)
}

/// Assigns to a guarded table, or says why not.
fn assign(lua: &Lua, (proxy, key, value): (Table, Value, Value)) -> mlua::Result<()> {
    let Some(node) = node_of(&proxy) else {
        return Err(Failure::internal("a guarded table lost its node").into());
    };
    if node.policy == Policy::Frozen {
        let field = frozen_key(&key);
        let message = format!("argv is frozen outside H1: cannot set field {field}");
        return Err(Failure::lua(message).into());
    }
    let Some(name) = Key::from_lua(&key) else {
        let not_data = NotData::Offender {
            path: node.path.to_string(),
            type_name: key.type_name(),
        };
        return Err(Failure::lua(not_data.message()).into());
    };
    let path = format!("{}{}", node.path, name.path());
    let data = to_data_at(&value, &path, node.depth + 1).map_err(|e| Failure::lua(e.message()))?;
    let nested = matches!(data, Data::List(_) | Data::Map(_));
    node.content.borrow_mut().assign(name, data);
    let shadow: Table = match proxy.metatable() {
        Some(metatable) => metatable.raw_get("__index")?,
        None => return Ok(()),
    };
    if nested {
        shadow.raw_set(key, Value::Nil)?;
        guards(lua)?.load_on_demand(lua, &shadow, node)
    } else {
        shadow.raw_set(key, value)
    }
}

/// Puts scalars in a shadow; whether that is all there is.
fn fill(lua: &Lua, shadow: &Table, data: &Data) -> mlua::Result<bool> {
    let mut complete = true;
    let mut put = |key: Value, value: &Data| -> mlua::Result<()> {
        match value {
            Data::Null => Ok(()),
            Data::List(_) | Data::Map(_) => {
                complete = false;
                Ok(())
            }
            scalar => shadow.raw_set(key, to_lua(lua, scalar)?),
        }
    };
    match data {
        Data::Map(map) if map.len() <= EAGER => {
            for (key, value) in map.iter() {
                put(Value::String(lua.create_string(&**key)?), value)?;
            }
        }
        Data::List(items) if items.len() <= EAGER => {
            for (i, value) in (1..).zip(items.iter()) {
                put(Value::Integer(i), value)?;
            }
        }
        _ => complete = false,
    }
    Ok(complete)
}

/// The notation of a key in the frozen `argv`'s message (spec L127).
fn frozen_key(key: &Value) -> String {
    match key {
        Value::String(text) => format!("'{}'", text.to_string_lossy()),
        Value::Integer(i) => format!("Integer({i})"),
        Value::Number(n) => format!("Number({n:?})"),
        Value::Boolean(b) => format!("Boolean({b})"),
        other => other.type_name().to_owned(),
    }
}
