//! Model rounds: how they leave a run, and what becomes of their replies (spec M32, M42, M47, K188).

use std::cell::Cell;
use std::sync::Arc;

use super::ask::{Ask, Batch};
use super::catalog::Catalog;
use super::effect::{Effect, EffectId};
use super::event::{AssistantReply, EventKind};
use super::model::{Body, FailureClass, ModelFailure, Origin, Reply as Answered, Round, Tool};
use super::run::{Deed, InFlight, Run};
use super::strand::Slice;
use super::task::{Rest, State, TaskKey};
use crate::lua::{Class, Data, Failure, Kind, Object, Reply};

/// Where a round in flight is asked: the coordinates that its events will have, but for their numbers
/// (spec K182, K188).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundPlace {
    /// The run's name.
    pub execution: Arc<str>,
    /// The id of the nearest task.
    pub task: Arc<str>,
    /// The heading text of the section it is reported under.
    pub section: Arc<str>,
    /// The round's number in its task, from 1. A round that fails takes none, so the next has the
    /// same.
    pub turn: u32,
}

impl Run {
    /// Where a round is asked; `None` where no round with this id is in flight.
    pub fn round_place(&self, id: EffectId) -> Option<RoundPlace> {
        let InFlight {
            task,
            deed: Deed::Round(_),
        } = self.in_flight.get(id)?
        else {
            return None;
        };
        let record = self.record(*task);
        let State::Resting(strand) = &record.state else {
            return None;
        };
        Some(RoundPlace {
            execution: self.shared.execution.clone(),
            task: record.task.id.clone(),
            section: strand.section(),
            turn: record.task.turns().saturating_add(1),
        })
    }

    /// Puts a round out, and with it the notices that it was made with.
    pub(super) fn round(&mut self, task: TaskKey, ask: Box<Ask>) -> Option<Slice> {
        self.take_notices(&ask.talk, ask.notices);
        let counter: &Cell<u64> = &self.shared.rounds;
        let round = counter.replace(counter.get() + 1);
        let options = ask.handle.options;
        let effect = Effect::Model(Arc::new(Round {
            round,
            origin: ask.origin,
            model: ask.handle.model.clone(),
            messages: ask.messages.clone(),
            tools: ask.tools.clone(),
            temperature: options.temperature,
            max_tokens: options.max_tokens,
            thinking: ask.handle.thinking,
        }));
        let id = self.issue(task, effect, Deed::Round(ask));
        self.record_mut(task).rest = Rest::Effect(id);
        None
    }

    /// Judges what a round came to, and reports it: what the waiting call gives or raises.
    pub(super) fn round_answered(
        &self,
        task: TaskKey,
        ask: Ask,
        answer: Result<Box<Answered>, ModelFailure>,
    ) -> Result<Reply, Failure> {
        let report = |kind| self.report(task, kind);
        let reply = match answer {
            Ok(reply) => *reply,
            Err(failure) => {
                report(EventKind::Plain("model_turn_failed"));
                return match (ask.origin, failure.class) {
                    (Origin::Chat, FailureClass::Overflow) => Ok(Reply::Text("overflow".into())),
                    _ => Err(failed(failure)),
                };
            }
        };
        let turn = self.record(task).task.next_turn();
        if let (Origin::Chat, Some(usage)) = (ask.origin, reply.metrics.usage) {
            let mut memory = ask.talk.memory.borrow_mut();
            memory.remember(ask.messages.clone(), ask.handle.model.clone(), usage);
        }
        let judged = judge(&ask, turn, &reply, &self.shared.catalog);
        let is_blank = matches!(&reply.body, Body::Text(text) if is_blank(text));
        let completed = judged.is_ok() || ask.origin == Origin::Chat;
        report(EventKind::Plain(match completed {
            true => "model_turn_completed",
            false => "model_turn_failed",
        }));
        let Answered {
            body,
            finish_reason,
            reasoning,
            model,
            metrics,
            degraded,
        } = reply;
        for message in degraded {
            report(EventKind::Degraded { turn, message });
        }
        if !reasoning.is_empty() {
            report(EventKind::Thinking {
                turn,
                model: model.clone(),
                text: reasoning,
            });
        }
        match body {
            Body::Text(text) if !is_blank => {
                if finish_reason.as_deref() == Some("length") {
                    report(EventKind::Plain("model_turn_truncated"));
                }
                let origin = ask.origin.tag();
                report(EventKind::AssistantReply(Box::new(AssistantReply {
                    turn,
                    text,
                    finish_reason,
                    model,
                    origin,
                    metrics,
                })));
            }
            Body::Calls(calls) if completed => {
                let calls = calls.into();
                report(EventKind::AssistantToolCalls { turn, model, calls });
                if judged.is_err() {
                    report(EventKind::Plain("tool_call_failed"));
                }
            }
            _ => {}
        }
        judged
    }
}

