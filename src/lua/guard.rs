//! Guarded tables: `var`, and the frozen `argv` (spec L44 to L56, L126, L127).
//!
//! A guarded table is an empty proxy, so that `pairs`, `next` and `#` see nothing. What it stands
//! for is a node here: the data it came with, shared and untouched until something is assigned, and
//! then a map of its own. Reads go to a shadow table, which Lua reaches without a call and which is
//! filled as keys are read. So a big `var` that crosses a section costs what the section touches.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use mlua::{Function, Lua, Table, Value};

use super::convert::{Entries, Key, NotData, to_data_at, to_lua};
use super::data::Data;
use super::failure::Failure;
use super::watch::{Cancelled, Watch};

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
    /// Its own entries, since something was assigned, and what they stand for as data, once it
    /// was asked for.
    Own {
        entries: BTreeMap<Key, Slot>,
        data: Option<Data>,
    },
}

enum Slot {
    Data(Data),
    Node(Rc<Node>),
}

impl Content {
    /// The data of a key. A part that has a node is in the shadow and not asked for here.
    fn get(&self, key: &Key, watch: &Watch) -> Result<Option<Data>, Cancelled> {
        Ok(match self {
            Self::Own { entries, .. } => match entries.get(key) {
                Some(slot) => Some(slot.data(watch)?),
                None => None,
            },
            Self::Shared { data, .. } => part_of(data, key).cloned(),
        })
    }

    fn attach(&mut self, key: Key, node: Rc<Node>) {
        match self {
            Self::Own { entries, data } => {
                *data = None;
                entries.insert(key, Slot::Node(node));
            }
            Self::Shared { children, .. } => drop(children.insert(key, node)),
        }
    }

    /// Replaces one entry, and gives the size of what stood there. Shared data first becomes
    /// entries of the node's own: one level of it, its parts still shared.
    fn assign(&mut self, key: Key, value: Data, watch: &Watch) -> Result<usize, Cancelled> {
        if let Self::Shared { data, children } = self {
            let mut entries = entries_of(data, watch)?;
            let children = std::mem::take(children).into_iter();
            entries.extend(children.map(|(key, node)| (key, Slot::Node(node))));
            *self = Self::Own {
                entries,
                data: None,
            };
        }
        let Self::Own { entries, data } = self else {
            return Ok(0);
        };
        *data = None;
        let old = match value {
            Data::Null => entries.remove(&key),
            value => entries.insert(key, Slot::Data(value)),
        };
        match old {
            Some(slot) => Ok(slot.data(watch)?.size()),
            None => Ok(0),
        }
    }

    fn snapshot(&mut self, watch: &Watch) -> Result<Data, Cancelled> {
        let (data, children) = match self {
            Self::Shared { data, children } => (data, children),
            Self::Own {
                data: Some(data), ..
            } => return Ok(data.clone()),
            Self::Own { entries, data } => {
                let mut out = Entries::with_capacity(entries.len());
                let mut plain = true;
                for (key, slot) in &*entries {
                    watch.step(1)?;
                    plain &= matches!(slot, Slot::Data(_));
                    out.push(key.clone(), slot.data(watch)?);
                }
                let whole = out.finish(watch)?;
                // A part that has a node may change without this one knowing.
                *data = plain.then(|| whole.clone());
                return Ok(whole);
            }
        };
        let data = &*data;
        let mut changed: Vec<(&Key, Data)> = Vec::new();
        for (key, node) in children.iter() {
            watch.step(1)?;
            let value = node.snapshot(watch)?;
            if !part_of(data, key).is_some_and(|old| old.same(&value)) {
                changed.push((key, value));
            }
        }
        if changed.is_empty() {
            return Ok(data.clone());
        }
        Ok(match data {
            Data::Map(map) => {
                let mut map = BTreeMap::clone(map);
                for (key, value) in changed {
                    map.insert(key.clone().into_text(), value);
                }
                Data::map(map)
            }
            Data::List(items) => {
                let mut items = Vec::clone(items);
                for (key, value) in changed {
                    if let Key::Int(i) = key
                        && let Some(slot) = items.get_mut((*i - 1) as usize)
                    {
                        *slot = value;
                    }
                }
                Data::list(items)
            }
            scalar => scalar.clone(),
        })
    }
}

