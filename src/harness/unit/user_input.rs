//! The unit by which a run asks its operator (spec T121 to T128).

use std::sync::Arc;

use super::service::INPUT_BROKER;
use super::{Activation, ActiveUnit, Call, Deed, Operator, Question, Unit, service_id};
use crate::engine::tool::{ToolClass, ToolFailure, UnitTool};
use crate::lua::Data;
use crate::prompt::Dialect;

/// What a prompt is told that can do without an operator, where there is none (spec T126).
const UNAVAILABLE: &str = "User input is unavailable in this host; continue without it.";

/// The prelude that defines `input` (spec T122, T124).
macro_rules! prelude {
    ($tool:literal, $connected:literal) => {
        concat!(
            "local call = tools.call\n",
            "input = {\n",
            "  ask = function(...)\n",
            "    if select('#', ...) > 0 then fail('input.ask takes no arguments') end\n",
            "    return call('",
            $tool,
            "'), ",
            $connected,
            "\n",
            "  end,\n",
            "  connected = function() return ",
            $connected,
            " end,\n",
            "}\n",
        )
    };
}

/// The user-input unit of one run, with the operator that this run has.
#[derive(Debug)]
pub(in crate::harness) struct UserInput {
    operator: Option<Arc<dyn Operator>>,
}

impl UserInput {
    /// A unit that asks an operator, if there is one.
    pub(in crate::harness) fn new(operator: Option<Arc<dyn Operator>>) -> Self {
        Self { operator }
    }
}

impl Unit for UserInput {
    fn vendor(&self, dialect: Dialect) -> &str {
        dialect.key()
    }

    fn name(&self) -> &str {
        "user-input"
    }

    fn needs(&self, dialect: Dialect) -> Vec<String> {
        vec![service_id(INPUT_BROKER, dialect)]
    }

    /// It serves without an operator too, where a prompt declares it as optional (spec T126).
    fn activate(&self, activation: &Activation<'_>) -> Result<Arc<dyn ActiveUnit>, String> {
        Ok(Arc::new(Asking {
            operator: self.operator.clone(),
            dialect: activation.dialect,
        }))
    }
}

/// The unit as a prompt of a dialect has it.
#[derive(Debug)]
struct Asking {
    operator: Option<Arc<dyn Operator>>,
    dialect: Dialect,
}

impl ActiveUnit for Asking {
    fn prelude(&self) -> Option<&str> {
        Some(match (self.dialect, self.operator.is_some()) {
            (Dialect::Runvil, true) => prelude!("user-input/ask", "true"),
            (Dialect::Runvil, false) => prelude!("user-input/ask", "false"),
            (Dialect::PromptForge, true) => prelude!("promptforge/user-input/ask", "true"),
            (Dialect::PromptForge, false) => prelude!("promptforge/user-input/ask", "false"),
        })
    }

    fn tools(&self) -> Vec<UnitTool> {
        let parameters = Data::object([
            ("type", Data::text("object")),
            ("properties", Data::empty()),
        ]);
        vec![UnitTool {
            name: "ask".into(),
            description: "Ask the operator and wait for their next message.".into(),
            parameters,
            trusted: true,
            structured: false,
        }]
    }

    /// Asks, whatever the arguments are (spec T128).
    fn call(&self, call: &Call) -> Result<String, ToolFailure> {
        match &self.operator {
            Some(operator) => operator.ask(&question(call)).map_err(unanswered),
            None => Ok(UNAVAILABLE.to_owned()),
        }
    }

    fn take(self: Arc<Self>, call: Call) -> Deed {
        match &self.operator {
            Some(operator) => {
                let answer = operator.clone().take(question(&call));
                Box::new(move || answer().map_err(unanswered))
            }
            None => Box::new(|| Ok(UNAVAILABLE.to_owned())),
        }
    }
}

fn question(call: &Call) -> Question {
    Question {
        task: call.task.clone(),
        abort: call.abort.clone(),
    }
}

fn unanswered(message: String) -> ToolFailure {
    ToolFailure::new(ToolClass::Backend, message)
}
