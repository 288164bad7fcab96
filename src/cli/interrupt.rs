//! Ctrl-C (spec C4).

use runvil::harness::CancelToken;
use signal_hook::consts::SIGINT;

use super::status::SetupError;

/// From here on the first Ctrl-C raises the token that is returned, and a second one kills the
/// process at once, as if nobody had listened.
pub fn listen() -> Result<CancelToken, SetupError> {
    CancelToken::on_signal(SIGINT)
        .map_err(|error| SetupError(format!("cannot listen for Ctrl-C: {error}")))
}
