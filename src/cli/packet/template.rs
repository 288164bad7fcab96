//! `runvil packet template` (spec P18).

use clap::{Args, Subcommand};
use runvil::packet::{MANIFEST, Template, TemplateSource};

use super::super::cell::shown;
use super::super::status::Status;
use super::super::table::aligned;
use super::place::{Place, config_home};
use super::report;

#[derive(Subcommand)]
pub enum TemplateCommand {
    /// List the templates of prompts and where they come from
    List(ListArgs),
}

#[derive(Args)]
#[command(after_help = "\
A packet's own templates are in templates/NAME.prompt.md; those for all packets in the same folder \
of the configuration.

  runvil packet template list
  runvil packet template list demo")]
pub struct ListArgs {
    #[command(flatten)]
    place: Place,
}

/// Lists the templates, those of the packet included where there is one.
pub fn list(args: &ListArgs) -> Status {
    let folder = args.place.folder();
    let root = Some(folder).filter(|folder| folder.join(MANIFEST).exists());
    let rows = Template::list(root, &config_home()).into_iter();
    let rows = rows.map(|(name, source)| {
        let from = match source {
            TemplateSource::BuiltIn => "built in".to_owned(),
            TemplateSource::File(file) => shown(&file.display().to_string()),
        };
        [name, from]
    });
    report::print(&aligned(&rows.collect::<Vec<_>>()), Status::Success)
}
