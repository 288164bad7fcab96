//! Which unit serves which tool of a run.

use std::collections::HashMap;
use std::sync::Arc;

use super::model::Abort;
use super::unit::{ActiveUnit, Call, Deed};
use crate::engine::effect::ToolRequest;

/// The tools that a run can reach, fixed for all of it (spec T36).
#[derive(Debug, Default)]
pub(super) struct Tools(HashMap<Arc<str>, Served>);

/// A tool: its unit, and its short name there.
#[derive(Debug)]
struct Served {
    unit: Arc<dyn ActiveUnit>,
    name: Arc<str>,
}

impl Tools {
    /// Has a unit serve a tool, by its whole name and its short one.
    pub(super) fn insert(&mut self, whole: Arc<str>, name: Arc<str>, unit: Arc<dyn ActiveUnit>) {
        self.0.insert(whole, Served { unit, name });
    }

    /// What is to be done for a call; `None` where no unit has the tool.
    pub(super) fn take(
        &self,
        request: Arc<ToolRequest>,
        task: Arc<str>,
        abort: Abort,
    ) -> Option<Deed> {
        let Served { unit, name } = self.0.get(&request.tool)?;
        Some(unit.clone().take(Call {
            tool: name.clone(),
            request,
            task,
            abort,
        }))
    }
}
