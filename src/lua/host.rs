//! What a section VM needs from the engine, and what its functions are given (spec L17).

use std::rc::Rc;
use std::sync::Arc;

use mlua::{Lua, Table, Value};

use super::arg::Arg;
use super::compile::Compiled;
use super::conversation::Conversation;
use super::convert::{self, NotData, type_name};
use super::data::Data;
use super::failure::Failure;
use super::guard::snapshot_of;
use super::object::Object;
use super::raised::failure_of;
use super::reply::Reply;
use super::vm::Core;
use super::watch::Cancelled;

/// The engine's side of one section VM.
pub trait Host: Sized + 'static {
    /// What a suspending call asks the scheduler for.
    type Request: 'static;
    /// Names the pending prose of a block.
    type Prose: Clone + 'static;

    /// The engine's globals, each made when a prompt first touches it.
    fn globals(&self) -> &'static [Global<Self>];

    /// The engine's part of conversations.
    fn conversation(&self) -> &'static Conversation<Self>;

    /// What a name stands for that the prompt declares, such as a model role: an object, made when
    /// the name is first read (spec M28).
    fn object(&self, name: &str) -> Option<Object>;

    /// Renders a block's pending prose (spec L129).
    ///
    /// # Errors
    /// A failed substitution, or what a prompt's own handler raised.
    fn render(&self, prose: &Self::Prose, call: &Call<'_, Self>) -> Result<String, Thrown>;

    /// Seeds `math.random` for the `n`th time in this VM (spec R20).
    fn random(&self, n: u64) -> (i64, i64);

    /// A section to load as a library, for `require` (spec L32).
    ///
    /// # Errors
    /// A heading that resolves to nothing.
    fn library(&self, heading: &str) -> Result<Library<Self>, Failure>;

    /// A library starts loading.
    fn library_started(&self, library: &Library<Self>);

    /// A library has loaded, or failed to.
    fn library_ended(&self, library: &Library<Self>, succeeded: bool);
}

/// A section loaded by `require`.
pub struct Library<H: Host> {
    /// Tells libraries of one prompt apart.
    pub id: u32,
    /// The section's heading text.
    pub name: Arc<str>,
    /// Its Lua blocks, each with the prose before it.
    pub blocks: Vec<(Compiled, H::Prose)>,
}

/// An engine global.
pub struct Global<H: Host> {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub value: Definition<H>,
}

/// What an engine global is made of.
pub enum Definition<H: Host> {
    /// A function.
    Function(Function<H>),
    /// A function, in the VMs where the condition holds.
    FunctionWhere(fn(&H) -> bool, Function<H>),
    /// A table of functions.
    Table(&'static [(&'static str, Function<H>)]),
    /// The table of functions that holds `tools.calls` once a tool was called (spec T107).
    Tools(&'static [(&'static str, Function<H>)]),
    /// Plain data, or absent.
    Data(fn(&H) -> Option<Data>),
    /// A sealed table: reads give the fields, anything else fails (spec L66, L67).
    Sealed(fn(&H) -> Data),
    /// The guarded `var`, made of the data the VM was built with.
    Var,
    /// `require`, which runs in the caller's coroutine.
    Require,
}

