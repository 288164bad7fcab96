//! `runvil show` (spec C16): what a recorded run did.

mod amount;
mod html;
mod json;
mod label;
mod rows;
mod screen;
mod trace;

use std::io::{self, BufReader};
use std::path::Path;

use runvil::harness::record::Reader;
use runvil::harness::record::timeline::{Detail, Timeline};

use self::screen::Screen;
use super::args::ShowArgs;
use super::record::{open, unreadable};
use super::source::is_stdin;
use super::status::{SetupError, Status};
use super::{console, output};

/// How many columns there are where nobody says.
const COLUMNS: usize = 120;

/// Shows a record, or writes it in other forms.
pub fn show(args: &ShowArgs) -> Status {
    match try_show(args) {
        Ok(status) => status,
        Err(error) => error.report(args.json, console::error_style(args.color)),
    }
}

fn try_show(args: &ShowArgs) -> Result<Status, SetupError> {
    let target = args.trace.as_deref().or(args.html.as_deref());
    if let Some(file) = target {
        check_target(file, args)?;
    }
    let timeline = read(&args.record, detail(args))?;
    let printed = if let Some(file) = target {
        let text = match args.trace {
            Some(_) => trace::render(&timeline),
            None => html::render(&timeline),
        };
        output::write_new(file, text.as_bytes(), args.force)
            .map_err(|error| SetupError(format!("cannot write `{}`: {error}", file.display())))?;
        Ok(())
    } else if args.json {
        console::print_json(&json::Run::new(&timeline))
    } else {
        let screen = Screen {
            style: console::output_style(args.color),
            columns: columns(),
            all: args.all,
        };
        console::print(&screen.render(&timeline))
    };
    let style = console::error_style(args.color);
    Ok(console::status_of(printed, Status::Success, style))
}

/// Refuses a file that must not be written.
fn check_target(file: &Path, args: &ShowArgs) -> Result<(), SetupError> {
    let is_record = match (file.canonicalize(), args.record.canonicalize()) {
        (Ok(file), Ok(record)) => file == record,
        _ => false,
    };
    if is_record {
        let text = format!("cannot write `{}`: it is the record", file.display());
        return Err(SetupError(text));
    }
    output::check_new(file, args.force)
}

/// How much of the record is wanted.
fn detail(args: &ShowArgs) -> Detail {
    let mut detail = match args.html {
        Some(_) => html::DETAIL,
        None => Detail::OUTLINE,
    };
    if args.all || args.json || args.trace.is_some() {
        detail.items = usize::MAX;
    }
    if args.all {
        detail.text = usize::MAX;
    }
    detail
}

/// How many columns a row may have.
fn columns() -> usize {
    let size = terminal_size::terminal_size_of(io::stdout());
    size.map_or(COLUMNS, |(columns, _)| columns.0.into())
}

/// Reads a record, from standard input where it is `-`.
fn read(file: &Path, detail: Detail) -> Result<Timeline, SetupError> {
    let read = match is_stdin(file) {
        true => Timeline::read(&mut Reader::new(io::stdin().lock()), detail),
        false => {
            let record = BufReader::with_capacity(1 << 16, open(file, false)?);
            Timeline::read(&mut Reader::new(record), detail)
        }
    };
    read.map_err(|error| unreadable(file, error))
}
