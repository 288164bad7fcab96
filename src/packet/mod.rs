//! Packets: folders of prompts that providers run, and whose contracts decide whether they are done
//! (spec part 09).

mod alias;
pub mod authoring;
mod body;
pub mod checklist;
mod command_line;
mod commit;
mod config_home;
pub mod contract;
pub mod dependencies;
mod document;
mod environment;
mod error;
pub mod failure;
mod fingerprint;
mod front_matter;
mod git;
mod head;
mod hindrance;
mod interrupt;
mod keys;
mod known_keys;
mod life;
pub mod lint;
mod merge;
mod name;
mod options;
#[allow(clippy::module_inception, reason = "the room's central type")]
mod packet;
mod process;
mod process_stat;
mod profile;
mod program;
mod progress;
mod prompt;
mod prompt_file;
mod prompt_id;
pub mod provider;
pub mod readiness;
pub mod recovery;
mod repos;
mod resolve;
pub mod run;
mod scalar;
mod selection;
mod source;
mod standing;
pub mod state;
mod template;
mod watch;
mod words;
mod write;

pub use commit::{Committed, commit_all};
pub use config_home::ConfigHome;
pub use document::Document;
pub use error::PacketError;
pub use fingerprint::fingerprint;
pub use interrupt::Interrupt;
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
pub use standing::{Mark, Standing};
pub use template::{Filling, Template, TemplateSource};
pub use watch::Sample;
pub use words::{
    CliConfirmation, Diff, EventsMode, FailurePolicy, LogMeta, LogMode, PermissionMode,
    ProviderKind, Thinking, ToolOutput,
};

/// The values of frontmatter: maps have text for keys and keep their order.
pub use serde_yaml::{Mapping, Value};
