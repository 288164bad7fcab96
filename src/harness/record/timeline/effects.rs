//! What effects and their answers say.

use super::builder::{Builder, Pending, PendingKind};
use super::item::{Call, Served, State, Wait, What, Write};
use super::talk::{Before, Failure, Reply, Round};
use crate::engine::store::StoreOp;
use crate::engine::tool::ToolClass;
use crate::engine::{Answer, Effect, ToolRequest, Withdrawal};
use crate::harness::record::{AnswerLine, Answered, EffectLine};

/// The operator's tool, in either dialect (spec T121).
const ASK: [&str; 2] = ["user-input/ask", "promptforge/user-input/ask"];

impl Builder {
    /// An effect was issued.
    pub(super) fn effect(&mut self, line: EffectLine) {
        let track = self.place(&line.task);
        let limit = self.detail.text;
        let (item, kind) = match line.effect {
            Effect::Model(round) => {
                self.totals(track).rounds += 1;
                let before = self.going[track].before.as_ref();
                let shown = Round::new(&round, before, self.detail.messages, limit);
                if self.detail.messages {
                    self.going[track].before = Some(Before::new(&round));
                }
                let item = self.add(track, What::Round(Box::new(shown)));
                (item, PendingKind::Round)
            }
            Effect::Tool(request) => {
                let call_id = request.call_id.clone();
                let call = self.call(track, &request);
                let item = self.add(track, What::Call(Box::new(call)));
                (item, PendingKind::Call(call_id))
            }
            Effect::Store { op, .. } => match self.write(&op) {
                Some(write) => {
                    self.totals(track).writes += 1;
                    let item = self.add(track, What::Write(Box::new(write)));
                    (item, PendingKind::Other)
                }
                None => {
                    if !matches!(op, StoreOp::Open { .. }) {
                        self.totals(track).reads += 1;
                        if let Some(section) = self.section(track) {
                            section.reads += 1;
                        }
                    }
                    return;
                }
            },
            Effect::Timer { timer, seconds } => {
                let item = self.add(track, What::Wait(Wait { timer, seconds }));
                (item, PendingKind::Other)
            }
        };
        self.pending.insert(line.id, Pending { track, item, kind });
    }

    fn call(&mut self, track: usize, request: &ToolRequest) -> Call {
        let is_question = ASK.contains(&&*request.tool);
        match is_question {
            true => self.totals(track).questions += 1,
            false => self.totals(track).calls += 1,
        }
        Call {
            tool: request.tool.clone(),
            served: match is_question {
                true => Served::Operator,
                false => Served::Unit,
            },
            by_model: request.call_id.is_some(),
            arguments: self.clip(&request.arguments.to_json()),
            output: None,
            failure: None,
        }
    }

    /// The change that an operation makes; `None` for one that makes none.
    fn write(&self, op: &StoreOp) -> Option<Write> {
        let (op, path, contents) = match op {
            StoreOp::Write { path, contents } => ("write", path, contents.as_str()),
            StoreOp::Append { path, contents } => ("append", path, contents.as_str()),
            StoreOp::Replace { path, new, .. } => ("replace", path, new.as_str()),
            StoreOp::Delete { path } => ("delete", path, ""),
            StoreOp::Read { .. }
            | StoreOp::ReadNumbered { .. }
            | StoreOp::Exists { .. }
            | StoreOp::Glob { .. }
            | StoreOp::Open { .. } => return None,
        };
        Some(Write {
            op,
            path: path.clone(),
            contents: self.clip(contents),
            failure: None,
        })
    }

    /// An effect was answered. One whose answer does not fit is left as it is.
    pub(super) fn answer(&mut self, line: AnswerLine) {
        let Some(pending) = self.pending.remove(&line.id) else {
            return;
        };
        let (track, item) = (pending.track, pending.item);
        let answer = match line.answer {
            Answered::Taken(answer) => answer,
            Answered::Withdrawn(Withdrawal::Dropped) => {
                return self.end(track, item, State::Dropped);
            }
            Answered::Withdrawn(Withdrawal::Interrupted) => {
                return self.end(track, item, State::Stopped);
            }
        };
        let has_failed = matches!(
            answer,
            Answer::Model(Err(_))
                | Answer::Tool(Err(_))
                | Answer::Store(Err(_))
                | Answer::Broken(_)
        );
        self.count(track, &pending.kind, &answer);
        self.keep(track, item, answer);
        let state = match has_failed {
            true => State::Failed,
            false => State::Done,
        };
        self.end(track, item, state);
    }

    fn count(&mut self, track: usize, kind: &PendingKind, answer: &Answer) {
        match (kind, answer) {
            (PendingKind::Round, Answer::Model(Ok(reply))) => {
                self.totals(track).add_tokens(&reply.metrics);
                if let Some(before) = &mut self.going[track].before {
                    before.answered(&reply.body);
                }
            }
            (PendingKind::Round, Answer::Model(Err(_))) => self.totals(track).failed_rounds += 1,
            (PendingKind::Call(id), Answer::Tool(result)) => {
                if result.is_err() {
                    self.totals(track).failed_calls += 1;
                }
                // A script has no result of a call that failed (spec K189).
                let has_result = result.is_ok() || id.is_some();
                self.going[track].answered.push((id.clone(), has_result));
            }
            _ => {}
        }
    }

    fn keep(&mut self, track: usize, item: Option<usize>, answer: Answer) {
        let limit = self.detail.text;
        let Some(item) = self.item(track, item) else {
            return;
        };
        match (&mut item.what, answer) {
            (What::Round(round), Answer::Model(Ok(reply))) => {
                round.reply = Some(Reply::new(*reply, limit));
            }
            (What::Round(round), Answer::Model(Err(failure))) => {
                round.failure = Some(Failure::of_model(&failure, limit));
            }
            (What::Round(round), Answer::Broken(text)) => {
                round.failure = Some(Failure::plain("internal", &text, limit));
            }
            (What::Call(call), Answer::Tool(Ok(output))) => {
                call.output = Some(super::Clip::new(&output, limit));
            }
            (What::Call(call), Answer::Tool(Err(failure))) => {
                call.failure = Some(Failure::of_tool(&failure, limit));
            }
            (What::Call(call), Answer::Broken(text)) => {
                let class = ToolClass::Backend.name();
                call.failure = Some(Failure::plain(class, &text, limit));
            }
            (What::Write(write), Answer::Store(Err(failure))) => {
                write.failure = Some(Failure::of_store(&failure, limit));
            }
            _ => {}
        }
    }
}
