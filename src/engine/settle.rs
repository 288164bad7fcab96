//! How chains, tasks and the run end (spec K131 to K139, K208, K210).

use super::classify;
use super::effect::Withdrawal;
use super::event::EventKind;
use super::outcome::Outcome;
use super::run::Run;
use super::strand::{Ended, Stopped, Strand};
use super::task::{End, Origin, Reason, Rest, State, TaskKey};
use crate::lua::{Failure, Kind};

impl Run {
    /// Settles what the top chain of a strand owns, now that it has ended, and gives its outcome.
    pub(super) fn settle(&mut self, strand: &mut Strand, mut result: Ended) -> Ended {
        let Some(chain) = strand.top_mut() else {
            return result;
        };
        let (key, owned) = (chain.key, std::mem::take(&mut chain.owned));
        if !owned.is_empty() {
            let live: Vec<TaskKey> = owned
                .iter()
                .map(|(_, task)| *task)
                .filter(|task| self.record(*task).is_live())
                .collect();
            let exhausted = |stopped: &Stopped| stopped.failure.kind == Kind::ToolLoopExhausted;
            let (of_author, of_model) = match &result {
                Ok(_) => (Reason::OwnerReturned, Reason::OwnerReturned),
                Err(stopped) if exhausted(stopped) => {
                    (Reason::OwnerFailed, Reason::ToolLoopExhausted)
                }
                Err(_) => (Reason::OwnerFailed, Reason::OwnerFailed),
            };
            let leaked: Vec<&str> = live
                .iter()
                .map(|task| self.record(*task))
                .filter(|record| record.origin == Origin::Author)
                .map(|record| &*record.task.id)
                .collect();
            if result.is_ok() && !leaked.is_empty() {
                result = Err(Stopped::plain(leak(&leaked.join(", "))));
            }
            for task in live {
                let reason = match self.record(task).origin {
                    Origin::Author => of_author,
                    Origin::Model { .. } => of_model,
                };
                self.stop_task(task, End::Abandoned(reason));
            }
            for (_, task) in &owned {
                self.claims.order.join(*task);
            }
        }
        self.admission.close(key);
        self.admit();
        result
    }

    /// A strand's last chain has ended: a task's result goes to its owner, the root's to the run.
    pub(super) fn task_ended(&mut self, task: TaskKey, result: Ended) {
        if task == TaskKey::ROOT {
            return self.end(match result {
                Ok(text) => Outcome::Completed(text.unwrap_or_else(|| "done".into())),
                Err(stopped) => {
                    let dialect = self.shared.program.dialect();
                    classify::outcome(stopped.failure, stopped.gate, dialect)
                }
            });
        }
        let (end, name) = match result {
            Ok(text) => (
                End::Succeeded(text.unwrap_or_default().into()),
                "task_succeeded",
            ),
            Err(stopped) => (End::Failed(Box::new(stopped.failure)), "task_failed"),
        };
        let record = self.record_mut(task);
        record.state = State::Ended(end);
        record.rest = Rest::Ready;
        self.report_end(
            task,
            EventKind::TaskEnded {
                name,
                task: self.id(task),
            },
        );
        self.notify(task);
        self.wake_owner(task);
        self.give_slot_back(task);
        self.admit();
    }

    /// Stops a live task, from the inside out: what it owns ends first (spec K210). Slots that
    /// come free are given out by the caller.
    pub(super) fn stop_task(&mut self, task: TaskKey, how: End) {
        if !self.record(task).is_live() {
            return;
        }
        let record = self.record_mut(task);
        record.awaited = None;
        let owner = record.owner.1;
        let rest = std::mem::replace(&mut record.rest, Rest::Ready);
        let state = std::mem::replace(&mut record.state, State::Running);
        if let State::Resting(mut strand) = state {
            self.abandon_owned(&mut strand, Reason::OwnerAborted);
            strand.tear_down_all();
        }
        match rest {
            Rest::Effect(id) => self.withdraw(Some(id)),
            Rest::Tasks(wait) | Rest::Queued(wait) => self.withdraw(wait.timer),
            Rest::Ready => {}
        }
        self.admission.unqueue(owner, task);
        let kind = match &how {
            End::Abandoned(reason) => EventKind::TaskAbandoned {
                task: self.id(task),
                reason: reason.tag(),
            },
            _ => EventKind::TaskEnded {
                name: "task_cancelled",
                task: self.id(task),
            },
        };
        self.record_mut(task).state = State::Ended(how);
        self.report_end(task, kind);
        self.notify(task);
        self.give_slot_back(task);
    }

    /// Abandons every live task that the chains of a strand own, the innermost chain's first, and
    /// joins all they ever owned.
    fn abandon_owned(&mut self, strand: &mut Strand, reason: Reason) {
        for (key, owned) in strand.take_owned() {
            for (_, task) in &owned {
                self.stop_task(*task, End::Abandoned(reason));
            }
            for (_, task) in &owned {
                self.claims.order.join(*task);
            }
            self.admission.close(key);
        }
    }

    /// Ends the run. Every task that still lives is abandoned before its last event (spec K138).
    pub(super) fn end(&mut self, outcome: Outcome) {
        let root = self.record_mut(TaskKey::ROOT);
        if let State::Resting(mut strand) = std::mem::replace(&mut root.state, State::Running) {
            self.abandon_owned(&mut strand, Reason::RunTerminated);
            strand.tear_down_all();
        }
        let kind = match outcome {
            Outcome::Completed(_) => "run_succeeded",
            _ => "run_failed",
        };
        let title = &self.shared.program.title;
        self.shared
            .outbox
            .plain(&self.record(TaskKey::ROOT).task, title, kind);
        self.record_mut(TaskKey::ROOT).state = State::Ended(End::Delivered { ok: false });
        self.ready.clear();
        let left = std::mem::take(&mut self.in_flight).into_map().into_keys();
        self.withdrawn
            .extend(left.map(|id| (id, Withdrawal::Dropped)));
        self.outcome = Some(outcome);
    }

    fn id(&self, task: TaskKey) -> std::sync::Arc<str> {
        self.record(task).task.id.clone()
    }

    /// Reports a task's terminal event, under its target (spec K184).
    fn report_end(&self, task: TaskKey, kind: EventKind) {
        let record = self.record(task);
        let section = self.shared.program.name(Some(record.target));
        self.shared.outbox.report(&record.task, section, kind);
    }
}

/// The error of a chain that ends while tasks it spawned still live (spec K131).
fn leak(ids: &str) -> Failure {
    let message = format!(
        "chain ended with author tasks still live: {ids}; wait on or cancel every task a chain \
         spawns before it ends"
    );
    Failure::new(Kind::TasksLive, message).with("tasks", ids)
}
