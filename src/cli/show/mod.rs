//! `runvil show` (spec C14): what a recorded run did.

mod amount;
mod html;
mod json;
mod label;
mod rows;
mod screen;
mod trace;

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use runvil::harness::record::timeline::{Detail, Timeline};
use runvil::harness::record::{Reader, RecordError};

use self::screen::Screen;
use super::args::ShowArgs;
use super::status::{SetupError, Status};
use super::{console, output, source};

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
    let files = [args.trace.as_deref(), args.html.as_deref()];
    for file in files.into_iter().flatten() {
        output::check_new(file, args.force)?;
    }
    let timeline = read(&args.record, detail(args))?;
    let style = console::output_style(args.color);
    if let Some(file) = &args.trace {
        save(file, trace::render(&timeline).as_bytes(), args.force)?;
    }
    if let Some(file) = &args.html {
        save(file, html::render(&timeline).as_bytes(), args.force)?;
    }
    let printed = if args.json {
        console::print_json(&json::Run::new(&timeline))
    } else if args.trace.is_some() || args.html.is_some() {
        Ok(())
    } else {
        let screen = Screen {
            style,
            columns: columns(),
            all: args.all,
        };
        console::print(&screen.render(&timeline))
    };
    let style = console::error_style(args.color);
    Ok(console::status_of(printed, Status::Success, style))
}

/// How much of the record is wanted.
fn detail(args: &ShowArgs) -> Detail {
    let mut detail = Detail::OUTLINE;
    if args.html.is_some() {
        detail = html::DETAIL;
    }
    if args.all || args.json || args.trace.is_some() {
        detail.items = usize::MAX;
    }
    if args.all {
        detail.text = usize::MAX;
    }
    detail
}

fn columns() -> usize {
    let size = terminal_size::terminal_size_of(io::stdout());
    size.map_or(COLUMNS, |(columns, _)| columns.0.into())
}

/// Reads a record, from standard input where it is `-`.
fn read(file: &Path, detail: Detail) -> Result<Timeline, SetupError> {
    let timeline = if source::is_stdin(file) {
        Timeline::read(&mut Reader::new(io::stdin().lock()), detail)
    } else {
        File::open(file)
            .map_err(RecordError::from)
            .and_then(|opened| Timeline::read(&mut Reader::new(BufReader::new(opened)), detail))
    };
    timeline.map_err(|error| {
        let reason = match &error {
            RecordError::Io(error) => source::reason(error, file, source::PROMPT_CAP),
            other => other.to_string(),
        };
        SetupError(format!(
            "cannot read the record `{}`: {reason}",
            file.display()
        ))
    })
}

fn save(file: &Path, bytes: &[u8], force: bool) -> Result<(), SetupError> {
    output::write_new(file, bytes, force)
        .map_err(|error| SetupError(format!("cannot write `{}`: {error}", file.display())))
}
