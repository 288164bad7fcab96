//! The providers that this host has.

use std::rc::Rc;

use runvil::packet::provider::{Conversations, Programs, Providers};

use super::super::status::SetupError;
use super::host::{HostFlags, PacketHost};

/// All of them, with the host of these flags.
///
/// # Errors
/// A file that a flag names and that cannot be taken.
pub fn providers(flags: &HostFlags) -> Result<Providers, SetupError> {
    let host = PacketHost::new(flags);
    host.check()?;
    let host = Rc::new(host);
    Ok(Providers::default()
        .with(Box::new(Programs::new(host.clone())))
        .with(Box::new(Conversations::new(host))))
}
