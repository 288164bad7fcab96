//! `runvil check` (spec C7).

use std::path::{Path, PathBuf};

use runvil::engine::{Program, RunError};
use runvil::prompt::{Dialect, Prompt, lookalikes};
use serde::Serialize;

use super::args::CheckArgs;
use super::diagnostic::{Diagnostic, Level, Place};
use super::escape::escape;
use super::failure::{self, Subject};
use super::help::Backing;
use super::json::Failure;
use super::source::{self, PROMPT_CAP};
use super::status::Status;
use super::style::Style;
use super::{console, tree};

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
        Ok(program) => report_sound(args, &label, &source, program.prompt(), style),
        Err(error) => report_failed(args, &label, &source, &error.into(), style),
    }
}

fn report_sound(
    args: &CheckArgs,
    label: &str,
    source: &str,
    prompt: &Prompt,
    style: Style,
) -> Status {
    for warning in warnings(label, source, prompt) {
        console::log_raw(&warning.render(source, style));
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
    let subject = Subject {
        file: label,
        source,
        dialect: args.look.dialect.into(),
        reached: None,
        answered: None,
        backing: Backing::Nothing,
    };
    console::log_raw(&failure::explain(error, &subject).render(source, style));
    Status::Failed
}

/// What is in order and hardly meant: a file that cannot run, and fences that do not.
fn warnings(label: &str, source: &str, prompt: &Prompt) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    if prompt.version.is_none() {
        let key = prompt.dialect.key();
        let message = format!("{label} cannot run: it has no `{key}` version");
        let mut warning = Diagnostic::new(Level::Warning, message, None);
        warning.help = Some(format!("add `{key}: 0` to the frontmatter"));
        warnings.push(warning);
    }
    for fence in lookalikes(source, prompt.dialect) {
        let place = Place {
            file: label.to_owned(),
            line: Some(fence.line),
            ..Place::default()
        };
        let mut warning = Diagnostic::new(Level::Warning, "this fence never runs", Some(place));
        warning.help = Some(if fence.shared {
            "shared Lua is a section that `require` loads; `lua shared` is for `promptforge: 0`"
                .to_owned()
        } else {
            "a Lua fence opens with the line ```lua and nothing else; Lua that is only shown has a \
             fence of four backticks"
                .to_owned()
        });
        warnings.push(warning);
    }
    warnings
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
