//! The cancel of a run (spec L8, K171).

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::flag;

use super::preempt;

/// The flag of one run, and the way to the Lua that runs under it. Clones share one flag.
#[derive(Clone, Debug)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
    /// Whether only this type raises the flag, and so tells running Lua of it.
    tells: bool,
}

impl Default for Cancel {
    fn default() -> Self {
        Self {
            flag: Arc::default(),
            tells: true,
        }
    }
}

impl From<Arc<AtomicBool>> for Cancel {
    /// A cancel on a flag that something else may raise. It tells nobody, so Lua that runs under it
    /// looks at the flag every 10,000 instructions, which takes it up to twice as long.
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self { flag, tells: false }
    }
}

impl Cancel {
    /// A cancel that a signal raises, wherever it is delivered. The second signal does what it would
    /// if nobody had listened.
    ///
    /// # Errors
    /// The signal cannot be listened for.
    pub fn on_signal(signal: i32) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let cancel = Self::default();
        // In this order: the first signal finds the flag down and raises it, the next finds it up.
        flag::register_conditional_default(signal, cancel.flag.clone())?;
        if cfg!(unix) {
            let raised = cancel.clone();
            // To raise is all that is done, which a signal handler may do.
            preempt::signal::on(signal, move || raised.raise())?;
            Ok(cancel)
        } else {
            flag::register(signal, cancel.flag.clone())?;
            Ok(cancel.flag.into())
        }
    }

    /// Cancels what runs under it, and what is started under it later. May be called on any thread,
    /// and in a signal handler.
    pub fn raise(&self) {
        if !self.flag.swap(true, Ordering::SeqCst) {
            preempt::call(&self.flag);
        }
    }

    /// Whether it was raised.
    pub fn is_raised(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// The flag, for what looks at it in its own time.
    pub(super) fn flag(&self) -> &AtomicBool {
        &self.flag
    }

    /// Whether Lua that runs under it is told when it is raised.
    pub(super) fn tells(&self) -> bool {
        self.tells
    }
}