/// What a reply gives to the call that waits for it, or why the call fails.
fn judge(ask: &Ask, turn: u32, reply: &Answered, catalog: &Catalog) -> Result<Reply, Failure> {
    let finish_reason = reply.finish_reason.as_deref();
    match (ask.origin, &reply.body) {
        (Origin::Infer, Body::Text(text)) if !is_blank(text) => Ok(Reply::Shared(text.clone())),
        (Origin::Infer, Body::Calls(_)) => Err(Failure::lua(
            "model inference received tool calls but no tools were advertised",
        )),
        (Origin::Chat, Body::Calls(calls)) => {
            let outside = calls
                .iter()
                .find(|call| ask.tools.iter().all(|tool| tool.name != call.name));
            match outside {
                Some(call) => Err(out_of_scope(&call.name, &ask.tools, catalog)),
                None => {
                    ask.talk.replayed.keep(calls);
                    let records = calls.iter().map(super::model::ToolCall::record);
                    let batch = Batch {
                        turn,
                        calls: calls.as_slice().into(),
                    };
                    Ok(Reply::Several(vec![
                        Reply::Text("calls".into()),
                        Reply::Data(Data::list(records.collect::<Vec<_>>())),
                        Reply::Object(Object::opaque(batch)),
                    ]))
                }
            }
        }
        (Origin::Chat, Body::Text(text)) if !is_blank(text) => Ok(Reply::Several(vec![
            Reply::Text("text".into()),
            Reply::Shared(text.clone()),
        ])),
        (Origin::Chat, Body::Text(_)) if ask.answered && finish_reason == Some("stop") => {
            Ok(Reply::Several(vec![
                Reply::Text("text".into()),
                Reply::Text(String::new()),
            ]))
        }
        (_, Body::Text(_)) => {
            let text = "the model replied with no text and no tool calls";
            let failure = Failure::new(Kind::EmptyModelReply, text);
            Err(match finish_reason {
                Some(reason) => failure.with("finish_reason", reason),
                None => failure,
            })
        }
    }
}

/// Empty or whitespace only (spec M42).
fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// A failed round as its call raises it (spec M68).
fn failed(failure: ModelFailure) -> Failure {
    let report = failure
        .cause
        .map(|cause| format!("{}: {cause}", failure.message));
    Failure {
        class: Class::Completion,
        report,
        ..Failure::new(Kind::Internal, failure.message)
    }
}

/// A model called a tool that its round did not offer (spec M43, T101).
fn out_of_scope(name: &str, offered: &[Tool], catalog: &Catalog) -> Failure {
    let mut aliases: Vec<String> = offered
        .iter()
        .map(|tool| format!("{:?}", tool.name))
        .collect();
    aliases.sort();
    let message = format!(
        "tool {name:?} is not in this section's scope; in-scope aliases: [{}]{}",
        aliases.join(", "),
        catalog.unoffered(name)
    );
    Failure::new(Kind::OutOfScopeTool, message).with("name", name)
}
