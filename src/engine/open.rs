//! Opening a Host's store that checks: for the H1 pass, the walk and each new task (spec S50, S51,
//! S58). Each is a direct effect, so nothing else runs before its answer.

use super::calls::store::failure as store_failure;
use super::effect::Effect;
use super::entry::Spawn;
use super::run::{Deed, Run};
use super::serve::Spawning;
use super::store::{StoreFailure, StoreOp, StoreValue};
use super::strand::{Slice, Strand};
use super::task::{Rest, TaskKey};

/// What goes on once the store is open.
pub(super) enum Opening {
    /// The run, with its H1 pass if it has one.
    Run,
    /// The walk, after an H1 pass.
    Walk,
    /// A spawn.
    Spawn(Box<Spawn>),
    /// The next arm of a fanout.
    Arm(Box<Spawning>),
}

impl Run {
    /// Asks for the store to be opened for a task; the strand goes on with the answer.
    pub(super) fn open_store(&mut self, task: TaskKey, id: String, opening: Opening) {
        let op = StoreOp::Open { task: id };
        let effect = Effect::Store { op, direct: true };
        let id = self.issue(task, effect, Deed::Open(opening));
        self.record_mut(task).rest = Rest::Effect(id);
        self.held = Some((task, None));
    }

    /// Goes on with what the store was opened for. `Ok(None)` says that the strand waits again.
    ///
    /// # Errors
    /// The store refused to open for the run itself, which ends it.
    pub(super) fn opened(
        &mut self,
        task: TaskKey,
        strand: &mut Box<Strand>,
        opening: Opening,
        answer: Result<StoreValue, StoreFailure>,
    ) -> Result<Option<Slice>, StoreFailure> {
        let refused = answer.err();
        Ok(match (opening, refused) {
            (Opening::Run | Opening::Walk, Some(failure)) => return Err(failure),
            (Opening::Run, None) => Some(strand.start_root()),
            (Opening::Walk, None) => Some(strand.go_on()),
            (Opening::Spawn(spawn), Some(failure)) => {
                let refused = self.spawn_refused(strand, *spawn, store_failure(failure));
                Some(strand.resume(refused))
            }
            (Opening::Spawn(spawn), None) => {
                let handle = self.spawn_task(task, strand, *spawn);
                Some(strand.resume(handle))
            }
            (Opening::Arm(spawning), Some(failure)) => {
                self.give_up_arms(*spawning);
                Some(strand.resume(Err(store_failure(failure))))
            }
            (Opening::Arm(spawning), None) => self.spawn_arms(task, strand, spawning, true),
        })
    }
}
