//! What a run does ahead while it waits for an answer.

use std::cell::RefCell;
use std::fmt;

use super::run::Run;
use crate::lua::State;

/// How many Lua states there are ahead of need. An answer rarely comes alone where many tasks run
/// beside each other, and whoever comes first holds up the others.
const MOST: usize = 8;

/// Lua states that wait for a section.
#[derive(Default)]
pub(super) struct Ahead(RefCell<Vec<State>>);

impl Ahead {
    /// A state, if there is one.
    pub(super) fn take(&self) -> Option<State> {
        self.0.borrow_mut().pop()
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
    /// Does a little of what will be needed soon, and changes nothing that can be seen: makes a Lua
    /// state for a task that waits for a slot. For whoever waits for an answer anyway. Whether there
    /// was anything to do.
    pub fn get_ahead(&mut self) -> bool {
        let states = &self.shared.ahead.0;
        let wanted = self.admission.in_line().min(MOST);
        if self.outcome.is_some() || states.borrow().len() >= wanted {
            return false;
        }
        match State::new() {
            Ok(state) => states.borrow_mut().push(state),
            // It fails again where it is needed, and is reported there.
            Err(_) => return false,
        }
        true
    }
}
