//! Everything that can be wrong with a packet before a prompt of it starts (spec part 09).

use std::fmt;
use std::path::PathBuf;

use super::prompt_id::PromptId;
use super::state::StateError;

/// Why a packet, a part of it or a request about it is refused. Files of the packet are named from
/// its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PacketError {
    /// A folder holds no manifest (spec P1).
    NotAPacket(PathBuf),
    /// A file cannot be read or written, or a folder not listed.
    File {
        /// What was tried: `read`, `write`, `make`, `list`.
        deed: &'static str,
        /// The file.
        file: String,
        /// Why not.
        cause: String,
    },
    /// Text that cannot be read as what it should be (spec P5).
    Syntax {
        /// The file.
        file: String,
        /// The 1-based line.
        line: usize,
        /// What is wrong there.
        cause: String,
    },
    /// Frontmatter that is no map (spec P5).
    NotAMap(String),
    /// A value that a key cannot have (spec P10).
    Invalid {
        /// Where it stands; `None` for the manifest and for the command line.
        file: Option<String>,
        /// The key.
        key: String,
        /// The value as it is shown.
        value: String,
    },
    /// A repo that cannot have this name (spec P9).
    RepoName(String),
    /// A prompt id that is no number (spec P13).
    PromptId {
        /// The id as written.
        raw: String,
        /// The prompt's file.
        file: String,
    },
    /// Prompts that share an id (spec P13).
    DuplicatePrompt {
        /// The id.
        id: String,
        /// Their files, in packet order.
        files: Vec<String>,
    },
    /// A dependency that is no prompt of the packet (spec P28).
    UnknownDependency {
        /// The prompt that has it.
        prompt: PromptId,
        /// The dependency.
        dependency: PromptId,
    },
    /// Prompts that wait for each other: each depends on the next, the last on the first (spec
    /// P28).
    DependencyCycle(Vec<PromptId>),
    /// Selected ids that are no prompts (spec P27).
    UnknownPrompts {
        /// These ids.
        ids: Vec<String>,
        /// The packet's.
        known: Vec<PromptId>,
    },
    /// A bound of a selection that is no prompt (spec P27).
    UnknownBound {
        /// `from` or `through`.
        option: &'static str,
        /// The bound.
        id: String,
        /// The packet's ids.
        known: Vec<PromptId>,
    },
    /// A selection that ends before it begins (spec P27).
    BoundsCross {
        /// The lower bound.
        from: String,
        /// The upper bound.
        through: String,
    },
    /// Recorded statuses that cannot be taken (spec P31).
    Progress {
        /// The file.
        file: String,
        /// The 1-based line.
        line: usize,
        /// What stands there.
        text: String,
    },
    /// Attempts and statuses that cannot be taken (spec P113).
    State(StateError),
    /// A template that is nowhere (spec P18).
    TemplateNotFound(String),
    /// A packet is to be made where one is (spec P23).
    AlreadyAPacket(PathBuf),
    /// The default repo of a new packet is none of its repos (spec P23).
    UnknownDefaultRepo(String),
    /// A repo is to be added that there is (spec P21).
    RepoExists(String),
    /// A prompt is to be made whose id or file there is (spec P24).
    PromptExists {
        /// The id.
        id: PromptId,
        /// The file that is there.
        file: String,
    },
    /// `agent_control` is on (spec P152).
    AgentControl,
    /// No layer names a provider (spec P8).
    NoProvider,
}

impl fmt::Display for PacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAPacket(folder) => write!(
                f,
                "no packet: {} holds no {}",
                folder.display(),
                super::MANIFEST
            ),
            Self::File { deed, file, cause } => write!(f, "cannot {deed} {file}: {cause}"),
            Self::Syntax { file, line, cause } => write!(f, "{file}:{line}: {cause}"),
            Self::NotAMap(file) => write!(f, "{file}: front matter is not a map"),
            Self::Invalid { file, key, value } => {
                if let Some(file) = file {
                    write!(f, "{file}: ")?;
                }
                write!(f, "invalid {key}: {value}")
            }
            Self::RepoName(name) => write!(f, "invalid repo name: {name:?}"),
            Self::PromptId { raw, file } => {
                write!(f, "prompt id {raw:?} in {file} is not a number")
            }
            Self::DuplicatePrompt { id, files } => {
                write!(f, "duplicate prompt id {id:?} in {}", files.join(", "))
            }
            Self::UnknownDependency { prompt, dependency } => {
                write!(f, "prompt {prompt} depends on unknown prompt {dependency}")
            }
            Self::DependencyCycle(ids) => {
                write!(f, "prompt dependency cycle: {}", joined(ids, " -> "))
            }
            Self::UnknownPrompts { ids, known } => write!(
                f,
                "unknown prompts: {} (known: {})",
                ids.join(", "),
                joined(known, ", ")
            ),
            Self::UnknownBound { option, id, known } => write!(
                f,
                "--{option}: unknown prompt {id} (known: {})",
                joined(known, ", ")
            ),
            Self::BoundsCross { from, through } => {
                write!(f, "--from {from} comes after --through {through}")
            }
            Self::Progress { file, line, text } => {
                write!(f, "progress store is invalid: {file}:{line}: {text:?}")
            }
            Self::State(error) => error.fmt(f),
            Self::TemplateNotFound(name) => write!(f, "template not found: {name}"),
            Self::AlreadyAPacket(folder) => write!(f, "already a packet: {}", folder.display()),
            Self::UnknownDefaultRepo(name) => {
                write!(f, "default repo {name:?} is none of the packet's repos")
            }
            Self::RepoExists(name) => write!(f, "repo {name:?} is already there"),
            Self::PromptExists { id, file } => {
                write!(f, "prompt {id} is already there: {file}")
            }
            Self::AgentControl => f.write_str("agent_control is not supported"),
            Self::NoProvider => f.write_str("no provider configured"),
        }
    }
}

impl std::error::Error for PacketError {}

fn joined(ids: &[PromptId], between: &str) -> String {
    let texts: Vec<&str> = ids.iter().map(PromptId::as_str).collect();
    texts.join(between)
}
