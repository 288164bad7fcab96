//! Serving what running blocks ask for (spec K203): at once, by a called chain, by an effect, or by
//! a wait on tasks.

use std::rc::Rc;
use std::sync::Arc;

use super::calls::tasks::unrepresentable;
use super::chain::Chain;
use super::claims::Conflict;
use super::effect::Effect;
use super::entry::{Input, Request, Spawn};
use super::event::{EventKind, TaskStarted, store_events};
use super::open::Opening;
use super::outbox::Task;
use super::outcome::{RunError, RunErrorKind};
use super::run::{Deed, Run, Wake};
use super::store::StoreOp;
use super::strand::{Slice, Stopped, Strand};
use super::task::{End, Origin, Record, Rest, Seeds, State, TaskKey, Wait, WaitKind};
use crate::lua::{Data, Failure, Kind, Reply};
use crate::prompt::SectionId;

/// A fanout whose arms are being spawned.
pub(super) struct Spawning {
    target: SectionId,
    var: Data,
    members: std::vec::IntoIter<Data>,
    /// Whether every member of the collection is data.
    complete: bool,
    arms: Vec<TaskKey>,
}

impl Run {
    /// Serves a request. `None` says that the strand waits now.
    pub(super) fn serve(
        &mut self,
        task: TaskKey,
        strand: &mut Box<Strand>,
        request: Request,
    ) -> Option<Slice> {
        let answer = match request {
            Request::Call { target, input, var } => {
                return Some(self.call(strand, target, input, var));
            }
            Request::Store(op) => return self.store(task, strand, op),
            Request::Round(ask) => return self.round(task, ask),
            Request::Tool(ask) => return self.tool(task, ask),
            Request::Fanout {
                target,
                var,
                members,
                complete,
            } => {
                let members = members.into_iter();
                let arms = Vec::with_capacity(members.len());
                let spawning = Spawning {
                    target,
                    var,
                    members,
                    complete,
                    arms,
                };
                return self.spawn_arms(task, strand, Box::new(spawning), false);
            }
            Request::Wait { any, set, timeout } => {
                match self.wait(task, strand, any, &set, timeout) {
                    Ok(None) => return self.park_in(task),
                    Ok(Some(reply)) => Ok(reply),
                    Err(failure) => Err(failure),
                }
            }
            Request::Spawn(spawn) if self.shared.opens_store => {
                let id = strand
                    .top()
                    .map(|chain| chain.peek_child())
                    .unwrap_or_default();
                self.open_store(task, id, Opening::Spawn(spawn));
                return None;
            }
            Request::Spawn(spawn) => self.spawn_task(task, strand, *spawn),
            Request::BuiltIn(called, asked) => match self.built_in(task, strand, called, asked) {
                Some(reply) => Ok(reply),
                None => return self.park_in(task),
            },
            Request::Status(id) => self
                .owned_or_self(task, strand, &id)
                .map(|key| Reply::Data(self.status(key, strand).data())),
            Request::Ready(id) => self
                .owned_or_self(task, strand, &id)
                .map(|key| Reply::Bool(!self.record(key).is_live())),
            Request::Cancel(id) => owned(strand, &id).map(|key| {
                self.stop_task(key, End::Cancelled);
                self.admit();
                Reply::None
            }),
            Request::Pending { origin } => Ok(Reply::Data(self.pending(strand, origin.as_deref()))),
            Request::Note(text) => {
                self.record_mut(task).note = Some(text.into());
                Ok(Reply::None)
            }
            Request::Concurrency(limit) => Ok(self.concurrency(strand, limit)),
        };
        Some(strand.answer(answer))
    }

    fn call(
        &mut self,
        strand: &mut Strand,
        target: SectionId,
        input: Option<String>,
        var: Data,
    ) -> Slice {
        let program = &self.shared.program;
        let Some(caller) = strand.top_mut() else {
            return Slice::Ended(Err(no_chain()));
        };
        let input = match input {
            Some(text) => Input::new(program, text.into()),
            None => caller.input.clone(),
        };
        let (_, id) = caller.next_child();
        let key = self.admission.open(caller.key);
        let mut chain = Chain::new(id, key, caller.depth + 1, input, var);
        chain.go_to(program, target);
        strand.call(chain)
    }

