//! `runvil packet profile` (spec P17).

use clap::Subcommand;
use runvil::packet::{Profile, ProfileSource};

use super::super::cell::shown;
use super::super::status::Status;
use super::super::table::aligned;
use super::place::config_home;
use super::report;

#[derive(Subcommand)]
pub enum ProfileCommand {
    /// List the profiles and where they come from
    #[command(after_help = "\
A profile is a file profiles/NAME.md in the folder of the configuration; `default_profile` in its \
config.md names the one of packets that name none.

  runvil packet profile list")]
    List,
}

/// Lists the profiles.
pub fn list() -> Status {
    let (profiles, default) = match Profile::list(&config_home()) {
        Ok(found) => found,
        Err(error) => return report::refused(&error),
    };
    let rows = profiles.into_iter().map(|(name, source)| {
        let mark = match default.as_deref() == Some(name.as_str()) {
            true => "default".to_owned(),
            false => String::new(),
        };
        let from = match source {
            ProfileSource::File(file) => shown(&file.display().to_string()),
            ProfileSource::BuiltIn => "built in".to_owned(),
            ProfileSource::None | ProfileSource::Missing => "missing".to_owned(),
        };
        [name, from, mark]
    });
    report::print(&aligned(&rows.collect::<Vec<_>>()), Status::Success)
}
