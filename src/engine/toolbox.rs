//! The tools of a section entry: what it offers to a model, and the calls that are under way (spec
//! T75, T76, T111).

use std::cell::RefCell;
use std::sync::Arc;

use super::model::Tool;

/// The tools of one section entry.
#[derive(Debug, Default)]
pub(super) struct Toolbox {
    local: RefCell<Arc<[Tool]>>,
    running: RefCell<Vec<Running>>,
}

/// A local tool's handler that is running.
#[derive(Clone, Debug)]
pub(super) struct Running {
    pub(super) alias: Arc<str>,
    /// The model's call; empty for a script's.
    pub(super) call: Arc<str>,
    pub(super) turn: u32,
}

impl Toolbox {
    /// What a round offers, in order.
    pub(super) fn offered(&self) -> Arc<[Tool]> {
        self.local.borrow().clone()
    }

    /// The local tool of an alias.
    pub(super) fn local(&self, alias: &str) -> Option<Tool> {
        let local = self.local.borrow();
        local.iter().find(|tool| *tool.name == *alias).cloned()
    }

    /// Registers a local tool.
    pub(super) fn add(&self, tool: Tool) {
        let mut local = self.local.borrow_mut();
        *local = local.iter().cloned().chain([tool]).collect();
    }

    /// A local tool's handler starts.
    pub(super) fn enter(&self, running: Running) {
        self.running.borrow_mut().push(running);
    }

    /// The innermost handler has ended.
    pub(super) fn leave(&self) -> Option<Running> {
        self.running.borrow_mut().pop()
    }

    /// The innermost handler that is running.
    pub(super) fn running(&self) -> Option<Running> {
        self.running.borrow().last().cloned()
    }
}
