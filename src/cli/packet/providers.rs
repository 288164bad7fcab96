//! The providers that this host has.

use runvil::packet::provider::Providers;

/// All of them.
pub fn providers() -> Providers {
    Providers::default()
}
