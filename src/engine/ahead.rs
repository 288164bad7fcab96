//! What a run does ahead, or afterwards, while it waits for an answer.

use std::cell::RefCell;
use std::fmt;

use super::entry::Entry;
use super::run::Run;
use crate::lua::{State, Vm};

/// How many Lua states there are ahead of need. An answer rarely comes alone where many tasks run
/// beside each other, and whoever comes first holds up the others.
const MOST: usize = 8;

/// How much memory a VM may hold to be kept, in bytes.
const SMALL: usize = 1 << 20;

/// Lua states that wait for a section.
#[derive(Default)]
pub(super) struct Ahead(RefCell<Vec<State>>);

impl Ahead {
    /// A state, if there is one.
    pub(super) fn take(&self) -> Option<State> {
        self.0.borrow_mut().pop()
    }
}

/// VMs of tasks that have ended, whose memory is freed when there is time.
#[derive(Default)]
pub(super) struct Remains(Vec<Vm<Entry>>);

impl Remains {
    /// Keeps a VM for later, where it is small and few are kept.
    pub(super) fn put(&mut self, vm: Option<Vm<Entry>>) {
        let vm = vm.filter(|vm| self.0.len() < MOST && vm.used_memory() <= SMALL);
        self.0.extend(vm);
    }
}

impl fmt::Debug for Remains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Remains").field(&self.0.len()).finish()
    }
}

impl fmt::Debug for Ahead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ahead")
            .field(&self.0.borrow().len())
            .finish()
    }
}

impl Run {
    /// Does a little of what will be needed soon, or could be put off, and changes nothing that can
    /// be seen: makes a Lua state for a task that waits for a slot, or frees that of one that has
    /// ended. For whoever waits for an answer anyway. Whether there was anything to do.
    pub fn get_ahead(&mut self) -> bool {
        let states = &self.shared.ahead.0;
        let wanted = self.admission.in_line().min(MOST);
        if self.outcome.is_some() || states.borrow().len() >= wanted {
            return self.remains.0.pop().is_some();
        }
        match State::new() {
            Ok(state) => states.borrow_mut().push(state),
            // It fails again where it is needed, and is reported there.
            Err(_) => return false,
        }
        true
    }
}
