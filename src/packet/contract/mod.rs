//! The contract of a prompt, checked: it alone decides whether the prompt is done (spec part 09,
//! sections 9 to 12).
//!
//! [`evaluate`] checks every entry of a prompt's `verify:` against the files, the repositories and
//! the commands it names, and gives a [`Report`]. Nothing is changed but what its commands change.

mod report;
mod scope;

pub use report::{Fault, Item, Kind, Report};
pub use scope::{PACKET, Scope};

use std::fmt;

/// A check was interrupted: it has no report, and the commands it ran are gone (spec P121, P122).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the check of the contract was interrupted")
    }
}

impl std::error::Error for Interrupted {}
