//! What is learned from a record on the way to where its run goes on (spec R16).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::contents::{self, Contents, Verdict};
use super::error::ResumeError;
use super::skipped::{Asked, Resumed};
use crate::engine::store::{StoreOp, StoreValue};
use crate::engine::{Answer, Effect, EffectId, Event, Issued};
use crate::harness::Store;
use crate::harness::model::Broker;
use crate::harness::replay::Follow;
use crate::harness::unit::{Answers, Operator};

/// The tool that asks the operator, in either dialect.
const ASKS: [&str; 2] = ["user-input/ask", "promptforge/user-input/ask"];

/// The run's store while its record is followed.
pub(super) enum Files {
    /// It was in memory, and is built again.
    Rebuilt(Store),
    /// It is the Host's, and is looked at once the record has been followed.
    Host(Store, Contents),
}

/// Follows a record that a run goes on from.
pub(super) struct Following<'a> {
    observe: &'a mut dyn FnMut(&Event),
    files: Files,
    broker: Option<Arc<dyn Broker>>,
    rounds: Asked,
    questions: Questions,
    /// The answers of the operations that were performed on a store in memory and not answered yet.
    performed: BTreeMap<EffectId, Answer>,
    /// The operations on a Host's store that have no answer, in issue order.
    unanswered: Vec<Unanswered>,
}

/// A store that is as the record leaves it.
pub(super) struct Settled<'a> {
    pub(super) store: Store,
    /// The answers of the operations without an answer that are done.
    pub(super) done: BTreeMap<EffectId, Answer>,
    pub(super) observe: &'a mut dyn FnMut(&Event),
}

/// What the operator was asked: how many questions have an answer, and how many wait for one.
#[derive(Clone, Copy, Default)]
struct Questions {
    answered: usize,
    open: usize,
}

fn is_question(effect: &Effect) -> bool {
    matches!(effect, Effect::Tool(request) if ASKS.contains(&&*request.tool))
}

/// An operation on a Host's store that has no answer.
struct Unanswered {
    id: EffectId,
    op: StoreOp,
    /// Whether one is wanted.
    is_wanted: bool,
    /// Whether it was performed: something came after its step.
    is_performed: bool,
}

impl<'a> Following<'a> {
    pub(super) fn new(
        files: Files,
        broker: Option<Arc<dyn Broker>>,
        observe: &'a mut dyn FnMut(&Event),
    ) -> Self {
        Self {
            observe,
            files,
            broker,
            rounds: Asked::default(),
            questions: Questions::default(),
            performed: BTreeMap::new(),
            unanswered: Vec::new(),
        }
    }

    fn close(&mut self, issued: &Issued) {
        if let Effect::Model(_) = &issued.effect {
            self.rounds.close(issued.id, |round| {
                if let Some(broker) = &self.broker {
                    broker.skip(round);
                }
            });
        }
    }

    /// The broker of the run as it goes on, the record's rounds having gone by.
    pub(super) fn broker(&mut self) -> Option<Arc<dyn Broker>> {
        let asked = Mutex::new(std::mem::take(&mut self.rounds));
        let inner = self.broker.take()?;
        Some(Arc::new(Resumed { inner, asked }))
    }

    /// The operator of the run as it goes on. Where the record has the answers to all that was asked,
    /// nobody needs to be there: then there is no answer left for another question.
    pub(super) fn operator(&self, given: Option<Arc<dyn Operator>>) -> Option<Arc<dyn Operator>> {
        let Questions { answered, open } = self.questions;
        match given {
            None if answered > 0 && open == 0 => Some(Arc::new(Answers::default())),
            given => given,
        }
    }

