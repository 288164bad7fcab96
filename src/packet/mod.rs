//! Packets: folders of prompts whose contracts decide when each is done (spec part 09).

pub mod contract;
mod git;
mod process;
pub mod resolve;
mod shell_words;
