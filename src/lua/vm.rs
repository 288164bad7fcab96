//! One section VM: a Lua state of its own, in which the blocks of one section entry run, each as a
//! coroutine (spec L9 to L13).

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use mlua::chunk::ChunkMode;
use mlua::{
    Function as LuaFunction, HookTriggers, Lua, LuaString, MultiValue, Table, Thread, Value,
    VmState,
};

use super::cancel::Cancel;
use super::compile::Compiled;
use super::convert::{NotData, to_data, to_lua};
use super::data::Data;
use super::failure::{Class, Failure, Kind};
use super::helpers::{self, Helper};
use super::host::Host;
use super::library::Libraries;
use super::preempt;
use super::raised::failure_of;
use super::reply::Reply;
use super::state::State;
use super::watch::Watch;
use crate::prompt::Dialect;

/// How many instructions a block may run that was told of a cancel (spec K211), and how many run
/// between two looks at the flag where Lua cannot be told of one.
const POLL: u32 = 10_000;

/// What a section VM starts with.
pub struct Seeds {
    /// The prompt's dialect.
    pub dialect: Dialect,
    /// The ceiling of the Lua heap, in bytes.
    pub memory: usize,
    /// Cancels the run.
    pub cancel: Cancel,
    /// The parsed input; null is nil.
    pub argv: Data,
    /// Whether this is the H1 pass, where `argv` is a plain global (spec L116).
    pub h1: bool,
    /// The Lua state, where one was made ahead.
    pub state: Option<State>,
}

/// What came of running a block until it waits or ends.
pub enum Flow<R> {
    /// The block waits for the answer to a request.
    Asked(R),
    /// The block ended: with its scalar, or nothing, or a failure.
    Ended(Result<Option<String>, Failure>),
}

/// A block's pending prose, and its text once it was read.
pub(super) struct Pending<P> {
    pub(super) prose: P,
    pub(super) rendered: Option<LuaString>,
}

/// An error as it was raised, with the traceback of that moment.
struct Seen {
    trace: String,
}

/// The state of a VM that its functions share.
pub(super) struct Core<H: Host> {
    pub(super) host: H,
    pub(super) dialect: Dialect,
    pub(super) memory: usize,
    pub(super) h1: bool,
    pub(super) argv: Data,
    /// Lua's own globals, from which the prompt's are taken.
    pub(super) base: Table,
    /// The prompt's `_G`.
    pub(super) globals: Table,
    /// Which globals have been made or assigned, a bit each.
    pub(super) taken: Cell<u128>,
    pub(super) argv_taken: Cell<bool>,
    /// The frozen `argv`, once it was read.
    pub(super) argv_value: RefCell<Option<Value>>,
    /// The guarded `var`, once it was read.
    pub(super) var_table: RefCell<Option<Table>>,
    /// The initial contents of `var`.
    pub(super) var_data: Data,
    /// Whether the prompt ever set a metatable on `_G`.
    pub(super) has_own_metatable: Cell<bool>,
    /// The names the prompt declares whose objects were not made yet.
    pub(super) objects: RefCell<Vec<Arc<str>>>,
    pub(super) watch: Watch,
    /// Whether Lua runs without a hook until a cancel sets it.
    preempts: Cell<bool>,
    pub(super) guard: RefCell<Option<Table>>,
    pub(super) groups: RefCell<Vec<(&'static str, Table)>>,
    pub(super) suspend: RefCell<Option<LuaFunction>>,
    pub(super) request: RefCell<Option<H::Request>>,
    /// The strings that an author's `error` or `assert` is raising, the latest last.
    pub(super) marked: RefCell<Vec<LuaString>>,
    pub(super) error_tables: RefCell<Option<(Table, Table)>>,
    /// How many calls have waited, so that a value raised later is known (spec L102).
    pub(super) epoch: Cell<u64>,
    /// The regions loaded here, one for each way Lua names them.
    pub(super) markers: RefCell<Vec<Compiled>>,
    /// The prose of the running block; above it that of a library it is loading.
    pub(super) prose: RefCell<Vec<Pending<H::Prose>>>,
    pub(super) libraries: RefCell<Libraries<H>>,
    pub(super) seeded: Cell<u64>,
    seen: RefCell<Option<Seen>>,
}

/// A section VM.
pub struct Vm<H: Host> {
    pub(super) core: Rc<Core<H>>,
    runner: LuaFunction,
    running: Option<(Thread, Compiled)>,
    // Last, so that what refers into the state is dropped before it.
    pub(super) lua: Lua,
}

impl<H: Host> Vm<H> {
    /// Builds a VM. Nothing of the prompt runs.
    ///
    /// # Errors
    /// The state could not be built, most likely for want of memory.
    pub fn new(host: H, seeds: Seeds, var: Data) -> Result<Self, Failure> {
        Self::build(host, seeds, var).map_err(|error| failure_of(&error))
    }