    /// Looks at a Host's store, and has done what must be done though nobody waits for it (spec
    /// S44). Gives the store, and the answers of the operations that are done. `is_recorded` says
    /// whether the record has the last step whole: else nothing of it was begun.
    ///
    /// # Errors
    /// The store is not as the record leaves it.
    pub(super) fn settle(self, is_recorded: bool) -> Result<Settled<'a>, ResumeError> {
        let observe = self.observe;
        let (store, known) = match self.files {
            Files::Rebuilt(store) => {
                let done = self.performed;
                return Ok(Settled {
                    store,
                    done,
                    observe,
                });
            }
            Files::Host(store, known) => (store, known),
        };
        let ops: Vec<&StoreOp> = self.unanswered.iter().map(|last| &last.op).collect();
        if let Some(path) = known.difference(&store, &ops) {
            return Err(ResumeError::Contents { path });
        }
        let (sure, last): (Vec<_>, Vec<_>) = self
            .unanswered
            .iter()
            .map(|last| (last, known.verdict(&store, &last.op)))
            .partition(|(last, _)| last.is_performed);
        let verdicts: Vec<Verdict> = last.iter().map(|(_, verdict)| *verdict).collect();
        let count = match is_recorded {
            true => contents::done(&verdicts),
            false => Some(0),
        };
        let is_neither = |(_, verdict): &&(_, Verdict)| *verdict == Verdict::Neither;
        if let Some((other, _)) = sure.iter().find(is_neither).or(match count {
            Some(_) => None,
            None => last.iter().find(is_neither).or(last.first()),
        }) {
            let path = other.op.target().unwrap_or_default();
            return Err(ResumeError::Contents { path: path.into() });
        }
        // One that was performed and has left nothing has failed, and fails again.
        let sure = sure
            .into_iter()
            .map(|(op, verdict)| (op, verdict != Verdict::NotDone));
        let last = last.into_iter().enumerate();
        let last = last.map(|(at, (op, _))| (op, Some(at) < count));
        let mut done = BTreeMap::new();
        for (
            Unanswered {
                id, op, is_wanted, ..
            },
            is_done,
        ) in sure.chain(last)
        {
            match (is_done && op.changes(), is_wanted) {
                (true, true) => drop(done.insert(*id, Answer::Store(Ok(StoreValue::Null)))),
                // Nobody hears what comes of it.
                (false, false) => drop(store.perform(op)),
                _ => {}
            }
        }
        Ok(Settled {
            store,
            done,
            observe,
        })
    }

    /// Something follows the last step: what it asked for was performed.
    fn is_performed(&mut self) {
        let Files::Host(_, known) = &mut self.files else {
            return;
        };
        self.unanswered.retain_mut(|last| {
            last.is_performed = true;
            if !last.is_wanted {
                known.unanswered(&last.op);
            }
            last.is_wanted
        });
    }
}

impl Follow for Following<'_> {
    fn event(&mut self, event: &Event) {
        (self.observe)(event);
    }

    fn step(&mut self) {
        self.is_performed();
    }

    fn effect(&mut self, issued: &Issued) {
        match &issued.effect {
            Effect::Store { op, .. } => match &self.files {
                Files::Rebuilt(store) => {
                    let answer = Answer::Store(store.perform(op));
                    self.performed.insert(issued.id, answer);
                }
                Files::Host(..) => self.unanswered.push(Unanswered {
                    id: issued.id,
                    op: op.clone(),
                    is_wanted: true,
                    is_performed: false,
                }),
            },
            Effect::Model(round) => self.rounds.ask(issued.id, round.clone()),
            effect if is_question(effect) => self.questions.open += 1,
            Effect::Tool(_) | Effect::Timer { .. } => {}
        }
    }

    fn answered(&mut self, issued: &Issued, answer: &Answer) -> Result<(), String> {
        self.is_performed();
        self.close(issued);
        if is_question(&issued.effect) {
            self.questions.answered += 1;
            self.questions.open -= 1;
        }
        match (&mut self.files, &issued.effect, answer) {
            (Files::Rebuilt(_), Effect::Store { .. }, _) => {
                match self.performed.remove(&issued.id) {
                    Some(performed) if performed != *answer => {
                        Err("the store has another answer".to_owned())
                    }
                    _ => Ok(()),
                }
            }
            (Files::Host(_, known), Effect::Store { op, .. }, Answer::Store(answer)) => {
                self.unanswered.retain(|last| last.id != issued.id);
                known.answered(op, answer);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn withdrawn(&mut self, issued: &Issued) {
        self.close(issued);
        self.questions.open -= usize::from(is_question(&issued.effect));
        self.performed.remove(&issued.id);
        let Files::Host(_, known) = &mut self.files else {
            return;
        };
        self.unanswered.retain_mut(|last| {
            let is_it = last.id == issued.id;
            last.is_wanted &= !is_it;
            if is_it && last.is_performed {
                known.unanswered(&last.op);
            }
            !(is_it && last.is_performed)
        });
    }
}
