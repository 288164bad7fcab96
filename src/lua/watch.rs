//! How what works long in Rust for running Lua finds out that the run was cancelled (spec R19).

use std::cell::Cell;
use std::rc::Rc;

use mlua::Lua;

use super::cancel::Cancel;
use super::failure::Failure;
use super::vm::interrupt;

/// How many steps pass between two looks at the cancel flag: well under a millisecond.
const LOOK: usize = 4096;

/// A look at the cancel of the run that a section VM belongs to.
#[derive(Clone, Default)]
pub(super) struct Watch {
    cancel: Cancel,
    /// Whether a waiting call was told of the cancel: the block may still look at that, until the
    /// next poll of running Lua.
    told: Rc<Cell<bool>>,
    steps: Cell<usize>,
}

/// The run was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl From<Cancelled> for Failure {
    fn from(_: Cancelled) -> Self {
        interrupt()
    }
}

impl From<Cancelled> for mlua::Error {
    fn from(_: Cancelled) -> Self {
        interrupt().into()
    }
}

impl Watch {
    pub(super) fn new(cancel: Cancel) -> Self {
        Self {
            cancel,
            ..Self::default()
        }
    }

    /// That of the VM, which keeps it with its state.
    pub(super) fn of(lua: &Lua) -> Self {
        let found = lua.app_data_ref::<Self>().map(|watch| watch.clone());
        found.unwrap_or_default()
    }

    pub(super) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    pub(super) fn is_told(&self) -> bool {
        self.told.get()
    }

    pub(super) fn tell(&self, told: bool) {
        self.told.set(told);
    }

    /// Whether the run was cancelled, and the block not told of it.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.is_raised() && !self.told.get()
    }

    /// Fails once the run is cancelled.
    pub(super) fn poll(&self) -> Result<(), Cancelled> {
        match self.is_cancelled() {
            false => Ok(()),
            true => Err(Cancelled),
        }
    }

    /// Counts steps, and polls now and then.
    pub(super) fn step(&self, steps: usize) -> Result<(), Cancelled> {
        let steps = self.steps.get().saturating_add(steps);
        if steps < LOOK {
            self.steps.set(steps);
            return Ok(());
        }
        self.steps.set(0);
        self.poll()
    }
}
