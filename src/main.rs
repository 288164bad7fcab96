//! The `runvil` command.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
