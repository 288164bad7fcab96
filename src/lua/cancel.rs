//! The cancel of a run (spec L8, K171).

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::flag;

use super::preempt;

/// The flag of one run, and the way to the Lua that runs under it. Clones share one flag.
#[derive(Clone, Debug)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
    /// Whether only this type raises the flag, and so tells running Lua of it.
    tells: bool,
    /// Where the run that looks at the flag found it up.
    met: Option<Arc<Met>>,
}

/// Where a run first met its cancel.
#[derive(Debug)]
struct Met {
    /// How far its current step has come.
    progress: AtomicUsize,
    /// How far that was when it met the cancel; [`Met::NOT`] while it has not.
    at: AtomicUsize,
}

impl Met {
    const NOT: usize = usize::MAX;
}

impl Default for Cancel {
    fn default() -> Self {
        Self {
            flag: Arc::default(),
            tells: true,
            met: None,
        }
    }
}

impl From<Arc<AtomicBool>> for Cancel {
    /// A cancel on a flag that something else may raise. It tells nobody, so Lua that runs under it
    /// looks at the flag every 10,000 instructions, which takes it up to twice as long.
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self {
            flag,
            tells: false,
            met: None,
        }
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

    /// The same cancel as one run looks at it: where it is found raised first is kept, wherever in
    /// the run that is.
    pub fn of_run(&self) -> Self {
        let met = Met {
            progress: AtomicUsize::new(0),
            at: AtomicUsize::new(Met::NOT),
        };
        Self {
            met: Some(Arc::new(met)),
            ..self.clone()
        }
    }

    /// The run's current step has come so far, in events and effects put out and effects dropped.
    pub fn went_on(&self, progress: usize) {
        if let Some(met) = &self.met {
            met.progress.store(progress, Ordering::Relaxed);
        }
    }

    /// How far the run's current step had come when the run first found it raised.
    pub fn met_at(&self) -> Option<usize> {
        let met = self.met.as_ref()?.at.load(Ordering::Relaxed);
        (met != Met::NOT).then_some(met)
    }

    /// Whether it was raised.
    pub fn is_raised(&self) -> bool {
        let raised = self.flag.load(Ordering::Relaxed);
        if raised && let Some(met) = &self.met {
            let (progress, order) = (met.progress.load(Ordering::Relaxed), Ordering::Relaxed);
            // Where it was met before, that stands.
            let _ = met.at.compare_exchange(Met::NOT, progress, order, order);
        }
        raised
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
