//! Units: what brings tools to a run, a Plugin in the one dialect, a Pack in the other (spec T22).

mod answers;
mod call;
mod id;
mod operator;
mod service;
mod unbuilt;
mod user_input;

pub use answers::Answers;
pub use call::{Call, Deed};
pub(super) use id::tool_id;
pub use id::{is_segment, unit_id};
pub use operator::{Operator, Question};
pub use service::{INPUT_BROKER, SEARCH_PROVIDER, service_id};
pub use unbuilt::Unbuilt;
pub(super) use user_input::UserInput;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::CancelToken;
use crate::engine::tool::{ToolFailure, UnitTool};
use crate::prompt::Dialect;

/// Something that brings tools to runs, as a Host has it. One unit may serve several runs, one
/// after another and at once.
pub trait Unit: fmt::Debug + Send + Sync {
    /// Who makes it: the first segment of its id, by dialect.
    fn vendor(&self, dialect: Dialect) -> &str;

    /// Its id within what its vendor makes: the Pack id.
    fn name(&self) -> &str;

    /// The ids of the host services it needs, by dialect (spec T23).
    fn needs(&self, _dialect: Dialect) -> Vec<String> {
        Vec::new()
    }

    /// The Plugins it cannot be activated beside, by their ids (spec T28).
    fn conflicts(&self) -> &[String] {
        &[]
    }

    /// Why it could not be built, where it could not: then it serves no run (spec T34).
    fn fault(&self) -> Option<&str> {
        None
    }

    /// Begins what [`Unit::activate`] will wait for, without waiting: units that take long get ready
    /// side by side. Called before it, for each unit that it will be called for.
    fn start(&self) {}

    /// Gets ready for a run: waits until it can serve it, or the run is cancelled.
    ///
    /// # Errors
    /// Why it will not serve, as the refused run's notice names it.
    fn activate(&self, activation: &Activation<'_>) -> Result<Arc<dyn ActiveUnit>, String>;
}

/// What a unit is told of the run that it is to serve (spec T24).
#[derive(Clone, Copy, Debug)]
pub struct Activation<'a> {
    /// The dialect of the run's prompt.
    pub dialect: Dialect,
    /// The ids of the services that the run provides, as its dialect names them.
    pub services: &'a BTreeSet<String>,
    /// PromptForge: the configuration that the prompt has for it (spec T13).
    pub config: Option<&'a serde_yaml::Value>,
    /// Set off when the run is cancelled.
    pub cancel: &'a CancelToken,
}

impl Activation<'_> {
    /// The services among these that the run does not provide, in their order, each once.
    pub fn lacking(&self, needs: Vec<String>) -> Vec<String> {
        let mut lacking: Vec<String> = Vec::new();
        for need in needs {
            if !self.services.contains(&need) && !lacking.contains(&need) {
                lacking.push(need);
            }
        }
        lacking
    }
}

/// A unit as it serves one run. What it says of itself is asked for once (spec T36).
pub trait ActiveUnit: fmt::Debug + Send + Sync + 'static {
    /// Lua that defines globals for the prompts that declare it (spec T54).
    fn prelude(&self) -> Option<&str> {
        None
    }

    /// Its tools, in its order.
    fn tools(&self) -> Vec<UnitTool>;

    /// Calls a tool, on a worker thread. Once the call's abort is set off the answer is not wanted
    /// any more, and this returns soon.
    ///
    /// # Errors
    /// The tool's own failure.
    fn call(&self, call: &Call) -> Result<String, ToolFailure>;

    /// Takes a call in the order in which the run issues them, on the run's own thread, so it must
    /// not block: what takes time is the deed it gives back, which a worker thread does. By default
    /// that is [`ActiveUnit::call`].
    fn take(self: Arc<Self>, call: Call) -> Deed {
        Box::new(move || self.call(&call))
    }
}
