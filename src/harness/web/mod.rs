//! The web unit: fetch and search (spec T129 to T154).

mod address;
mod body;
mod excerpt;
mod fetch;
mod fetch_arguments;
mod fetch_failure;
pub mod html;
mod media;
mod page;
mod policy;
pub mod search;

pub use address::AddressRange;
pub use policy::{Addresses, FetchPolicy};

use std::sync::Arc;

use super::CancelToken;
use super::model::Abort;
use super::unit::Unit;
use crate::engine::tool::{ToolClass, ToolFailure, UnitTool};
use crate::lua::Data;
use crate::prompt::Dialect;
use fetch::Fetch;
use search::SearchProvider;

/// The web unit. Both of its tools are plain and untrusted, and keep nothing from one call to the
/// next (spec T129, T97).
#[derive(Debug)]
pub struct Web {
    fetch: Fetch,
    search: Arc<dyn SearchProvider>,
}

impl Web {
    /// A web unit that fetches by a policy and searches with a provider.
    pub fn new(policy: FetchPolicy, search: Arc<dyn SearchProvider>) -> Self {
        Self {
            fetch: Fetch::new(policy),
            search,
        }
    }
}

impl Unit for Web {
    fn vendor(&self, dialect: Dialect) -> &str {
        match dialect {
            Dialect::PromptForge => "promptforge",
            Dialect::Runvil => "runvil",
        }
    }

    fn name(&self) -> &str {
        "web"
    }

    fn needs(&self, dialect: Dialect) -> Vec<String> {
        vec![format!("{}/search-provider", self.vendor(dialect))]
    }

    fn prelude(&self, _: Dialect) -> Option<&str> {
        None
    }

    fn ready(&self, _: &CancelToken) -> Result<(), String> {
        Ok(())
    }

    /// Fetch and search, in that order (spec T129, T130, T132).
    fn tools(&self, _: Dialect) -> Vec<UnitTool> {
        let tool = |name: &str, description: &str, parameters| UnitTool {
            name: name.into(),
            description: description.into(),
            parameters,
            trusted: false,
            structured: false,
        };
        vec![
            tool(
                "fetch",
                "Fetch a web page and return its main content as markdown.",
                self.fetch.schema(),
            ),
            tool(
                "search",
                "Search the web and return a list of results (title, url, description).",
                search::schema(),
            ),
        ]
    }

    fn call(
        &self,
        tool: &str,
        shown: &str,
        arguments: &Data,
        abort: &Abort,
    ) -> Result<String, ToolFailure> {
        match tool {
            "fetch" => self.fetch.call(arguments, abort),
            "search" => search::call(&*self.search, arguments, abort),
            _ => Err(ToolFailure::new(
                ToolClass::InvalidArguments,
                format!("{shown} is no tool of the web unit"),
            )),
        }
    }
}
