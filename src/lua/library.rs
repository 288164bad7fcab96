//! `require`: a section's Lua loaded as a library, in the caller's own VM and coroutine (spec L31,
//! L32).

use std::collections::HashMap;
use std::rc::Rc;

use mlua::{Function as LuaFunction, Lua, Table, Value};

use super::failure::Failure;
use super::helpers::{self, Helper};
use super::host::{Call, Host, Library};
use super::vm::{Core, Pending};

/// The libraries of one VM.
pub(super) struct Libraries<H: Host> {
    /// Those that are loading, the innermost last.
    loading: Vec<Loading<H>>,
    /// The values of those that have loaded.
    loaded: HashMap<u32, Value>,
}

struct Loading<H: Host> {
    library: Library<H>,
    value: Value,
    /// Whether the running block of it has put its prose on the stack.
    entered: bool,
}

impl<H: Host> Default for Libraries<H> {
    fn default() -> Self {
        Self {
            loading: Vec::new(),
            loaded: HashMap::new(),
        }
    }
}

impl<H: Host> Core<H> {
    pub(super) fn require(self: &Rc<Self>, lua: &Lua) -> mlua::Result<LuaFunction> {
        let core = self.clone();
        let begin = lua.create_function(move |lua, args: mlua::MultiValue| {
            let args: Vec<Value> = args.into_iter().collect();
            core.begin(lua, &args)
        })?;
        let core = self.clone();
        let enter = lua.create_function(move |_, (block, value): (usize, Value)| {
            core.enter(block, value);
            Ok(())
        })?;
        let core = self.clone();
        let leave = lua.create_function(move |_, succeeded: bool| {
            core.leave(succeeded);
            Ok(())
        })?;
        let native: Value = self.base.raw_get("setmetatable")?;
        helpers::load(lua, Helper::Require)?.call((native, begin, enter, leave))
    }

    /// Whether a library is still loading.
    pub(super) fn is_loading(&self) -> bool {
        !self.libraries.borrow().loading.is_empty()
    }

    /// Resolves the heading: a library that has loaded is answered at once, another gives its
    /// blocks.
    fn begin(
        self: &Rc<Self>,
        lua: &Lua,
        args: &[Value],
    ) -> mlua::Result<(bool, Option<Table>, Value)> {
        let heading = super::target(&Call {
            lua,
            core: self,
            args,
        })?;
        let library = self.host.library(&heading)?;
        if let Some(value) = self.libraries.borrow().loaded.get(&library.id) {
            return Ok((true, None, value.clone()));
        }
        if self
            .libraries
            .borrow()
            .loading
            .iter()
            .any(|other| other.library.id == library.id)
        {
            let name = &library.name;
            let text = format!("require of section `{name}` is already in progress");
            return Err(Failure::lua(text).into());
        }
        let blocks = lua.create_table()?;
        for (block, _) in &library.blocks {
            blocks.raw_push(self.load(lua, block)?)?;
        }
        self.host.library_started(&library);
        let loading = Loading {
            library,
            value: Value::Nil,
            entered: false,
        };
        self.libraries.borrow_mut().loading.push(loading);
        Ok((false, Some(blocks), Value::Nil))
    }

    /// The innermost library goes on to its next block, counted from 1; 0 says that it is done.
    fn enter(&self, block: usize, value: Value) {
        let mut libraries = self.libraries.borrow_mut();
        let Some(loading) = libraries.loading.last_mut() else {
            return;
        };
        let mut prose = self.prose.borrow_mut();
        if std::mem::take(&mut loading.entered) {
            prose.pop();
        }
        loading.value = value;
        let block = block
            .checked_sub(1)
            .and_then(|at| loading.library.blocks.get(at));
        if let Some((_, pending)) = block {
            prose.push(Pending {
                prose: pending.clone(),
                rendered: None,
            });
            loading.entered = true;
        }
    }

    /// The innermost library has loaded, or failed; a failed one may be required again.
    fn leave(&self, succeeded: bool) {
        let Some(done) = self.libraries.borrow_mut().loading.pop() else {
            return;
        };
        if done.entered {
            self.prose.borrow_mut().pop();
        }
        self.host.library_ended(&done.library, succeeded);
        if succeeded {
            self.libraries
                .borrow_mut()
                .loaded
                .insert(done.library.id, done.value);
        }
    }
}
