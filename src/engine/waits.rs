//! Waits on tasks: `join_any`, `join` and fanout, and the slots that waiting strands give back
//! (spec K99 to K114, K206, K207).

use std::collections::HashMap;
use std::sync::Arc;

use super::effect::{Effect, Withdrawal};
use super::event::EventKind;
use super::run::{Deed, Run, Wake};
use super::serve::owned;
use super::strand::Strand;
use super::task::{End, Rest, State, TaskKey, Wait, WaitKind, cancelled};
use crate::lua::{Delivery, Failure, Kind, Reply};

impl Run {
    /// Checks the members of a set (spec K102, 7 and 8), and takes what has ended already. `None`
    /// says that the strand has to wait.
    pub(super) fn wait(
        &mut self,
        task: TaskKey,
        strand: &mut Strand,
        any: bool,
        set: &[String],
        timeout: Option<f64>,
    ) -> Result<Option<Reply>, Failure> {
        let keys = set
            .iter()
            .map(|id| owned(strand, id))
            .collect::<Result<Vec<_>, _>>()?;
        for key in &keys {
            if let State::Ended(End::Delivered { .. }) = self.record(*key).state {
                let id = self.record(*key).task.id.to_string();
                let message = format!(
                    "task `{id}` was already delivered: a task's result is taken by one wait"
                );
                return Err(Failure::new(Kind::TaskConsumed, message).with("task", id));
            }
        }
        let timer = match (timeout, strand.top_mut()) {
            (Some(seconds), Some(chain)) => Some((chain.next_child().1, seconds)),
            _ => None,
        };
        let mut members = Vec::with_capacity(keys.len());
        let mut member_of = HashMap::with_capacity(keys.len());
        let mut positions = Vec::with_capacity(keys.len());
        for key in keys {
            let at = *member_of.entry(key).or_insert_with(|| {
                members.push(key);
                members.len() as u32 - 1
            });
            positions.push(at);
        }
        let ended = members
            .iter()
            .zip(0u32..)
            .filter(|(key, _)| !self.record(**key).is_live());
        let kind = match any {
            true => WaitKind::Any,
            false => WaitKind::All {
                positions,
                taken: vec![None; members.len()],
            },
        };
        let ended = ended.map(|(_, at)| at).collect();
        let wait = Wait {
            ended,
            ..Wait::new(kind, members)
        };
        self.begin_wait(task, wait);
        if let Some(answer) = self.resolve_wait(task, strand) {
            return answer.map(Some);
        }
        if let Some((timer, seconds)) = timer {
            self.set_timer(task, timer, seconds);
        }
        Ok(None)
    }

    /// Gives the wait of a strand a timer, which has taken this child id.
    pub(super) fn set_timer(&mut self, task: TaskKey, timer: Arc<str>, seconds: f64) {
        let id = self.issue(task, Effect::Timer { timer, seconds }, Deed::Timer);
        if let Rest::Tasks(wait) = &mut self.record_mut(task).rest {
            wait.timer = Some(id);
        }
    }

    /// Notes what a strand waits for.
    pub(super) fn begin_wait(&mut self, task: TaskKey, wait: Wait) {
        for (member, at) in wait.members.iter().zip(0u32..) {
            let record = self.record_mut(*member);
            if record.is_live() {
                record.awaited = Some(at);
            }
        }
        self.record_mut(task).rest = Rest::Tasks(Box::new(wait));
    }

    /// Takes what the members of a strand's wait have come to. `None` says that it goes on.
    pub(super) fn resolve_wait(
        &mut self,
        task: TaskKey,
        strand: &Strand,
    ) -> Option<Result<Reply, Failure>> {
        let rest = std::mem::replace(&mut self.record_mut(task).rest, Rest::Ready);
        let Rest::Tasks(mut wait) = rest else {
            return Some(Err(Failure::internal(
                "a strand that waits for no task was woken",
            )));
        };
        let mut ended = std::mem::take(&mut wait.ended);
        ended.sort_unstable();
        let reply = match &mut wait.kind {
            // What it has not taken can be waited for again (spec K181).
            kind if wait.interrupted => {
                if let WaitKind::Notices { .. } = kind {
                    strand.report_event(EventKind::Plain("tool_call_failed"));
                }
                Some(Err(Failure::interrupted()))
            }
            WaitKind::Notices { called, timeout } => {
                let late = timeout.filter(|_| ended.is_empty());
                let over = wait.fired || !ended.is_empty();
                over.then(|| Ok(self.awaited(strand, called.clone(), late, &wait.members)))
            }
            WaitKind::Any => match ended.first() {
                Some(first) => {
                    let member = wait.members[*first as usize];
                    Some(Ok(Reply::Delivered(Some(self.deliver(member)))))
                }
                None => wait.fired.then_some(Ok(Reply::Delivered(None))),
            },
            WaitKind::All { positions, taken } => {
                for at in ended {
                    taken[at as usize] = Some(self.deliver(wait.members[at as usize]));
                    wait.left -= 1;
                }
                let over = wait.left == 0 || wait.fired;
                over.then(|| {
                    let results = positions
                        .iter()
                        .map(|at| taken[*at as usize].clone())
                        .collect();
                    Ok(Reply::Joined(results, wait.left > 0))
                })
            }
            WaitKind::Fanout { texts, exhausted } => {
                let mut failed = None;
                for at in ended {
                    let at = at as usize;
                    let arm = wait.members[at];
                    match self.deliver(arm).result {
                        Ok(text) => texts[at] = text,
                        Err(failure) if failure.kind == Kind::ToolLoopExhausted => {
                            texts[at] = self.stub(arm);
                            exhausted.push(at);
                        }
                        Err(failure) => {
                            failed = Some(failure);
                            break;
                        }
                    }
                    wait.left -= 1;
                }
                match failed {
                    Some(failure) => {
                        self.give_up(&wait.members);
                        Some(Err(failure))
                    }
                    None if wait.left == 0 => {
                        let (texts, exhausted) = (std::mem::take(texts), std::mem::take(exhausted));
                        Some(Ok(Reply::Arms(texts, exhausted)))
                    }
                    None => None,
                }
            }
        };
        match &reply {
            None => self.record_mut(task).rest = Rest::Tasks(wait),
            Some(_) => {
                self.withdraw(wait.timer);
                if wait.left > 0 {
                    for member in wait.members {
                        self.record_mut(member).awaited = None;
                    }
                }
            }
        }
        reply
    }

