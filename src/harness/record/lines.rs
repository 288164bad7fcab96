//! What a run does, as lines: the same whether they are recorded or compared with a record.

use std::io;

use super::events::Events;
use super::place::Place;
use super::write;
use crate::engine::{Answer, CancelPoint, EffectId, Item, Step, Unanswered};

/// Writes what a run does as lines. It keeps the coordinates of the effects that have no answer.
#[derive(Debug, Default)]
pub(in crate::harness) struct Lines {
    open: Unanswered<Box<Place>>,
    events: Events,
    /// The room of the last one that was answered.
    spare: Option<Box<Place>>,
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
                    let mut place = self.spare.take().unwrap_or_default();
                    place.move_to(issued, at);
                    write::effect(out, &place, &issued.effect)?;
                    self.open.insert(issued.id, place);
                }
            }
        }
        for (id, how) in &step.withdrawn {
            if let Some(place) = self.open.remove(*id) {
                write::withdrawal(out, &place, at, *how);
                count += 1;
            }
        }
        Ok(count)
    }

    /// The effect that was put out last, if it has no answer, with its coordinates.
    #[inline]
    pub(super) fn last(&self) -> Option<(EffectId, &Place)> {
        self.open.last().map(|(id, place)| (id, &**place))
    }

    /// The coordinates of an effect that has no answer.
    pub(super) fn get(&self, id: EffectId) -> Option<&Place> {
        self.open.get(id).map(|place| &**place)
    }

    /// An effect has its answer.
    pub(in crate::harness) fn close(&mut self, id: EffectId) {
        if let Some(place) = self.open.remove(id) {
            self.spare = Some(place);
        }
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
        let Some(place) = self.open.remove(id) else {
            return Ok(false);
        };
        write::answer(out, &place, at, answer)?;
        self.spare = Some(place);
        Ok(true)
    }
}
