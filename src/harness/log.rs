//! Where a unit's notes go.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The host log: takes a line at a time, on whatever thread has one. The default drops them.
#[derive(Clone, Default)]
pub struct Log(Option<Arc<Write>>);

type Write = dyn Fn(&str) + Send + Sync;

impl Log {
    /// Writes lines with a function. One that panics loses the line and no more.
    pub fn new(write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(write)))
    }

    /// Writes a line.
    pub fn line(&self, text: &str) {
        if let Some(write) = &self.0 {
            // The line is lost; there is nowhere to say so.
            let _ = catch_unwind(AssertUnwindSafe(|| write(text)));
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}