/// A part of shared data.
fn part_of<'a>(data: &'a Data, key: &Key) -> Option<&'a Data> {
    match (data, key) {
        (Data::Map(map), Key::Text(text)) => map.get(text),
        (Data::List(items), Key::Int(i)) => items.get(usize::try_from(*i).ok()?.checked_sub(1)?),
        _ => None,
    }
}

/// One level of data as entries. A null reads as nil, and nil stands under no key.
fn entries_of(data: &Data, watch: &Watch) -> Result<BTreeMap<Key, Slot>, Cancelled> {
    let mut entries = Vec::new();
    let mut put = |key: Key, value: &Data| -> Result<(), Cancelled> {
        watch.step(1)?;
        if *value != Data::Null {
            entries.push((key, Slot::Data(value.clone())));
        }
        Ok(())
    };
    match data {
        Data::Map(map) => {
            for (key, value) in map.iter() {
                put(Key::Text(key.clone()), value)?;
            }
        }
        Data::List(items) => {
            for (i, value) in (1..).zip(items.iter()) {
                put(Key::Int(i), value)?;
            }
        }
        _ => {}
    }
    Ok(entries.into_iter().collect())
}

impl Slot {
    fn data(&self, watch: &Watch) -> Result<Data, Cancelled> {
        match self {
            Self::Data(data) => Ok(data.clone()),
            Self::Node(node) => node.snapshot(watch),
        }
    }
}

impl Node {
    fn snapshot(&self, watch: &Watch) -> Result<Data, Cancelled> {
        self.content.borrow_mut().snapshot(watch)
    }
}

fn node_of(table: &Table) -> Option<Rc<Node>> {
    match table.metatable()?.raw_get(NODE).ok()? {
        Value::UserData(data) => data.borrow::<Rc<Node>>().ok().map(|node| node.clone()),
        _ => None,
    }
}

/// The data a table stands for, if it is a guarded one.
pub(super) fn snapshot_of(table: &Table, watch: &Watch) -> Result<Option<Data>, Cancelled> {
    node_of(table).map(|node| node.snapshot(watch)).transpose()
}

/// Whether a table is guarded and nothing can be assigned to it.
pub(super) fn is_frozen(table: &Table) -> bool {
    node_of(table).is_some_and(|node| node.policy == Policy::Frozen)
}

/// Makes the guarded tables of one section VM.
#[derive(Clone)]
pub(super) struct Guards {
    assign: Function,
    load: Function,
    /// How many bytes of data may be assigned on top of what there was; it is Rust's memory, which
    /// Lua's own ceiling does not see.
    room: Rc<Cell<usize>>,
}

impl Guards {
    pub(super) fn new(lua: &Lua, memory: usize) -> mlua::Result<Self> {
        Ok(Self {
            assign: lua.create_function(assign)?,
            load: lua.create_function(load)?,
            room: Rc::new(Cell::new(memory)),
        })
    }

    /// Charges for data, or says that there is no room for it.
    fn charge(&self, bytes: usize) -> Result<(), Failure> {
        match self.room.get().checked_sub(bytes) {
            Some(room) => {
                self.room.set(room);
                Ok(())
            }
            None => Err(Failure::lua(NotData::TooLarge.message())),
        }
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
            Content::Own { .. } => false,
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
    let found = node.content.borrow().get(&name, &Watch::of(lua))?;
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
    let guards = guards(lua)?;
    // An assignment may copy much.
    let watch = Watch::of(lua);
    watch.poll()?;
    let path = format!("{}{}", node.path, name.path());
    let data = to_data_at(lua, &value, &path, node.depth + 1).map_err(NotData::failure)?;
    let nested = matches!(data, Data::List(_) | Data::Map(_));
    guards.charge(data.size())?;
    let freed = node.content.borrow_mut().assign(name, data, &watch)?;
    guards.room.set(guards.room.get().saturating_add(freed));
    let shadow: Table = match proxy.metatable() {
        Some(metatable) => metatable.raw_get("__index")?,
        None => return Ok(()),
    };
    if nested {
        shadow.raw_set(key, Value::Nil)?;
        guards.load_on_demand(lua, &shadow, node)
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
