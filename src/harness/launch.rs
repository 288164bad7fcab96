//! What a Host gives a run and what it gets back.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::model::{Broker, DebugEvents, Show};
use super::record::Recorder;
use super::requirements::Requirements;
use super::unit::Operator;
use super::{Seed, StartedAt};
use crate::engine::model::Model;
use crate::engine::{Outcome, RunError, RunErrorKind};
use crate::lua::Cancel;
use crate::prompt::Dialect;

/// The limits of a run (spec L8, L76, M55, M71).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The ceiling on tasks that run at once.
    pub concurrency: u32,
    /// Lua heap of each section VM, in bytes.
    pub memory: usize,
    /// `log` calls of each section VM; the byte quota is 256 times this.
    pub log_events: u32,
    /// Bytes of one model reply.
    pub response_cap: u64,
    /// Seconds a model may stay silent.
    pub receive_timeout: u64,
    /// Rounds of one model loop where the prompt sets no cap.
    pub max_rounds: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            concurrency: 8,
            memory: 64 << 20,
            log_events: 1024,
            response_cap: 16 << 20,
            receive_timeout: 120,
            max_rounds: 24,
        }
    }
}

/// Cancels a run from another thread or a signal handler. Clones share one flag.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Cancel);

impl From<Arc<AtomicBool>> for CancelToken {
    /// A token on a flag that something else may raise. Nobody tells running Lua then, so it looks
    /// at the flag every 10,000 instructions, which takes it up to twice as long.
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(flag.into())
    }
}

impl CancelToken {
    /// A token that a signal sets off, on whatever thread it arrives. A second one does what it
    /// would if nobody had listened: Ctrl-C kills the process.
    ///
    /// # Errors
    /// The signal cannot be listened for.
    pub fn on_signal(signal: i32) -> io::Result<Self> {
        Cancel::on_signal(signal)
            .map(Self)
            .map_err(io::Error::other)
    }

    /// Asks the run to end as cancelled. May be called on any thread, and in a signal handler.
    pub fn cancel(&self) {
        self.0.raise();
    }

    /// What the engine and Lua know of it.
    pub(super) fn inner(&self) -> Cancel {
        self.0.clone()
    }

    /// Whether the run was asked to end.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_raised()
    }
}

/// Stops what a run waits for when it is asked to: its model rounds and timed waits end with the
/// interrupted error, and the run goes on (spec K178). Clones share one state.
#[derive(Clone, Debug, Default)]
pub struct StopToken {
    count: Arc<AtomicU64>,
    asked: Arc<AtomicBool>,
}

impl From<Arc<AtomicBool>> for StopToken {
    /// A token that something else can ask too, such as a signal handler: by raising this flag, which
    /// is taken down when it is seen.
    fn from(asked: Arc<AtomicBool>) -> Self {
        Self {
            count: Arc::default(),
            asked,
        }
    }
}

impl StopToken {
    /// Ends what is in flight now.
    pub fn stop(&self) {
        self.count.fetch_add(1, Ordering::AcqRel);
    }

    /// How often it was asked for.
    pub(super) fn count(&self) -> u64 {
        if self.asked.swap(false, Ordering::AcqRel) {
            self.stop();
        }
        self.count.load(Ordering::Acquire)
    }
}

/// What a Host chooses for one run. `Default` is an empty argument string, a fresh in-memory
/// store, the language's limits, and a seed and start instant drawn by the Harness.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// The argument string (spec L27).
    pub args: String,
    /// Input text for the prompt's declared input file (spec S55).
    pub input: Option<String>,
    /// A fixed seed.
    pub seed: Option<Seed>,
    /// A fixed start instant.
    pub started_at: Option<StartedAt>,
    /// The run's name; by default the prompt's name and a short id (spec C2).
    pub name: Option<String>,
    /// The dialect of a file without a version key (spec F12).
    pub dialect: Dialect,
    /// The run's limits.
    pub limits: Limits,
    /// A Host-state snapshot, a JSON object (spec L71).
    pub ui: Option<serde_json::Value>,
    /// The store; `None` for a fresh one in memory.
    pub store: Option<super::Store>,
    /// The Host's current model, which every role is bound to (spec M8); `None` for none.
    pub model: Option<Model>,
    /// What answers the run's rounds; `None` where there is no gateway.
    pub broker: Option<Arc<dyn Broker>>,
    /// Who answers what the run asks its operator; `None` where nobody does (spec T124).
    pub operator: Option<Arc<dyn Operator>>,
    /// Where pieces of replies are shown as they arrive.
    pub show: Option<Show>,
    /// Where debug events go: each round's request and its reply, word for word, which are in no
    /// record (spec K188a). With `None` they are not even kept. A run takes the same course with and
    /// without.
    pub debug: Option<DebugEvents>,
    /// What keeps the run's record; `None` for none (spec R13).
    pub record: Option<Recorder>,
    /// Ends what the run waits for, without ending the run.
    pub stop: StopToken,
    /// Cancels the run.
    pub cancel: CancelToken,
}

/// How a run went.
#[derive(Clone, Debug)]
pub struct Report {
    /// The outcome.
    pub outcome: Outcome,
    /// The run's name.
    pub run: String,
    /// The seed it ran with.
    pub seed: Seed,
    /// When it started.
    pub started_at: StartedAt,
    /// The parsed prompt, where it parsed.
    pub prompt: Option<Arc<crate::prompt::Prompt>>,
    /// What it requires of its environment that this does not have (spec T51).
    pub requirements: Requirements,
    /// The run's store, as the run left it.
    pub store: super::Store,
}

impl Report {
    /// Whether nothing ran because the command has to be changed: PromptForge's launch whose input
    /// text and declaration do not fit (spec C10). It has no record.
    pub fn is_setup_error(&self) -> bool {
        let dialect = self.prompt.as_ref().map(|prompt| prompt.dialect);
        let is_input = |error: &RunError| error.kind == RunErrorKind::Input;
        dialect == Some(Dialect::PromptForge)
            && matches!(&self.outcome, Outcome::Failed(error) if is_input(error))
    }
}
