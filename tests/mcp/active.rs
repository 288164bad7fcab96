//! A unit as a run gets it, without a run.

use std::collections::BTreeSet;
use std::sync::Arc;

use runvil::engine::effect::ToolRequest;
use runvil::harness::CancelToken;
use runvil::harness::model::Abort;
use runvil::harness::unit::{Activation, ActiveUnit, Call, Unit};
use runvil::lua::Data;
use runvil::prompt::Dialect;

/// A unit as a run gets it.
pub fn activate(unit: &dyn Unit, cancel: &CancelToken) -> Result<Arc<dyn ActiveUnit>, String> {
    unit.activate(&Activation {
        dialect: Dialect::Runvil,
        services: &BTreeSet::new(),
        config: None,
        cancel,
    })
}

/// A call by a script.
pub fn call(tool: &str, shown: &str, arguments: Data, abort: &Abort) -> Call {
    Call {
        tool: tool.into(),
        request: Arc::new(ToolRequest {
            tool: shown.into(),
            call_id: None,
            arguments,
        }),
        task: "0".into(),
        abort: abort.clone(),
    }
}