    /// Takes a task's result, which orders all it did before what its owner does next (spec K104,
    /// K108).
    fn deliver(&mut self, member: TaskKey) -> Delivery {
        self.claims.order.join(member);
        let record = self.record_mut(member);
        let task = record.task.id.clone();
        let end = std::mem::replace(&mut record.state, State::Ended(End::Cancelled));
        let (result, left) = match end {
            State::Ended(End::Succeeded(text)) => (Ok(text), End::Delivered { ok: true }),
            State::Ended(End::Failed(failure)) => (Err(*failure), End::Delivered { ok: false }),
            State::Ended(other) => (Err(cancelled(&task)), other),
            _ => (Err(cancelled(&task)), End::Cancelled),
        };
        record.state = State::Ended(left);
        Delivery { task, result }
    }

    /// The text of an arm that the round cap stopped (spec K80).
    fn stub(&self, arm: TaskKey) -> Arc<str> {
        let item = self
            .record(arm)
            .item
            .as_ref()
            .map(|item| item.render())
            .unwrap_or_default();
        format!("## {item}\n\nUNKNOWN\n\n(section incomplete: tool loop exhausted)").into()
    }

    /// A fanout fails: its live arms are cancelled in the order they were started, and all are
    /// joined (spec K79, K81).
    fn give_up(&mut self, arms: &[TaskKey]) {
        for arm in arms {
            self.stop_task(*arm, End::Cancelled);
        }
        for arm in arms {
            self.deliver(*arm);
        }
        self.admit();
    }

    /// A wait goes on: the strand rests, its slot free for others.
    pub(super) fn park(&mut self, task: TaskKey, strand: Box<Strand>) {
        self.put_back(task, strand);
        self.give_slot_back(task);
        self.admit();
    }

    pub(super) fn give_slot_back(&mut self, task: TaskKey) {
        let record = self.record_mut(task);
        if std::mem::take(&mut record.slot) {
            let owner = record.owner.1;
            self.admission.release(owner);
        }
    }

    /// Lets every queued task go that has room, in spawn order (spec K209).
    pub(super) fn admit(&mut self) {
        let mut last = None;
        while let Some(task) = self.admission.admit(last) {
            last = Some(task);
            let record = self.record_mut(task);
            record.slot = true;
            let wake = match record.rest {
                Rest::Queued(_) => Wake::Wait,
                _ => Wake::Start,
            };
            self.ready.push_back((task, wake));
        }
    }

    /// A member of a wait has ended: its owner looks when it next has its turn.
    pub(super) fn wake_owner(&mut self, member: TaskKey) {
        let record = self.record_mut(member);
        let owner = record.owner.0;
        if let Some(at) = record.awaited.take() {
            self.wake(owner, |wait| wait.ended.push(at));
        }
    }

    /// A wait's time has come.
    pub(super) fn fired(&mut self, task: TaskKey) {
        self.wake(task, |wait| {
            wait.fired = true;
            wait.timer = None;
        });
    }

    /// Notes something on a wait, whose owner then looks at it once it has a slot.
    pub(super) fn wake(&mut self, task: TaskKey, note: impl FnOnce(&mut Wait)) {
        let record = self.record_mut(task);
        let chain = record.owner.1;
        match std::mem::replace(&mut record.rest, Rest::Ready) {
            Rest::Tasks(mut wait) => {
                note(&mut wait);
                record.rest = Rest::Queued(wait);
                match task {
                    TaskKey::ROOT => self.ready.push_back((task, Wake::Wait)),
                    _ => {
                        self.admission.queue(chain, task);
                        self.admit();
                    }
                }
            }
            Rest::Queued(mut wait) => {
                note(&mut wait);
                record.rest = Rest::Queued(wait);
            }
            other => record.rest = other,
        }
    }

    /// An effect's answer is not wanted any more.
    pub(super) fn withdraw(&mut self, effect: Option<super::EffectId>) {
        if let Some(id) = effect
            && self.in_flight.remove(id).is_some()
        {
            self.withdrawn.push((id, Withdrawal::Dropped));
            self.shared.outbox.drop_one();
        }
    }
}
