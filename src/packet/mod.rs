//! Packets: folders of prompts that providers run, and whose contracts decide whether they are done
//! (spec part 09).

mod alias;
pub mod authoring;
mod body;
pub mod checklist;
mod command_line;
mod config_home;
pub mod contract;
pub mod dependencies;
mod document;
mod error;
mod front_matter;
mod git;
mod keys;
mod known_keys;
pub mod lint;
mod merge;
mod name;
mod options;
#[allow(clippy::module_inception, reason = "the room's central type")]
mod packet;
mod process;
mod profile;
mod progress;
mod prompt;
mod prompt_file;
mod prompt_id;
pub mod readiness;
mod repos;
mod resolve;
mod selection;
mod source;
mod template;
mod words;
mod write;

pub use config_home::ConfigHome;
pub use document::Document;
pub use error::PacketError;
pub use merge::merge;
pub use name::{PACKET, is_name};
pub use options::{Options, Provider, UNBOUNDED, default_recovery};
pub use packet::{MANIFEST, Packet, PromptFault, Scope};
pub use profile::{BUILT_IN, Listed, Profile, ProfileSource};
pub use progress::{Progress, Recorded};
pub use prompt::Prompt;
pub use prompt_file::prefix;
pub use prompt_id::{NotANumber, PromptId};
pub use repos::{Repo, Repos};
pub use resolve::resolve;
pub use selection::Selectors;
pub use template::{Filling, Template, TemplateSource};
pub use words::{
    CliConfirmation, Diff, EventsMode, FailurePolicy, LogMeta, LogMode, PermissionMode,
    ProviderKind, Thinking, ToolOutput,
};

/// The values of frontmatter: maps have text for keys and keep their order.
pub use serde_yaml::{Mapping, Value};
