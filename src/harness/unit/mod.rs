//! Units: what brings tools to a run, a Plugin in the one dialect, a Pack in the other (spec T22).

use std::fmt;

use super::CancelToken;
use super::model::Abort;
use crate::engine::tool::{ToolFailure, UnitTool};
use crate::lua::Data;
use crate::prompt::Dialect;

/// Something that brings tools to runs. One unit may serve several runs, one after another and at
/// once.
pub trait Unit: fmt::Debug + Send + Sync {
    /// Who makes it: the first segment of its id, by dialect.
    fn vendor(&self, dialect: Dialect) -> &str;

    /// Its id within what its vendor makes: the Pack id.
    fn name(&self) -> &str;

    /// The ids of the host services it needs, by dialect (spec T23).
    fn needs(&self, dialect: Dialect) -> Vec<String>;

    /// The Plugins it cannot be activated beside, by their ids (spec T28).
    fn conflicts(&self) -> &[String] {
        &[]
    }

    /// Lua that defines globals for the prompts that declare it (spec T54).
    fn prelude(&self, dialect: Dialect) -> Option<&str>;

    /// Waits until it can serve, or the run is cancelled.
    ///
    /// # Errors
    /// Why it will not.
    fn ready(&self, cancel: &CancelToken) -> Result<(), String>;

    /// Its tools, once it is ready; fixed from then on.
    fn tools(&self, dialect: Dialect) -> Vec<UnitTool>;

    /// Calls a tool by its short name, on a worker thread. `shown` is the tool's whole name, for
    /// messages. Once `abort` is set off the answer is not wanted any more.
    ///
    /// # Errors
    /// The tool's own failure.
    fn call(
        &self,
        tool: &str,
        shown: &str,
        arguments: &Data,
        abort: &Abort,
    ) -> Result<String, ToolFailure>;
}
