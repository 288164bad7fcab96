//! Tasks: what a run knows of each, from its spawn to the end of the run (spec K202).

use std::rc::Rc;
use std::sync::Arc;

use super::admission::ChainKey;
use super::ask::Talk;
use super::effect::EffectId;
use super::entry::Input;
use super::outbox::Task;
use super::strand::Strand;
use super::toolbox::Called;
use crate::lua::{Data, Delivery, Failure};
use crate::prompt::SectionId;

/// Names a task of the run: its rank in spawn order. The root chain counts as the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct TaskKey(pub(super) u32);

impl TaskKey {
    pub(super) const ROOT: Self = Self(0);

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    pub(super) fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// Who started a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Lua: `tasks.spawn`, or an arm of a fanout.
    Author,
    /// A model, in the section entry of this index in the owner's chain.
    Model { entry: u32 },
}

impl Origin {
    pub(super) fn tag(self) -> &'static str {
        match self {
            Self::Author => "author",
            Self::Model { .. } => "model",
        }
    }
}

/// What a task starts with, until it starts.
#[derive(Clone, Debug)]
pub(super) struct Seeds {
    pub(super) input: Input,
    pub(super) var: Data,
    pub(super) index: Option<i64>,
}

/// Why a task is abandoned (spec K135).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    OwnerReturned,
    OwnerFailed,
    ToolLoopExhausted,
    OwnerAborted,
    RunTerminated,
}

impl Reason {
    /// The word that events have.
    pub(super) fn tag(self) -> &'static str {
        match self {
            Self::OwnerReturned => "owner_returned",
            Self::OwnerFailed => "owner_failed",
            Self::ToolLoopExhausted => "tool_loop_exhausted",
            Self::OwnerAborted => "owner_aborted",
            Self::RunTerminated => "run_terminated",
        }
    }

    /// What a notice says.
    pub(super) fn phrase(self) -> &'static str {
        match self {
            Self::OwnerReturned => "the section ended",
            Self::OwnerFailed => "the owner failed",
            Self::ToolLoopExhausted => "the tool loop was exhausted",
            Self::OwnerAborted => "the owner was aborted",
            Self::RunTerminated => "the run ended",
        }
    }
}

/// Where a task is.
pub(super) enum State {
    /// Admitted never yet.
    Seeded(Box<Seeds>),
    /// Started, its strand at rest.
    Resting(Box<Strand>),
    /// Its strand is in the running slice.
    Running,
    /// Ended; the result is there until a wait takes it.
    Ended(End),
}

/// How a task ended.
#[derive(Clone, Debug)]
pub(super) enum End {
    Succeeded(Arc<str>),
    Failed(Box<Failure>),
    /// Succeeded or failed, and a wait has taken the result.
    Delivered {
        ok: bool,
    },
    Cancelled,
    Abandoned(Reason),
}

/// Why a strand rests.
pub(super) enum Rest {
    /// It can run, or was never started.
    Ready,
    /// It waits for an effect.
    Effect(EffectId),
    /// It waits for tasks.
    Tasks(Box<Wait>),
    /// Its wait is over, and it wants a slot.
    Queued(Box<Wait>),
}

/// A wait on tasks (spec K206, K207).
pub(super) struct Wait {
    pub(super) kind: WaitKind,
    /// The members, in set order, each once.
    pub(super) members: Vec<TaskKey>,
    /// The positions of members that have ended since the owner last looked.
    pub(super) ended: Vec<u32>,
    /// How many members have not been taken yet.
    pub(super) left: usize,
    pub(super) timer: Option<EffectId>,
    pub(super) fired: bool,
    /// Whether a stop reached the call.
    pub(super) interrupted: bool,
}

impl Wait {
    /// A wait on these tasks, none of which has ended.
    pub(super) fn new(kind: WaitKind, members: Vec<TaskKey>) -> Self {
        Self {
            kind,
            left: members.len(),
            members,
            ended: Vec::new(),
            timer: None,
            fired: false,
            interrupted: false,
        }
    }
}

/// What a wait gives.
pub(super) enum WaitKind {
    /// `tasks.join_any`.
    Any,
    /// `tasks.join`: the member of each position of the set, and what was taken of each member.
    All {
        positions: Vec<u32>,
        taken: Vec<Option<Delivery>>,
    },
    /// A fanout: the arms' texts, and which were exhausted.
    Fanout {
        texts: Vec<Arc<str>>,
        exhausted: Vec<usize>,
    },
    /// A model's `await_tasks`: the call, and its timeout in seconds.
    Notices {
        called: Called,
        timeout: Option<f64>,
    },
}

/// One task.
pub(super) struct Record {
    /// Its id, and the counter of its events and effects.
    pub(super) task: Rc<Task>,
    /// The task and the chain that started it; the root has neither.
    pub(super) owner: (TaskKey, ChainKey),
    pub(super) origin: Origin,
    pub(super) target: SectionId,
    pub(super) depth: u32,
    pub(super) state: State,
    pub(super) rest: Rest,
    /// Its position in the wait that names it, while there is one.
    pub(super) awaited: Option<u32>,
    /// Whether it holds a slot.
    pub(super) slot: bool,
    pub(super) note: Option<Arc<str>>,
    /// The member or item it was given.
    pub(super) item: Option<Data>,
    /// Where its end is told to the model that started it, until it is.
    pub(super) told: Option<Rc<Talk>>,
}

impl Record {
    /// Started and not ended; a task that waits for a slot is live.
    pub(super) fn is_live(&self) -> bool {
        !matches!(self.state, State::Ended(_))
    }
}

/// The error value that every wait on a cancelled task gives (spec K105).
pub(super) fn cancelled(task: &str) -> Failure {
    let message = format!("task `{task}` was cancelled");
    Failure::new(crate::lua::Kind::Cancelled, message).with("task", task)
}
