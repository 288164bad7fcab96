//! Notices: what a model is told of the ends of the tasks it started (spec K165 to K168).

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

use super::ask::Talk;
use super::event::EventKind;
use super::run::Run;
use super::task::{End, State, TaskKey};
use super::untrusted::wrap;

/// The end of a task, as the model that started it reads it.
#[derive(Debug)]
struct Notice {
    task: TaskKey,
    text: Arc<str>,
}

/// The notices of a chain that nobody has taken, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Notices(RefCell<VecDeque<Notice>>);

impl Notices {
    pub(super) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Their texts, in the order they came.
    pub(super) fn texts(&self) -> Vec<Arc<str>> {
        let notices = self.0.borrow();
        notices.iter().map(|notice| notice.text.clone()).collect()
    }
}

impl Run {
    /// Tells the model that started a task how it has ended, if a model did. The notice of an
    /// abandoned one is reported and read by nobody: its owner has ended (spec K166).
    pub(super) fn notify(&mut self, task: TaskKey) {
        let record = self.record_mut(task);
        let Some(talk) = record.told.take() else {
            return;
        };
        let record = self.record(task);
        let State::Ended(end) = &record.state else {
            return;
        };
        let end = match end {
            End::Succeeded(text) => {
                let wrapped = wrap(&self.shared.nonce, text.as_bytes());
                format!("completed: {}", String::from_utf8_lossy(&wrapped))
            }
            End::Failed(failure) => format!("failed: {failure}"),
            End::Cancelled => "was canceled: the author cancelled it".to_owned(),
            End::Abandoned(reason) => format!("was abandoned: {}", reason.phrase()),
            End::Delivered { .. } => return,
        };
        let id = record.task.id.clone();
        let target = self.shared.program.name(Some(record.target));
        let text: Arc<str> = format!("Task id={id} (## {target}) {end}").into();
        let owner = &self.record(record.owner.0).task;
        let event = EventKind::TaskNotice {
            turn: owner.turns(),
            task: id,
            text: text.clone(),
        };
        let section = self.shared.program.name(talk.section.get());
        self.shared.outbox.report(owner, section, event);
        if !matches!(record.state, State::Ended(End::Abandoned(_))) {
            let notice = Notice { task, text };
            talk.notices.0.borrow_mut().push_back(notice);
        }
    }

    /// Takes the oldest notices of a chain. All that their tasks did comes before what the chain
    /// does next (spec K108).
    pub(super) fn take_notices(&mut self, talk: &Talk, count: usize) -> Vec<Arc<str>> {
        let mut notices = talk.notices.0.borrow_mut();
        let count = count.min(notices.len());
        let taken = notices.drain(..count).map(|Notice { task, text }| {
            self.claims.order.join(task);
            text
        });
        taken.collect()
    }
}
