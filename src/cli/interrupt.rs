//! Ctrl-C (spec C4).

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use runvil::harness::CancelToken;
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use super::status::SetupError;

/// From here on the first Ctrl-C raises the token that is returned, and a second one kills the
/// process at once, as if nobody had listened.
pub fn listen() -> Result<CancelToken, SetupError> {
    raise().map_err(|error| SetupError(format!("cannot listen for Ctrl-C: {error}")))
}

fn raise() -> io::Result<CancelToken> {
    let raised = Arc::new(AtomicBool::new(false));
    // In this order: the first signal finds the flag down and raises it, the next finds it up.
    flag::register_conditional_default(SIGINT, Arc::clone(&raised))?;
    flag::register(SIGINT, Arc::clone(&raised))?;
    Ok(CancelToken::from(raised))
}
