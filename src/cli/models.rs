//! `runvil models` (spec C11): the models that the host has.

use runvil::engine::model::Thinking;
use runvil::harness::model::ThinkingWord;
use serde::Serialize;

use super::args::{HostArgs, ModelsArgs};
use super::backend::{Backend, Catalog, Current, configuration};
use super::cell::{shown, width};
use super::console;
use super::source;
use super::status::{SetupError, Status};

/// Lists the models, and says which is the current one, or why none is.
pub fn models(args: &ModelsArgs) -> Status {
    let style = console::error_style(args.color);
    let catalog = match catalog(&args.host) {
        Ok(catalog) => catalog,
        Err(error) => return error.report(args.json, style),
    };
    let printed = match args.json {
        true => console::print_json(&Listing::new(&catalog)),
        false => console::print(&table(&catalog)),
    };
    let status = match &catalog.current {
        Current::Absent(error) if args.json => Status::Setup,
        Current::Absent(error) => error.report(false, style),
        _ => Status::Success,
    };
    console::status_of(printed, status, style)
}

fn catalog(args: &HostArgs) -> Result<Catalog, SetupError> {
    source::claim_stdin(
        [&args.config, &args.script]
            .into_iter()
            .flatten()
            .map(|it| &**it),
    )?;
    let config = configuration(args)?;
    Backend::new(args)?.catalog(args, &config)
}

/// What `--json` prints.
#[derive(Serialize)]
struct Listing<'a> {
    models: Vec<Row<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unavailable: Option<&'a str>,
}

/// A model.
#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    name: &'a str,
    context: u32,
    #[serde(with = "ThinkingWord")]
    thinking: Thinking,
    description: &'a str,
    current: bool,
}

impl<'a> Listing<'a> {
    fn new(catalog: &'a Catalog) -> Self {
        let rows = catalog.models.iter().enumerate();
        Self {
            models: rows
                .map(|(at, (model, name))| Row {
                    id: &model.id,
                    name,
                    context: model.context,
                    thinking: model.thinking,
                    description: &model.description,
                    current: matches!(catalog.current, Current::Is(current) if current == at),
                })
                .collect(),
            unavailable: match &catalog.current {
                Current::Is(_) => None,
                Current::None(why) => Some(why),
                Current::Absent(error) => Some(&error.0),
            },
        }
    }
}

/// What is printed: a line for each model, a star before the current one; then why there is no
/// current one, where that is no error.
fn table(catalog: &Catalog) -> String {
    let mut out = String::new();
    if !catalog.models.is_empty() {
        let head = ["  ID", "NAME", "CONTEXT", "THINKING", "DESCRIPTION"].map(str::to_owned);
        let rows = Listing::new(catalog).models.into_iter().map(|row| {
            [
                if row.current { "* " } else { "  " }.to_owned() + &shown(row.id),
                shown(row.name),
                row.context.to_string(),
                format!("{:?}", row.thinking).to_lowercase(),
                shown(row.description),
            ]
        });
        out = aligned([head].into_iter().chain(rows).collect());
    }
    if let Current::None(why) = &catalog.current {
        out += &format!("no current model: {}\n", shown(why));
    }
    out
}

/// Rows whose columns stand under each other, two spaces apart.
fn aligned<const N: usize>(rows: Vec<[String; N]>) -> String {
    let mut widths = [0; N];
    for row in &rows {
        for (wide, text) in widths.iter_mut().zip(row) {
            *wide = width(text).max(*wide);
        }
    }
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (wide, text) in widths.iter().zip(&row) {
            line += text;
            line += &" ".repeat(wide.saturating_sub(width(text)) + 2);
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}
