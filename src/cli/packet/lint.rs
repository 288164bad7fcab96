//! `runvil packet lint` (spec P107, P108).

use clap::Args;
use runvil::packet::Packet;
use runvil::packet::lint::{self, LintReport};

use super::super::console;
use super::super::status::Status;
use super::place::{Place, config_home};
use super::report;

#[derive(Args)]
#[command(after_help = "\
Lint reads the packet only: it starts nothing and looks into no repository.

  runvil packet lint demo
  runvil packet lint demo --strict             warnings count as errors

Exit status: 0 no errors, 1 errors, 2 no packet.")]
pub struct LintArgs {
    #[command(flatten)]
    place: Place,

    /// Count warnings as errors
    #[arg(long)]
    strict: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Lints a packet.
pub fn lint(args: &LintArgs) -> Status {
    let packet = match Packet::survey(args.place.folder(), &config_home()) {
        Ok(packet) => packet,
        Err(error) => return report::refused(&error),
    };
    let found = lint::lint(&packet, args.strict);
    let status = match found.pass {
        true => Status::Success,
        false => Status::Failed,
    };
    match args.json {
        true => console::status_of(console::print_json(&found), status, report::style()),
        false => report::print(&text(&found), status),
    }
}

fn text(found: &LintReport) -> String {
    let mut text = format!("{} {}\n", found.packet, found.root);
    for finding in &found.findings {
        let word = finding.severity.word().to_uppercase();
        let file = finding.file.as_deref().unwrap_or("(packet)");
        text += &format!("{word} {file} {}\n  {}\n", finding.kind, finding.message);
    }
    if found.findings.is_empty() {
        text += "no findings\n";
    }
    let errors = counted(found.errors, "error");
    text + &format!("{errors}, {}\n", counted(found.warnings, "warning"))
}

fn counted(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}
