//! Whether the agent works with the model that it was asked for (spec P139).

use crate::packet::failure::{Failure, FailureClass};
use crate::packet::provider::Sink;
use crate::packet::words::CliConfirmation;

/// Compares the configured model with the one that the agent named, and says what it comes to.
///
/// # Errors
/// A failure where they must be the same and are not.
pub(super) fn confirm(
    demand: CliConfirmation,
    configured: Option<&str>,
    confirmed: Option<&str>,
    sink: &mut dyn Sink,
) -> Result<(), Box<Failure>> {
    let (status, class) = match (configured, confirmed) {
        (None, _) => ("matched", None),
        (Some(_), None) => ("missing", Some(FailureClass::CLI_CONFIRMATION_MISSING)),
        (Some(configured), Some(confirmed)) if configured == confirmed => ("matched", None),
        _ => ("mismatch", Some(FailureClass::CLI_CONFIRMATION_MISMATCH)),
    };
    let named = confirmed.unwrap_or("n/a");
    let wanted = configured.unwrap_or("n/a");
    sink.log(&format!(
        "LLM_AUDIT_RESULT status={status} configured={wanted} confirmed={named}"
    ));
    let Some(class) = class else {
        return Ok(());
    };
    let message = format!("provider model {named}, configured {wanted}");
    match demand {
        CliConfirmation::Off => Ok(()),
        CliConfirmation::Warn => {
            sink.warn(&message);
            Ok(())
        }
        CliConfirmation::Require => Err(Box::new(Failure::new(class, message))),
    }
}
