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
    let targets = [args.trace.as_deref(), args.html.as_deref()];
    for file in targets.into_iter().flatten() {
        check_target(file, args)?;
    }
    if let [Some(trace), Some(html)] = targets {
        if is_same(trace, html) {
            let text = format!("`--trace` and `--html` both name `{}`", html.display());
            return Err(SetupError(text));
        }
        if is_stdin(&args.record) {
            let text = "`--trace` and `--html` read the record once each: from a file, not from \
                        standard input";
            return Err(SetupError(text.to_owned()));
        }
    }
    // Each form has its own measure of what it shows, so the record is read for each.
    if let Some(file) = &args.trace {
        let timeline = read(&args.record, detail(args, Form::Trace))?;
        write(file, &trace::render(&timeline), args)?;
    }
    if let Some(file) = &args.html {
        let timeline = read(&args.record, detail(args, Form::Page))?;
        write(file, &html::render(&timeline), args)?;
    }
    let printed = match targets {
        [None, None] => print(args, &read(&args.record, detail(args, Form::Printed))?),
        _ => Ok(()),
    };
    let style = console::error_style(args.color);
    Ok(console::status_of(printed, Status::Success, style))
}

/// Whether two names are of one file, be it there or not.
fn is_same(one: &Path, other: &Path) -> bool {
    let whole = |file: &Path| match (file.canonicalize(), file.parent(), file.file_name()) {
        (Ok(file), ..) => file,
        (Err(_), Some(folder), Some(name)) => {
            let folder = if folder.as_os_str().is_empty() {
                Path::new(".")
            } else {
                folder
            };
            folder.canonicalize().unwrap_or_default().join(name)
        }
        _ => file.to_owned(),
    };
    whole(one) == whole(other)
}

fn write(file: &Path, text: &str, args: &ShowArgs) -> Result<(), SetupError> {
    output::write_new(file, text.as_bytes(), args.force)
        .map_err(|error| SetupError(format!("cannot write `{}`: {error}", file.display())))
}

fn print(args: &ShowArgs, timeline: &Timeline) -> io::Result<()> {
    if args.json {
        console::print_json(&json::Run::new(timeline))
    } else {
        let screen = Screen {
            style: console::output_style(args.color),
            columns: columns(),
            all: args.all,
        };
        console::print(&screen.render(timeline))
    }
}

/// Refuses a file that must not be written.
fn check_target(file: &Path, args: &ShowArgs) -> Result<(), SetupError> {
    if is_stdin(file) {
        let text = "`--trace` and `--html` name a file, which `-` is not";
        return Err(SetupError(text.to_owned()));
    }
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

/// What a record is turned into.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Printed,
    Trace,
    Page,
}

/// How much of the record is wanted.
fn detail(args: &ShowArgs, form: Form) -> Detail {
    let mut detail = match form {
        Form::Page => html::DETAIL,
        Form::Printed | Form::Trace => Detail::OUTLINE,
    };
    if args.all || args.json || form == Form::Trace {
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
            let record = BufReader::with_capacity(1 << 16, open(file)?);
            Timeline::read(&mut Reader::new(record), detail)
        }
    };
    read.map_err(|error| unreadable(file, error))
}
