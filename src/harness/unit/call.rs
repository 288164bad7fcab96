//! A call of a unit's tool.

use std::sync::Arc;

use crate::engine::effect::ToolRequest;
use crate::engine::tool::ToolFailure;
use crate::harness::model::Abort;
use crate::lua::Data;

/// What a worker thread does for a call.
pub type Deed = Box<dyn FnOnce() -> Result<String, ToolFailure> + Send>;

/// A call of a tool by a run.
#[derive(Clone, Debug)]
pub struct Call {
    /// The tool's short name.
    pub tool: Arc<str>,
    /// The call as the run asks for it.
    pub request: Arc<ToolRequest>,
    /// The task that calls.
    pub task: Arc<str>,
    /// Set off when the answer is not wanted any more.
    pub abort: Abort,
}

impl Call {
    /// The tool's whole name, for messages.
    pub fn shown(&self) -> &str {
        &self.request.tool
    }

    /// The arguments, an object.
    pub fn arguments(&self) -> &Data {
        &self.request.arguments
    }
}
