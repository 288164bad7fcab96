//! Makes packets, their repos and their prompts (spec P21, P23, P24).

mod add_repo;
mod new_packet;
mod new_prompt;

pub use add_repo::add_repo;
pub use new_packet::{NewPacket, new_packet};
pub use new_prompt::{NewPrompt, new_prompt, slug};

use std::fs;
use std::path::Path;

use super::error::PacketError;
use super::source::cause;

/// Makes a folder and those above it.
fn make_folder(folder: &Path) -> Result<(), PacketError> {
    fs::create_dir_all(folder).map_err(|error| PacketError::File {
        deed: "make",
        file: folder.display().to_string(),
        cause: cause(&error),
    })
}
