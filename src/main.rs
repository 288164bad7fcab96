//! The `runvil` command.
fn main() {}