    fn build(host: H, seeds: Seeds, var_data: Data) -> mlua::Result<Self> {
        let State(lua) = seeds.state.map_or_else(State::build, Ok)?;
        let base = lua.globals();
        let globals = lua.create_table()?;
        let core = Rc::new(Core {
            host,
            dialect: seeds.dialect,
            memory: seeds.memory,
            h1: seeds.h1,
            argv: seeds.argv,
            base,
            globals: globals.clone(),
            taken: Cell::new(0),
            argv_taken: Cell::new(false),
            argv_value: RefCell::default(),
            var_table: RefCell::default(),
            var_data,
            has_own_metatable: Cell::new(false),
            objects: RefCell::default(),
            watch: Watch::new(seeds.cancel),
            preempts: Cell::new(false),
            guard: RefCell::default(),
            groups: RefCell::default(),
            suspend: RefCell::default(),
            request: RefCell::new(None),
            marked: RefCell::default(),
            error_tables: RefCell::default(),
            epoch: Cell::new(0),
            markers: RefCell::default(),
            prose: RefCell::new(Vec::new()),
            libraries: RefCell::default(),
            seeded: Cell::new(0),
            seen: RefCell::new(None),
        });
        lua.set_app_data(core.watch.clone());
        core.install(&lua)?;
        lua.set_globals(globals)?;
        let cancel = core.watch.cancel().clone();
        // Once the run is cancelled the block is suspended for good, where Lua can suspend it: no
        // handler of the prompt's own then runs any more. Where it cannot, an error is raised.
        let suspended = Cell::new(false);
        lua.set_global_hook(
            HookTriggers::new().every_nth_instruction(POLL),
            move |_, _| match cancel.is_raised() {
                false => Ok(VmState::Continue),
                true if suspended.replace(true) => Err(interrupt().into()),
                true => Ok(VmState::Yield),
            },
        )?;
        core.preempts
            .set(preempt::take_hook(&lua, core.watch.cancel().tells()));
        core.defer_strings(&lua)?;
        let runner: LuaFunction = {
            let shared = core.clone();
            let seen = lua.create_function(move |lua, error: Value| {
                let trace = lua.traceback(None, 1)?.to_string_lossy();
                *shared.seen.borrow_mut() = Some(Seen { trace });
                Ok(error)
            })?;
            let xpcall: Value = core.base.raw_get("xpcall")?;
            let helper = helpers::load(&lua, Helper::Run)?;
            helper.call((xpcall, seen))?
        };
        lua.set_memory_limit(core.memory)?;
        Ok(Self {
            core,
            runner,
            running: None,
            lua,
        })
    }

    /// The engine's side of this VM.
    pub fn host(&self) -> &H {
        &self.core.host
    }

    /// Installs the names that the prompt declares as globals (spec M28).
    ///
    /// # Errors
    /// Want of memory.
    pub fn declare(&self, names: Vec<Arc<str>>) -> Result<(), Failure> {
        self.core.declare(names).map_err(|error| failure_of(&error))
    }

