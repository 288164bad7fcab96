//! Everything that can be wrong with a packet before a prompt of it starts (spec part 09).

use std::fmt;
use std::path::PathBuf;

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
            Self::AgentControl => f.write_str("agent_control is not supported"),
            Self::NoProvider => f.write_str("no provider configured"),
        }
    }
}

impl std::error::Error for PacketError {}
