//! The web unit: fetch and search (spec T129 to T154).

mod address;
mod body;
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

use super::unit::{Activation, ActiveUnit, Call, SEARCH_PROVIDER, Unit, service_id};
use crate::engine::tool::{ToolClass, ToolFailure, UnitTool};
use crate::prompt::Dialect;
use fetch::Fetch;
use search::SearchProvider;

/// The web unit. Both of its tools are plain and untrusted, and keep nothing from one call to the
/// next (spec T129, T97). All runs share it.
#[derive(Clone, Debug)]
pub struct Web(Arc<Tools>);

#[derive(Debug)]
struct Tools {
    fetch: Fetch,
    search: Arc<dyn SearchProvider>,
}

impl Web {
    /// A web unit that fetches by a policy and searches with a provider.
    pub fn new(policy: FetchPolicy, search: Arc<dyn SearchProvider>) -> Self {
        Self(Arc::new(Tools {
            fetch: Fetch::new(policy),
            search,
        }))
    }
}

impl Unit for Web {
    fn vendor(&self, dialect: Dialect) -> &str {
        dialect.key()
    }

    fn name(&self) -> &str {
        "web"
    }

    fn needs(&self, dialect: Dialect) -> Vec<String> {
        vec![service_id(SEARCH_PROVIDER, dialect)]
    }

    /// It has its provider already, and is ready at once.
    fn activate(&self, _: &Activation<'_>) -> Result<Arc<dyn ActiveUnit>, String> {
        Ok(self.0.clone())
    }
}

impl ActiveUnit for Tools {
    /// Fetch and search, in that order (spec T129, T130, T132).
    fn tools(&self) -> Vec<UnitTool> {
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

    fn call(&self, call: &Call) -> Result<String, ToolFailure> {
        match &*call.tool {
            "fetch" => self.fetch.call(call.arguments(), &call.abort),
            "search" => search::call(&*self.search, call.arguments(), &call.abort),
            _ => Err(ToolFailure::new(
                ToolClass::InvalidArguments,
                format!("{} is no tool of the web unit", call.shown()),
            )),
        }
    }
}