    /// Starts a block. `prose` is what it reads as `prose`; `None` for a shared library, which
    /// reads nil.
    pub fn start(&mut self, block: &Compiled, prose: Option<H::Prose>) -> Flow<H::Request> {
        let pending = prose.map(|prose| Pending {
            prose,
            rendered: None,
        });
        *self.core.prose.borrow_mut() = pending.into_iter().collect();
        let started = self.core.load(&self.lua, block).and_then(|function| {
            let thread = self.lua.create_thread(self.runner.clone())?;
            if self.core.preempts.get() {
                thread.remove_hook();
            }
            self.running = Some((thread, block.clone()));
            Ok(function)
        });
        match started {
            Ok(function) => self.advance(function),
            Err(error) => Flow::Ended(Err(failure_of(&error))),
        }
    }

    /// Goes on with the block that waits.
    pub fn resume(&mut self, answer: Result<Reply, Failure>) -> Flow<H::Request> {
        let raise = |failure: Failure| Value::Error(Box::new(failure.into()));
        let values = answer.map(|reply| reply.into_lua(&self.lua, &self.core));
        match values {
            Err(failure) => {
                let watch = &self.core.watch;
                let cancelled = watch.cancel().is_raised();
                watch.tell(cancelled && failure.kind == Kind::Cancelled);
                self.advance((false, raise(failure)))
            }
            // An answer that does not fit the heap is the call's failure.
            Ok(Err(error)) => self.advance((false, raise(failure_of(&error)))),
            Ok(Ok(values)) => {
                let mut values = values.into_multi();
                values.push_front(Value::Boolean(true));
                self.advance(values)
            }
        }
    }

    /// Notes that the block's call waited on the Harness (spec K147).
    pub fn waited(&self) {
        self.core.epoch.set(self.core.epoch.get() + 1);
    }

    /// That `var` still is the engine's table, as at the end of every block (spec L52).
    ///
    /// # Errors
    /// It was reassigned (spec L56).
    pub fn check_var(&self) -> Result<(), Failure> {
        self.core.own_var().map(drop)
    }

    /// The contents of `var` (spec L52).
    ///
    /// # Errors
    /// The global no longer holds the engine's table (spec L56).
    pub fn var(&self) -> Result<Data, Failure> {
        self.core.var()
    }

    /// The value left in `argv` by the H1 pass; null is nil (spec L117, L120).
    ///
    /// # Errors
    /// `argv must be JSON data, got {type}` (spec L124).
    pub fn argv(&self) -> Result<Data, Failure> {
        let core = &self.core;
        if !core.argv_taken.get() {
            return Ok(core.argv.clone());
        }
        let value: Value = core
            .globals
            .raw_get("argv")
            .map_err(|error| failure_of(&error))?;
        let left = to_data(&self.lua, &value, "argv").map_err(NotData::failure)?;
        // What the untouched parse would read back as: nulls and empty arrays are lost in Lua.
        let parsed = to_lua(&self.lua, &core.argv).map_err(|error| failure_of(&error))?;
        match to_data(&self.lua, &parsed, "argv") {
            Ok(parsed) if parsed == left => Ok(core.argv.clone()),
            _ => Ok(left),
        }
    }

