//! Ctrl-C, and the signal that stops what is in flight (spec C4).

use std::io;
#[cfg(unix)]
use std::sync::{Arc, atomic::AtomicBool};

use runvil::harness::{CancelToken, StopToken};
use signal_hook::consts::SIGINT;

use super::status::SetupError;

/// From here on the first Ctrl-C raises the token that is returned, and a second one kills the
/// process at once, as if nobody had listened.
pub fn listen() -> Result<CancelToken, SetupError> {
    CancelToken::on_signal(SIGINT)
        .map_err(|error| SetupError(format!("cannot listen for Ctrl-C: {error}")))
}

/// From here on SIGQUIT, which is Ctrl-\ on a terminal, asks the token that is returned, as often as
/// it comes.
pub fn listen_for_stop() -> Result<StopToken, SetupError> {
    asked().map_err(|error| SetupError(format!("cannot listen for SIGQUIT: {error}")))
}

#[cfg(unix)]
fn asked() -> io::Result<StopToken> {
    let asked = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGQUIT, Arc::clone(&asked))?;
    Ok(StopToken::from(asked))
}

#[cfg(not(unix))]
fn asked() -> io::Result<StopToken> {
    Ok(StopToken::default())
}