    /// Claims what the operation touches and puts it out, or ends the run where that conflicts
    /// (spec K213).
    fn store(&mut self, task: TaskKey, strand: &mut Strand, op: StoreOp) -> Option<Slice> {
        if let Err(conflict) = self.claims.claim(task, &op) {
            self.violation(task, &op, conflict);
            return None;
        }
        let direct = strand.is_loading();
        let deed = Deed::Store(store_events(&op));
        let id = self.issue(task, Effect::Store { op, direct }, deed);
        self.record_mut(task).rest = Rest::Effect(id);
        if direct {
            self.held = Some((task, None));
        }
        None
    }

    /// The run is to end: two unordered accesses conflict (spec S78). Its strand is at rest when
    /// it does.
    fn violation(&mut self, task: TaskKey, op: &StoreOp, conflict: Conflict) {
        let claim = match op.changes() {
            true => "write",
            false => "read",
        };
        let path = op.target().unwrap_or_default();
        let (identity, other) = (
            &self.record(task).task.id,
            &self.record(conflict.other).task.id,
        );
        let other_claim = conflict.other_claim;
        let text = format!(
            "store determinism violation: {claim} on {path} by {identity} conflicts with a \
             {other_claim} claim by {other}"
        );
        self.conflict = Some(RunError::new(RunErrorKind::Determinism, text));
    }

    /// Starts a task, and gives its handle; a model is given a line.
    pub(super) fn spawn_task(
        &mut self,
        owner: TaskKey,
        strand: &mut Strand,
        spawn: Spawn,
    ) -> Result<Reply, Failure> {
        let called = spawn.called.clone();
        let key = self.spawn(owner, strand, spawn)?;
        let id = self.record(key).task.id.clone();
        self.admit();
        Ok(match called {
            None => Reply::Data(handle(&id)),
            Some(called) => self.told(strand, called, Ok(format!("Task id={id} started"))),
        })
    }

    /// A task was not to start after all: an author's call raises that, a model is given it as text.
    pub(super) fn spawn_refused(
        &self,
        strand: &Strand,
        spawn: Spawn,
        failure: Failure,
    ) -> Result<Reply, Failure> {
        match spawn.called {
            None => Err(failure),
            Some(called) => Ok(self.told(strand, called, Err(format!("task: {failure}")))),
        }
    }

    /// Starts a task; it first runs when its owner waits and it has a slot (spec K88).
    fn spawn(
        &mut self,
        owner: TaskKey,
        strand: &mut Strand,
        spawn: Spawn,
    ) -> Result<TaskKey, Failure> {
        let section = strand.section();
        let Some(chain) = strand.top_mut() else {
            return Err(no_chain().failure);
        };
        let Spawn {
            target,
            input,
            item,
            index,
            var,
            called,
        } = spawn;
        let entry = chain.entry();
        let origin = match called {
            None => Origin::Author,
            Some(_) => Origin::Model { entry },
        };
        let told = called.map(|_| chain.talk.clone());
        let key = TaskKey(u32::try_from(self.tasks.len()).unwrap_or(u32::MAX));
        let (child, id) = chain.next_child();
        let own_input = input.map(Arc::<str>::from);
        let seeded = match &own_input {
            Some(text) => Input::new(&self.shared.program, text.clone()),
            None => chain.input.clone(),
        };
        chain.owned.push((child, key));
        let (parent, depth) = (chain.key, chain.depth + 1);
        let started = TaskStarted {
            task: id.clone(),
            target: self.shared.program.name(Some(target)).clone(),
            origin: origin.tag(),
            input: own_input,
            item: item.clone(),
            index,
            var: var.clone(),
        };
        let kind = EventKind::TaskStarted(Box::new(started));
        self.shared.outbox.report(&strand.task, &section, kind);
        self.claims.order.spawn(owner);
        self.tasks.push(Record {
            task: Rc::new(Task::new(id)),
            owner: (owner, parent),
            origin,
            target,
            depth,
            state: State::Seeded(Box::new(Seeds {
                input: seeded,
                var,
                index,
            })),
            rest: Rest::Ready,
            awaited: None,
            slot: false,
            note: None,
            item,
            told,
        });
        self.admission.queue(parent, key);
        Ok(key)
    }

