//! Calls of tools that live outside: how they leave a run, and what becomes of their answers (spec
//! T83 to T103).

use std::rc::Rc;
use std::sync::Arc;

use super::catalog::Bound;
use super::effect::{Effect, ToolRequest};
use super::event::{EventKind, ToolResult};
use super::run::{Deed, Run};
use super::strand::Slice;
use super::task::{Rest, TaskKey};
use super::tool::ToolFailure;
use super::toolbox::Called;
use super::untrusted::wrap;
use crate::lua::{Data, Failure, Kind, Reply};

/// A call of a unit's tool.
pub(super) struct ToolAsk {
    pub(super) bound: Rc<Bound>,
    pub(super) called: Called,
    pub(super) arguments: Data,
}

impl ToolAsk {
    fn is_model(&self) -> bool {
        !self.called.call.is_empty()
    }
}

impl Run {
    /// Puts a call out.
    pub(super) fn tool(&mut self, task: TaskKey, ask: Box<ToolAsk>) -> Option<Slice> {
        let effect = Effect::Tool(Arc::new(ToolRequest {
            tool: ask.bound.path.clone(),
            call_id: ask.is_model().then(|| ask.called.call.clone()),
            arguments: ask.arguments.clone(),
        }));
        let id = self.issue(task, effect, Deed::Tool(ask));
        self.record_mut(task).rest = Rest::Effect(id);
        None
    }

    /// Judges what a call came to, and reports it: what the waiting call gives or raises.
    pub(super) fn tool_answered(
        &self,
        task: TaskKey,
        ask: ToolAsk,
        answer: Result<String, ToolFailure>,
    ) -> Result<Reply, Failure> {
        let is_model = ask.is_model();
        let ToolAsk { bound, called, .. } = ask;
        self.report(
            task,
            EventKind::Plain(match answer {
                Ok(_) => "tool_call_succeeded",
                Err(_) => "tool_call_failed",
            }),
        );
        let wrapped = |text: &str| {
            let bytes = wrap(&self.shared.nonce, text.as_bytes());
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let trusted = bound.tool.trusted;
        let (text, trusted) = match answer {
            Ok(text) if trusted => (text, true),
            Ok(text) => (wrapped(&text), false),
            // A model is told what went wrong, as text that nobody vouches for (spec T95).
            Err(failure) if is_model => (wrapped(&failure.message), false),
            Err(failure) => {
                let text = format!("tool call failure: {failure}");
                return Err(Failure::new(Kind::Tool, text));
            }
        };
        let text: Arc<str> = text.into();
        self.report(
            task,
            EventKind::ToolResult(Box::new(ToolResult {
                turn: called.turn,
                tool_call_id: called.call,
                alias: called.alias,
                content: text.clone(),
                trusted,
            })),
        );
        if !bound.tool.structured || is_model {
            return Ok(Reply::Shared(text));
        }
        Data::from_json(&text).map(Reply::Data).map_err(|_| {
            let name = &bound.key;
            let text = format!("tool call failure: structured tool {name:?} returned invalid JSON");
            Failure::new(Kind::Tool, text)
        })
    }
}
