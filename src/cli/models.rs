//! `runvil models` (spec C11): the models that the host has.

use std::collections::BTreeMap;
use std::sync::Arc;

use runvil::engine::model::Thinking;
use runvil::prompt::Dialect;
use serde::Serialize;

use super::args::{HostArgs, ModelsArgs};
use super::cell::shown;
use super::console;
use super::interrupt;
use super::provider::{Catalog, Current, Provider, configuration, wire_names};
use super::source;
use super::status::{SetupError, Status, Unready, cancelled};
use super::table::aligned;

/// Lists the models, and says which is the current one, or why none is.
pub fn models(args: &ModelsArgs) -> Status {
    let style = console::error_style(args.color);
    let listing = match list(&args.host) {
        Ok(listing) => listing,
        Err(Unready::Setup(error)) => return error.report(args.json, style),
        Err(Unready::Cancelled) => return cancelled("cancelled", None, args.json, style),
    };
    let printed = match args.json {
        true => console::print_json(&listing),
        false => console::print(&listing.table()),
    };
    let status = match &listing.fault {
        Some(_) if args.json => Status::Setup,
        Some(error) => error.report(false, style),
        None => Status::Success,
    };
    console::status_of(printed, status, style)
}

fn list(args: &HostArgs) -> Result<Listing, Unready> {
    let files = [args.config.as_deref(), args.script.as_deref()];
    source::claim_stdin(files.into_iter().flatten())?;
    let config = configuration(args.config.as_deref())?;
    let provider = Provider::new(args, &config, || Dialect::Runvil)?;
    let catalog = provider.catalog(config.limits.limits(), &interrupt::listen()?)?;
    let names = match provider {
        Provider::Script { .. } => BTreeMap::new(),
        _ => wire_names(&config.models.0),
    };
    Ok(Listing::new(catalog, &names))
}

/// The models, as `--json` prints them.
#[derive(Serialize)]
struct Listing {
    models: Vec<Row>,
    /// Why there is no current model.
    #[serde(skip_serializing_if = "Option::is_none")]
    unavailable: Option<String>,
    /// The same, where nothing runs for that.
    #[serde(skip)]
    fault: Option<SetupError>,
}

/// A model.
#[derive(Serialize)]
struct Row {
    id: String,
    name: String,
    context: u32,
    thinking: Thinking,
    description: String,
    current: bool,
}

impl Listing {
    fn new(catalog: Catalog, names: &BTreeMap<Arc<str>, String>) -> Self {
        let (current, unavailable, fault) = match catalog.current {
            Current::Is(at) => (Some(at), None, None),
            Current::None(why) => (None, Some(why), None),
            Current::Absent(error) => (None, Some(error.0.clone()), Some(error)),
        };
        let models = catalog.models.into_iter().enumerate();
        Self {
            models: models
                .map(|(at, model)| Row {
                    id: model.id.to_string(),
                    name: names
                        .get(&model.id)
                        .map_or_else(|| model.id.to_string(), String::clone),
                    context: model.context,
                    thinking: model.thinking,
                    description: model.description.to_string(),
                    current: current == Some(at),
                })
                .collect(),
            unavailable,
            fault,
        }
    }

    /// A line for each model, a star before the current one; then why there is no current one,
    /// where that is no error.
    fn table(&self) -> String {
        let mut out = String::new();
        if !self.models.is_empty() {
            let head = ["  ID", "NAME", "CONTEXT", "THINKING", "DESCRIPTION"].map(str::to_owned);
            let rows = self.models.iter().map(Row::cells);
            out = aligned(&[head].into_iter().chain(rows).collect::<Vec<_>>());
        }
        if let (Some(why), None) = (&self.unavailable, &self.fault) {
            out += &format!("no current model: {}\n", shown(why));
        }
        out
    }
}

impl Row {
    fn cells(&self) -> [String; 5] {
        let mark = if self.current { "* " } else { "  " };
        [
            mark.to_owned() + &shown(&self.id),
            shown(&self.name),
            self.context.to_string(),
            format!("{:?}", self.thinking).to_lowercase(),
            shown(&self.description),
        ]
    }
}