    /// Spawns a fanout's arms, as many as a step has room for, and then waits for them. `opened`
    /// says that the store was opened for the next one.
    pub(super) fn spawn_arms(
        &mut self,
        task: TaskKey,
        strand: &mut Box<Strand>,
        mut spawning: Box<Spawning>,
        mut opened: bool,
    ) -> Option<Slice> {
        while !self.shared.outbox.is_due() {
            if spawning.members.len() > 0 && self.shared.opens_store && !opened {
                let id = strand
                    .top()
                    .map(|chain| chain.peek_child())
                    .unwrap_or_default();
                self.open_store(task, id, Opening::Arm(spawning));
                return None;
            }
            opened = false;
            let Some(member) = spawning.members.next() else {
                return self.arms_spawned(task, strand, *spawning);
            };
            let index = i64::try_from(spawning.arms.len() + 1).unwrap_or(i64::MAX);
            let (target, var) = (spawning.target, spawning.var.clone());
            let spawn = Spawn {
                target,
                input: None,
                item: Some(member),
                index: Some(index),
                var,
                called: None,
            };
            match self.spawn(task, strand, spawn) {
                Ok(arm) => spawning.arms.push(arm),
                Err(failure) => return Some(strand.answer(Err(failure))),
            }
        }
        self.held = Some((task, Some(Wake::Spawn(spawning))));
        None
    }

    fn arms_spawned(
        &mut self,
        task: TaskKey,
        strand: &mut Box<Strand>,
        spawning: Spawning,
    ) -> Option<Slice> {
        if !spawning.complete {
            self.give_up_arms(spawning);
            return Some(strand.answer(Err(unrepresentable())));
        }
        let empty: Arc<str> = Arc::from("");
        let texts = vec![empty; spawning.arms.len()];
        let kind = WaitKind::Fanout {
            texts,
            exhausted: Vec::new(),
        };
        self.begin_wait(task, Wait::new(kind, spawning.arms));
        self.park_in(task)
    }

    /// Cancels the arms of a fanout that fails before they have run.
    pub(super) fn give_up_arms(&mut self, spawning: Spawning) {
        for arm in spawning.arms {
            self.stop_task(arm, End::Cancelled);
        }
        self.admit();
    }

    /// Gives the slot of a strand that waits for tasks to others (spec K206). The strand itself is
    /// at rest when they run.
    fn park_in(&mut self, task: TaskKey) -> Option<Slice> {
        self.give_slot_back(task);
        self.admit();
        None
    }

    /// The task that an id names, if the running chain owns it, or is in it (spec K96).
    fn owned_or_self(&self, task: TaskKey, strand: &Strand, id: &str) -> Result<TaskKey, Failure> {
        match task != TaskKey::ROOT && *self.record(task).task.id == *id {
            true => Ok(task),
            false => owned(strand, id),
        }
    }

    /// The running chain's own live tasks, in spawn order.
    fn pending(&self, strand: &Strand, origin: Option<&str>) -> Data {
        let owned = strand.top().map_or(&[][..], |chain| &chain.owned);
        let live = owned
            .iter()
            .map(|(_, key)| self.record(*key))
            .filter(|record| record.is_live())
            .filter(|record| origin.is_none_or(|origin| origin == record.origin.tag()))
            .map(|record| handle(&record.task.id))
            .collect::<Vec<_>>();
        Data::list(live)
    }

    fn concurrency(&mut self, strand: &Strand, limit: Option<u32>) -> Reply {
        let Some(chain) = strand.top().map(|chain| chain.key) else {
            return Reply::None;
        };
        if let Some(limit) = limit {
            self.admission.set_limit(chain, limit);
            self.admit();
        }
        Reply::Data(Data::Int(i64::from(self.admission.limit(chain))))
    }
}

/// The task of the running chain that an id names (spec K95).
pub(super) fn owned(strand: &Strand, id: &str) -> Result<TaskKey, Failure> {
    let found = strand.top().and_then(|chain| chain.find_owned(id));
    found.ok_or_else(|| {
        let message = format!("task `{id}` is not a task this chain owns");
        Failure::new(Kind::TaskNotOwned, message).with("task", id)
    })
}

/// `{ task = id }`.
fn handle(id: &Arc<str>) -> Data {
    Data::object([("task", Data::Text(id.clone()))])
}

fn no_chain() -> Stopped {
    Stopped::plain(Failure::internal(
        "a strand without a chain asked for something",
    ))
}