/// A function of the engine, as Lua calls it.
pub enum Function<H: Host> {
    /// Answers in place.
    Direct(fn(&Call<'_, H>) -> Result<Reply, Failure>),
    /// Checks its arguments; the chain then waits for the answer.
    Suspending(fn(&Call<'_, H>) -> Result<H::Request, Failure>),
    /// A fanout: suspends with the worker and the collection's members, and answers with results.
    Fanout(fn(&Call<'_, H>) -> Result<H::Request, Failure>),
    /// A function written in Lua, over the engine's part of conversations.
    Written(Written),
}

/// The functions of the engine that are written in Lua.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// `messages.new`
    MessageList,
    /// `models.loop`
    Loop,
    /// `tools.add_local` and its like.
    LocalTool,
    /// `tools.call`
    ToolCall,
}

impl<H: Host> Clone for Function<H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H: Host> Copy for Function<H> {}

/// What ends a function early: a failure of the engine, or something a prompt's code raised.
pub struct Thrown(pub(super) Raise);

impl From<Failure> for Thrown {
    fn from(failure: Failure) -> Self {
        Self(Raise::Error(failure.into()))
    }
}

/// Something on its way out of Rust into Lua: an error of the library, or the very value that a
/// prompt's own handler raised.
pub(super) enum Raise {
    Error(mlua::Error),
    Value(Value),
}

impl Raise {
    /// The error, where no handler of a prompt's own can have raised a value.
    pub(super) fn into_error(self) -> mlua::Error {
        match self {
            Self::Error(error) => error,
            Self::Value(_) => Failure::internal("a value was raised where none can be").into(),
        }
    }
}

impl From<mlua::Error> for Raise {
    fn from(error: mlua::Error) -> Self {
        Self::Error(error)
    }
}

/// What a global's name holds when prose asks for it (spec L139).
pub enum Lookup {
    /// Nothing.
    Nil,
    /// JSON data.
    Data(Data),
    /// Something that is not JSON data.
    Other,
}

/// One call of an engine function.
pub struct Call<'a, H: Host> {
    pub(super) lua: &'a Lua,
    pub(super) core: &'a Rc<Core<H>>,
    pub(super) args: &'a [Value],
}

impl<H: Host> Call<'_, H> {
    /// The engine's side of this VM.
    pub fn host(&self) -> &H {
        &self.core.host
    }

    /// Whether a `require` of this VM has not ended yet.
    pub fn is_requiring(&self) -> bool {
        self.core.is_loading()
    }

    /// Notes that this function counts as a suspending call, which it does by no request (spec
    /// K147).
    pub fn suspends(&self) {
        self.core.suspends();
    }

    /// How many arguments were given.
    pub fn count(&self) -> usize {
        self.args.len()
    }

    /// An argument; nil for an absent one.
    pub fn arg(&self, index: usize) -> Arg {
        Arg(self.args.get(index).cloned().unwrap_or(Value::Nil))
    }

    /// A table argument's raw pairs, in no order; none for another type. A guarded table has those
    /// of the data it stands for (spec L37).
    ///
    /// # Errors
    /// Want of memory.
    pub fn pairs(&self, index: usize) -> Result<Vec<(Arg, Arg)>, Failure> {
        let Some(Value::Table(table)) = self.args.get(index) else {
            return Ok(Vec::new());
        };
        let plain = self.plain(table).map_err(|error| failure_of(&error))?;
        let table = plain.as_ref().and_then(Value::as_table).unwrap_or(table);
        let pairs = table.pairs::<Value, Value>().filter_map(Result::ok);
        Ok(pairs.map(|(key, value)| (Arg(key), Arg(value))).collect())
    }

    /// The plain table that a guarded one stands for.
    fn plain(&self, table: &Table) -> mlua::Result<Option<Value>> {
        let data = snapshot_of(table, &self.core.watch)?;
        data.map(|data| convert::to_lua(self.lua, &data))
            .transpose()
    }

    /// Counts steps of a function that may work long, and looks at the cancel flag now and then: every
    /// 4,096 steps (spec R19). A step is what takes up to 100 ns.
    ///
    /// # Errors
    /// The run was cancelled.
    pub fn step(&self, steps: usize) -> Result<(), Cancelled> {
        self.core.watch.step(steps)
    }

    /// How much the section VM may hold, in bytes.
    pub fn memory(&self) -> usize {
        self.core.memory
    }

    /// The type word of an argument, for messages; `nil` for an absent one.
    pub fn type_of(&self, index: usize) -> &'static str {
        self.args.get(index).map_or("nil", type_name)
    }

    /// Whether an argument is absent or nil.
    pub fn is_nil(&self, index: usize) -> bool {
        matches!(self.args.get(index), None | Some(Value::Nil))
    }

    /// A string argument's bytes; `None` for any other type.
    pub fn bytes(&self, index: usize) -> Option<Vec<u8>> {
        match self.args.get(index) {
            Some(Value::String(text)) => Some(text.as_bytes().to_vec()),
            _ => None,
        }
    }

    /// A required string (spec L36).
    ///
    /// # Errors
    /// `{name} must be a string, got {type}` or `{name} must be a valid UTF-8 string`.
    pub fn string(&self, index: usize, name: &str) -> Result<String, Failure> {
        self.arg(index).string(name)
    }

    /// A number or string argument's text, as Lua converts a number; `None` for another type.
    pub fn coerced_bytes(&self, index: usize) -> Option<Vec<u8>> {
        match self.args.get(index) {
            Some(value @ (Value::Integer(_) | Value::Number(_) | Value::String(_))) => {
                let text = self.lua.coerce_string(value.clone()).ok().flatten()?;
                Some(text.as_bytes().to_vec())
            }
            _ => None,
        }
    }

    /// An optional whole number: an integer, or a float with a whole value in the 64-bit range
    /// (spec S10).
    ///
    /// # Errors
    /// `{name} must be an integer, got {type}`.
    pub fn integer(&self, index: usize, name: &str) -> Result<Option<i64>, Failure> {
        const LIMIT: f64 = 9_223_372_036_854_775_808.0;
        match self.args.get(index) {
            None | Some(Value::Nil) => Ok(None),
            Some(Value::Integer(i)) => Ok(Some(*i)),
            Some(Value::Number(n)) if n.fract() == 0.0 && (-LIMIT..LIMIT).contains(n) => {
                Ok(Some(*n as i64))
            }
            Some(_) => {
                let found = self.type_of(index);
                Err(Failure::lua(format!(
                    "{name} must be an integer, got {found}"
                )))
            }
        }
    }

    /// An argument as JSON data. `root` names it in the error's path.
    ///
    /// # Errors
    /// Where it is not data, and its type.
    pub fn data(&self, index: usize, root: &str) -> Result<Data, NotData> {
        convert::to_data(self.lua, self.args.get(index).unwrap_or(&Value::Nil), root)
    }

    /// The current contents of `var` (spec L52, L56).
    ///
    /// # Errors
    /// The global no longer holds the engine's table.
    pub fn var(&self) -> Result<Data, Failure> {
        self.core.var()
    }

    /// A global's value for a placeholder, a prompt's own `__index` included.
    ///
    /// # Errors
    /// What that handler raised.
    pub fn global(&self, name: &str) -> Result<Lookup, Thrown> {
        let value = self.core.global(self.lua, name).map_err(Thrown)?;
        if value.is_nil() {
            return Ok(Lookup::Nil);
        }
        Ok(match convert::to_data(self.lua, &value, name) {
            Ok(data) => Lookup::Data(data),
            Err(NotData::Cancelled) => return Err(Failure::from(Cancelled).into()),
            Err(_) => Lookup::Other,
        })
    }
}
