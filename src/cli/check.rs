//! `runvil check` (spec C7).

use std::path::{Path, PathBuf};

use runvil::engine::{Program, RunError};
use runvil::prompt::{Dialect, Prompt};
use serde::Serialize;

use super::args::CheckArgs;
use super::escape::escape;
use super::json::Failure;
use super::source::{self, PROMPT_CAP};
use super::status::Status;
use super::style::Style;
use super::{console, diagnostic, tree};

/// What `--json` prints about one file.
#[derive(Serialize)]
struct FileObject<'a> {
    file: &'a str,
    ok: bool,
    #[serde(flatten)]
    finding: Finding<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Finding<'a> {
    Ok {
        name: &'a str,
        dialect: &'static str,
        sections: usize,
        blocks: usize,
    },
    Failed(Failure<'a>),
}

/// Checks every file and reports on each.
pub fn check(args: &CheckArgs) -> Status {
    let style = console::error_style(args.look.color);
    if let Err(error) = source::claim_stdin(args.files.iter().map(PathBuf::as_path)) {
        return error.report(args.json, style);
    }
    let mut status = Status::Success;
    for file in &args.files {
        match check_file(args, file, style) {
            Status::Success => {}
            failed => status = failed,
        }
    }
    status
}

fn check_file(args: &CheckArgs, file: &Path, style: Style) -> Status {
    let label = file.to_string_lossy();
    let source = match source::read(file, PROMPT_CAP) {
        Ok(source) => source,
        Err(error) if args.json => {
            return print_json(&label, Finding::Failed(Failure::message(&error.0)), style);
        }
        Err(error) => {
            console::log_error(&error.0, style);
            return Status::Failed;
        }
    };
    match Program::load(&source, Dialect::from(args.look.dialect)).program {
        Ok(program) => report_sound(args, &label, program.prompt(), style),
        Err(error) => report_failed(args, &label, &source, &error.into(), style),
    }
}

fn report_sound(args: &CheckArgs, label: &str, prompt: &Prompt, style: Style) -> Status {
    if prompt.version.is_none() {
        let key = prompt.dialect.key();
        let warning = format!("{label} cannot run: it has no `{key}` version");
        console::log_raw(&format!(
            "{}: {}\n",
            style.warning("warning"),
            escape(&warning)
        ));
    }
    if args.json {
        let finding = Finding::Ok {
            name: &prompt.name,
            dialect: prompt.dialect.key(),
            sections: prompt.sections.len(),
            blocks: tree::block_count(prompt),
        };
        return print_json(label, finding, style);
    }
    let mut text = format!("ok {}\n", escape(label));
    if args.verbose {
        text.push_str(&tree::render(prompt));
    }
    console::status_of(console::print(&text), Status::Success, style)
}

fn report_failed(
    args: &CheckArgs,
    label: &str,
    source: &str,
    error: &RunError,
    style: Style,
) -> Status {
    if args.json {
        return print_json(label, Finding::Failed(Failure::new(error)), style);
    }
    console::log_raw(&diagnostic::render(error, label, source, style));
    Status::Failed
}

fn print_json(file: &str, finding: Finding, style: Style) -> Status {
    let ok = matches!(finding, Finding::Ok { .. });
    let status = if ok { Status::Success } else { Status::Failed };
    console::status_of(
        console::print_json(&FileObject { file, ok, finding }),
        status,
        style,
    )
}
