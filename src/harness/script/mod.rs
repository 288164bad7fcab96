//! The scripted model: answers a run's rounds from a file, without any network (spec C8).

mod file;
mod rule;
mod wire;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::gateway::request_body;
use super::model::{Answered, Broker, Piece, Show, Taken, Tap, Terms};
use super::yaml::{self, Located, YamlError};
use crate::engine::model::{
    Body, FailureClass, Metrics, Model, ModelFailure, Reply, Round, ToolCall,
};
use file::ScriptFile;
use rule::{Act, Call, Last, Rule, Said};

/// The most characters of a message that a log shows.
const SHOWN: usize = 80;

/// A scripted model for one run: it counts how often its rules have answered, and its calls. Rounds
/// are matched as they are taken, so the same rounds in the same order get the same answers.
pub struct Script {
    model: Model,
    rules: Vec<Rule>,
    state: Mutex<State>,
    unanswered: Option<Box<Unanswered>>,
}

/// Told of a round that no rule matches.
type Unanswered = dyn Fn(u64, &str) + Send + Sync;

/// How far the script is.
struct State {
    /// How often each rule may still answer.
    left: Vec<Option<u64>>,
    /// The calls that were made.
    calls: u64,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// What is wrong with the file, with its line.
    pub fn from_yaml(text: &str) -> Result<Self, YamlError> {
        let file: ScriptFile = yaml::read(text)?;
        let rules: Vec<Rule> = file.rounds.into_iter().map(|Located(rule)| rule).collect();
        Ok(Self {
            model: file.model.into(),
            state: Mutex::new(State {
                left: rules.iter().map(|rule| rule.times).collect(),
                calls: 0,
            }),
            rules,
            unanswered: None,
        })
    }

    /// The model that it plays: the file's `model`.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Has a round that no rule matches told of, by its id and the start of its last message. The
    /// run itself only learns that its connection failed.
    pub fn on_unanswered(mut self, tell: impl Fn(u64, &str) + Send + Sync + 'static) -> Self {
        self.unanswered = Some(Box::new(tell));
        self
    }

    /// What a round is answered with: by the first rule that matches and may still answer.
    fn answer(&self, round: &Round, tap: Option<&Tap>) -> (Duration, Answered) {
        let last = Last::of(round);
        self.next(&last, tap).unwrap_or_else(|| {
            if let Some(tell) = &self.unanswered {
                tell(round.round, cut(&last.text));
            }
            let failure = ModelFailure::new(FailureClass::Connection, None);
            (Duration::ZERO, Err(failure))
        })
    }

    /// What the next round with such a last message is answered with, if it is.
    fn next(&self, last: &Last<'_>, tap: Option<&Tap>) -> Option<(Duration, Answered)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { left, calls } = &mut *state;
        let mut rules = self.rules.iter().zip(left);
        let found = rules.find(|(rule, left)| **left != Some(0) && rule.when.holds(last));
        let (rule, left) = found?;
        *left = left.map(|left| left - 1);
        let answer = match &rule.act {
            Act::Fail { failure, body } => {
                if let Some(tap) = tap {
                    tap.came(body.as_bytes());
                }
                Err(failure.clone())
            }
            Act::Reply {
                said,
                reasoning,
                finish_reason,
                usage,
            } => {
                let reply = Reply {
                    body: body(said, calls),
                    finish_reason: finish_reason.clone(),
                    reasoning: reasoning.clone(),
                    model: self.model.id.clone(),
                    metrics: Metrics {
                        usage: *usage,
                        ..Metrics::default()
                    },
                    degraded: Vec::new(),
                };
                if let Some(tap) = tap {
                    wire::tell(&reply, tap);
                }
                whole(reply)
            }
        };
        Some((rule.delay, answer))
    }
}

/// What a reply is made of, its calls with the ids that come next.
fn body(said: &Said, made: &mut u64) -> Body {
    let calls = match said {
        Said::Text(text) => return Body::Text(text.clone()),
        Said::Calls(calls) => calls,
    };
    let numbered = |call: &Call| {
        *made += 1;
        ToolCall {
            id: format!("call_{made}").into(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        }
    };
    Body::Calls(calls.iter().map(numbered).collect())
}

/// The reply, unless it is a batch of calls that was cut off: that is malformed (spec M67), and has
/// taken its ids.
fn whole(reply: Reply) -> Answered {
    match (&reply.body, reply.finish_reason.as_deref()) {
        (Body::Calls(_), Some(reason @ ("length" | "content_filter"))) => {
            Err(ModelFailure::malformed(format_args!(
                "tool-call batch truncated by finish_reason {reason:?}: partial arguments must \
                 not execute"
            )))
        }
        _ => Ok(Box::new(reply)),
    }
}

/// The start of a text.
fn cut(text: &str) -> &str {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

impl Broker for Script {
    fn take(&self, round: Arc<Round>, terms: Terms) -> Taken {
        let tap = terms.tap.as_ref();
        if let Some(tap) = tap
            && let Ok(body) = request_body(&round)
        {
            tap.request(body);
        }
        let (delay, answer) = self.answer(&round, tap);
        if let (Ok(reply), Some(show)) = (&answer, &terms.show) {
            play(reply, round.round, show);
        }
        Taken::Known(delay, answer)
    }

    fn skip(&self, round: &Round) {
        self.next(&Last::of(round), None);
    }
}

/// Shows a reply as one that arrives line by line.
fn play(reply: &Reply, round: u64, show: &Show) {
    let text = match &reply.body {
        Body::Text(text) => &**text,
        Body::Calls(_) => "",
    };
    let parts = [(true, &*reply.reasoning), (false, text)];
    let mut pieces = parts.into_iter().flat_map(|(reasoning, text)| {
        let lines = text.split_inclusive('\n');
        lines.map(move |text| Piece {
            round,
            reasoning,
            text,
        })
    });
    // One that wants no more pieces gets none.
    let _ = pieces.all(|piece| show.piece(piece));
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Script");
        shown.field("model", &self.model);
        shown.field("rules", &self.rules.len()).finish()
    }
}

#[cfg(test)]
mod tests;