    fn advance(&mut self, args: impl mlua::IntoLuaMulti) -> Flow<H::Request> {
        let Some((thread, block)) = self.running.take() else {
            return Flow::Ended(Err(Failure::internal(
                "a block that is not running was resumed",
            )));
        };
        let resumed = self
            .core
            .running(&thread, || thread.resume::<MultiValue>(args));
        let values = match resumed {
            Ok(values) => values,
            Err(error) => {
                let failure = failure_of(&error);
                return Flow::Ended(Err(failure));
            }
        };
        if thread.is_resumable() {
            self.running = Some((thread, block));
            return match self.core.request.take() {
                Some(request) => Flow::Asked(request),
                None if self.core.watch.cancel().is_raised() => Flow::Ended(Err(interrupt())),
                None => Flow::Ended(Err(Failure::internal("a block waits for nothing"))),
            };
        }
        let mut values = values.into_iter();
        let ok = matches!(values.next(), Some(Value::Boolean(true)));
        let first = values.next().unwrap_or(Value::Nil);
        let seen = self.core.seen.take();
        Flow::Ended(if ok {
            scalar(&first)
        } else {
            let trace = seen.map(|seen| seen.trace).unwrap_or_default();
            let main = self.lua.current_thread();
            let uncaught = || self.core.uncaught(&self.lua, &block, &first, &trace);
            Err(self.core.running(&main, uncaught))
        })
    }
}

impl<H: Host> Core<H> {
    /// Runs Lua in a coroutine, or in the main state, where a cancel can reach it.
    pub(super) fn running<R>(&self, thread: &Thread, lua: impl FnOnce() -> R) -> R {
        if self.watch.is_told() {
            // Not where another cancel could reach it: it runs for so long, and no less.
            preempt::set_hook(thread, POLL);
            lua()
        } else if self.preempts.get() {
            preempt::run(thread, self.watch.cancel().flag(), lua)
        } else {
            lua()
        }
    }

    /// Notes how Lua names a region in its messages.
    pub(super) fn mark_region(&self, block: &Compiled) {
        let mut markers = self.markers.borrow_mut();
        if !markers.iter().any(|known| known.marker() == block.marker()) {
            markers.push(block.clone());
        }
    }

    /// Loads a compiled region into the VM.
    pub(super) fn load(&self, lua: &Lua, block: &Compiled) -> mlua::Result<LuaFunction> {
        self.mark_region(block);
        lua.load(block.code())
            .set_mode(ChunkMode::Binary)
            .into_function()
    }

    /// The contents of `var`, or that it was replaced.
    pub(super) fn var(&self) -> Result<Data, Failure> {
        Ok(match self.own_var()? {
            Some(table) => {
                let data = super::guard::snapshot_of(&table, &self.watch);
                data?.unwrap_or_default()
            }
            None => self.var_data.clone(),
        })
    }

    /// The engine's table that the global `var` still holds; `None` where nothing has touched it.
    fn own_var(&self) -> Result<Option<Table>, Failure> {
        if !self.is_taken("var") {
            return Ok(None);
        }
        let current: Value = self
            .globals
            .raw_get("var")
            .map_err(|error| failure_of(&error))?;
        match (&*self.var_table.borrow(), current) {
            (Some(own), Value::Table(current)) if *own == current => Ok(Some(current)),
            _ => Err(Failure::lua(
                "the `var` global was reassigned; write `var.<field>` instead",
            )),
        }
    }

    /// What a report says before an error's text (spec L90).
    pub(super) fn runtime_word(&self) -> &'static str {
        match self.dialect {
            Dialect::Runvil => "runtime error: ",
            Dialect::PromptForge => "",
        }
    }
}

/// The scalar return rule (spec K21a).
pub(super) fn scalar(value: &Value) -> Result<Option<String>, Failure> {
    Ok(Some(match value {
        Value::Nil => return Ok(None),
        Value::Boolean(b) => b.to_string(),
        Value::Integer(i) => i.to_string(),
        // Rust's own text of a float is plain decimal, without exponent or needless fraction.
        Value::Number(n) => n.to_string(),
        Value::String(text) => text.to_string_lossy(),
        other => {
            let type_name = other.type_name();
            let type_name = if type_name == "error" {
                "userdata"
            } else {
                type_name
            };
            return Err(Failure::lua(format!(
                "cannot return a {type_name} as a result"
            )));
        }
    }))
}

/// The interrupted error as running Lua meets it.
pub(super) fn interrupt() -> Failure {
    Failure {
        class: Class::Interrupt,
        ..Failure::interrupted()
    }
}
