//! `runvil packs` (spec C12): the packs that the host has.

use std::env;

use runvil::engine::packs::PackEntry;
use runvil::harness::Log;
use runvil::prompt::Dialect;
use serde::Serialize;

use super::args::PacksArgs;
use super::cell::shown;
use super::live::Live;
use super::operator::Answering;
use super::provider::configuration;
use super::status::{SetupError, Status, cancelled};
use super::table::aligned;
use super::{console, interrupt, units};

/// Lists the packs, with their tools, or why they cannot serve.
pub fn packs(args: &PacksArgs) -> Status {
    let style = console::error_style(args.color);
    let listing = match list(args) {
        Ok(listing) => listing,
        Err(error) => return error.report(args.json, style),
    };
    let Some(listing) = listing else {
        return cancelled("cancelled", None, args.json, style);
    };
    let printed = match args.json {
        true => console::print_json(&listing),
        false => console::print(&listing.table()),
    };
    console::status_of(printed, Status::Success, style)
}

/// The packs; `None` where Ctrl-C came before all were ready.
fn list(args: &PacksArgs) -> Result<Option<Listing>, SetupError> {
    let config = configuration(args.config.as_deref())?;
    let cancel = interrupt::listen()?;
    let live = Live::new(false);
    // What is amiss is in the list itself.
    let log = Log::default();
    let harness = units::harness(&config, log, &live.host_log(), |name| env::var_os(name));
    let operator = Answering::new(&[], false, &live).operator();
    let packs = harness.units(Dialect::Runvil, operator, &cancel);
    Ok((!cancel.is_cancelled()).then(|| Listing::new(packs)))
}

/// The packs, as `--json` prints them.
#[derive(Serialize)]
struct Listing {
    packs: Vec<Row>,
}

/// A pack.
#[derive(Serialize)]
struct Row {
    id: String,
    tools: Vec<Tool>,
    /// Why it cannot serve.
    #[serde(skip_serializing_if = "Option::is_none")]
    unavailable: Option<String>,
}

/// A tool of a pack.
#[derive(Serialize)]
struct Tool {
    id: String,
    description: String,
    trusted: bool,
    structured: bool,
}

impl Listing {
    fn new(packs: Vec<PackEntry>) -> Self {
        let mut packs: Vec<_> = packs.into_iter().map(Row::new).collect();
        packs.sort_by(|a, b| a.id.cmp(&b.id));
        Self { packs }
    }

    /// A line for each pack.
    fn table(&self) -> String {
        let head = ["PACK", "TOOLS"].map(str::to_owned);
        let rows = self.packs.iter().map(Row::cells);
        aligned(&[head].into_iter().chain(rows).collect::<Vec<_>>())
    }
}

impl Row {
    fn new(pack: PackEntry) -> Self {
        let tools = pack.tools.iter().map(|tool| Tool {
            id: format!("{}/{}", pack.name, tool.name),
            description: tool.description.to_string(),
            trusted: tool.trusted,
            structured: tool.structured,
        });
        Self {
            id: pack.id(),
            tools: tools.collect(),
            unavailable: pack.reason,
        }
    }

    fn cells(&self) -> [String; 2] {
        let tools = match &self.unavailable {
            Some(reason) => format!("unavailable: {}", shown(reason)),
            None if self.tools.is_empty() => "none".to_owned(),
            None => {
                let tools = self.tools.iter().map(|tool| &*tool.id);
                tools.collect::<Vec<_>>().join(", ")
            }
        };
        [shown(&self.id), tools]
    }
}
