//! What a run does, as lines: the same whether they are recorded or compared with a record.

use std::io;
use std::sync::Arc;

use super::open::Open;
use super::plain::Events;
use super::write::{self, Place};
use crate::engine::{Answer, CancelPoint, EffectId, Issued, Item, Step};

/// Writes what a run does as lines. It keeps the coordinates of the effects that have no answer.
#[derive(Debug, Default)]
pub(in crate::harness) struct Lines {
    open: Open<(Arc<str>, u32)>,
    events: Events,
}

impl Lines {
    /// Writes what a step put out: the cancel that took effect in it, its events and effects in one
    /// sequence, and the answers of the effects that it withdrew (spec R14). Gives how many lines
    /// these are.
    ///
    /// # Errors
    /// What is to be written has no JSON form.
    pub(in crate::harness) fn step(
        &mut self,
        out: &mut Vec<u8>,
        step: &Step,
        at: u64,
    ) -> io::Result<u64> {
        let mut count = step.items.len() as u64;
        if let Some(point) = step.cancelled {
            let after = match point {
                CancelPoint::Between => None,
                CancelPoint::After(items) => Some(items),
            };
            write::cancel(out, at, after)?;
            count += 1;
        }
        for item in &step.items {
            match item {
                Item::Event(event) => self.events.write(out, event)?,
                Item::Effect(issued) => {
                    write::effect(out, issued, at)?;
                    self.open(issued);
                }
            }
        }
        for (id, how) in &step.withdrawn {
            if let Some((task, seq)) = self.open.remove(*id) {
                let (task, id) = (&*task, *id);
                write::withdrawal(out, Place { task, seq, id }, at, *how);
                count += 1;
            }
        }
        Ok(count)
    }

    /// An effect has no answer yet.
    pub(in crate::harness) fn open(&mut self, issued: &Issued) {
        let place = (issued.task.clone(), issued.seq);
        self.open.insert(issued.id, place);
    }

    /// An effect has its answer.
    pub(in crate::harness) fn close(&mut self, id: EffectId) {
        self.open.remove(id);
    }

    /// Writes an answer. Gives whether its effect had none.
    ///
    /// # Errors
    /// What is to be written has no JSON form.
    pub(in crate::harness) fn answer(
        &mut self,
        out: &mut Vec<u8>,
        id: EffectId,
        answer: &Answer,
        at: u64,
    ) -> io::Result<bool> {
        let Some((task, seq)) = self.open.remove(id) else {
            return Ok(false);
        };
        let task = &*task;
        write::answer(out, Place { task, seq, id }, at, answer)?;
        Ok(true)
    }
}
