//! The backends of a run's store, and the handle a Host and a run share (spec S57 to S62).

mod backend;
mod directory;
mod memory;
mod perform;

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use backend::{Backend, BackendError, EntryKind};
pub use directory::Directory;
pub use memory::Memory;

use crate::engine::store::{Policy, Reason, StoreFailure, StoreOp, StoreValue, check_path};

/// A handle on a store. Clones share the files; each handle has its own [`Policy`].
///
/// A run reaches its store through [`perform`](Self::perform) alone. The other calls are the
/// Host's, for seeding before the run and collecting after it (spec S62): they obey the path
/// rules, make no claims, and ask no policy rule, but a read-only handle does not write.
#[derive(Clone, Debug)]
pub struct Store {
    backend: Option<Shared>,
    policy: Policy,
}

#[derive(Clone)]
struct Shared(Arc<Mutex<Box<dyn Backend>>>);

impl Store {
    /// A fresh, empty store in memory (spec S3, S59).
    pub fn memory() -> Self {
        Self::custom(Box::new(Memory::default()))
    }

    /// The files under an existing directory (spec S60).
    ///
    /// # Errors
    ///
    /// When `root` is not a directory or cannot be reached; the message names it.
    pub fn directory(root: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self::custom(Box::new(Directory::open(root.as_ref())?)))
    }

    /// A store on a Host's own backend.
    pub fn custom(backend: Box<dyn Backend>) -> Self {
        Self {
            backend: Some(Shared(Arc::new(Mutex::new(backend)))),
            policy: Policy::default(),
        }
    }

    /// A handle that declares no store: every run with it fails (spec S50).
    pub fn none() -> Self {
        Self {
            backend: None,
            policy: Policy::default(),
        }
    }

    /// The same store under a policy, in the place of the one it had.
    #[must_use]
    pub fn with_policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    /// The same store, refusing every change. To seed it, keep a clone from before.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.policy.read_only = true;
        self
    }

    /// The handle's policy, which the Engine asks before the claims (spec S57).
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Whether there is a store behind the handle (spec S50).
    pub fn is_declared(&self) -> bool {
        self.backend.is_some()
    }

    /// Whether the backend wants to be asked, by [`StoreOp::Open`], before the H1 pass, the walk
    /// and each new task (spec S58).
    pub fn checks_open(&self) -> bool {
        self.lock().is_ok_and(|backend| backend.checks_open())
    }

    /// Whether what is written stays when the process ends.
    pub fn outlives_process(&self) -> bool {
        self.lock().is_ok_and(|backend| backend.outlives_process())
    }

    /// Performs one operation: its own checks, the policy, then the files (spec S40 steps 2, 3, 4
    /// and 7). No other operation on the same store runs in between.
    ///
    /// # Errors
    ///
    /// The failures of spec S47, with the path as `op` has it.
    pub fn perform(&self, op: &StoreOp) -> Result<StoreValue, StoreFailure> {
        op.check()?;
        if let Some(failure) = self.policy.refuse(op) {
            return Err(failure);
        }
        perform::perform(&mut **self.lock()?, op)
    }

    /// The bytes of a file.
    ///
    /// # Errors
    ///
    /// As `store.read`, save that any bytes will do.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, StoreFailure> {
        check_path(path)?;
        self.lock()?.read(path).map_err(|error| error.at(path))
    }

    /// Creates a file, or replaces its whole contents.
    ///
    /// # Errors
    ///
    /// As `store.write`; `permission_denied` through a read-only handle.
    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> Result<(), StoreFailure> {
        check_path(path)?;
        if self.policy.read_only {
            return Err(StoreFailure::permission_denied(path, Policy::READ_ONLY));
        }
        self.lock()?
            .write(path, bytes.as_ref())
            .map_err(|error| error.at(path))
    }

    /// What stands at a path; `None` when nothing does.
    ///
    /// # Errors
    ///
    /// As `store.exists`.
    pub fn kind(&self, path: &str) -> Result<Option<EntryKind>, StoreFailure> {
        check_path(path)?;
        self.lock()?.kind(path).map_err(|error| error.at(path))
    }

    /// The sorted paths a pattern matches.
    ///
    /// # Errors
    ///
    /// As `store.glob`.
    pub fn list(&self, pattern: &str) -> Result<Vec<String>, StoreFailure> {
        perform::list(&mut **self.lock()?, pattern)
    }

    fn lock(&self) -> Result<MutexGuard<'_, Box<dyn Backend>>, StoreFailure> {
        let Shared(backend) = self
            .backend
            .as_ref()
            .ok_or_else(|| StoreFailure::not_opened(Reason::Backend))?;
        // A backend that panicked is left as it is: each call stands for itself.
        Ok(backend.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A fresh store in memory.
impl Default for Store {
    fn default() -> Self {
        Self::memory()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.try_lock() {
            Ok(backend) => backend.fmt(f),
            Err(_) => f.write_str("<in use>"),
        }
    }
}
