//! Ends a deed in flight from another thread.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Says that a deed's answer is not wanted any more. Clones share one state.
#[derive(Clone, Default)]
pub struct Abort(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    aborted: bool,
    act: Option<Box<dyn FnOnce() + Send>>,
}

impl Abort {
    /// Ends the deed: what it put in place with [`Abort::on_abort`] is done now, once.
    pub fn abort(&self) {
        let act = {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            state.aborted = true;
            state.act.take()
        };
        if let Some(act) = act {
            act();
        }
    }

    /// Whether the answer is not wanted any more.
    pub fn is_aborted(&self) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .aborted
    }

    /// Puts in place what ends the deed, such as shutting its socket, in place of what was there;
    /// it is done at once where the deed was aborted already.
    pub fn on_abort(&self, act: impl FnOnce() + Send + 'static) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match state.aborted {
            true => {
                drop(state);
                act();
            }
            false => state.act = Some(Box::new(act)),
        }
    }

    /// Takes away what was put in place.
    pub fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).act = None;
    }
}

impl fmt::Debug for Abort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Abort").field(&self.is_aborted()).finish()
    }
}
