//! What the failure of a run means (spec P144).

use crate::engine::model::ModelFailure;
use crate::engine::{RunError, RunErrorKind};
use crate::packet::failure::{Failure, FailureClass};
use crate::packet::provider::failed_round::failed_round;

/// The failure of a run that has failed, `message` being what is said of it. `round` is the failure
/// of a round that the error is about, where it is about one.
pub(super) fn failure(error: &RunError, message: String, round: Option<&ModelFailure>) -> Failure {
    match error.kind {
        RunErrorKind::Parse
        | RunErrorKind::Version
        | RunErrorKind::Input
        | RunErrorKind::RequirementsUnmet
        | RunErrorKind::Binding
        | RunErrorKind::Internal => Failure::new(FailureClass::PROGRAM_INVALID, message),
        RunErrorKind::Lua | RunErrorKind::Quota | RunErrorKind::Vfs | RunErrorKind::Determinism => {
            Failure::new(FailureClass::PROGRAM_ERROR, message)
        }
        RunErrorKind::Tool | RunErrorKind::ContextExhausted => {
            Failure::new(FailureClass::PROVIDER_RUNTIME_CLAIM, message)
        }
        RunErrorKind::Completion => Failure {
            // A run begins anew.
            resumeable: false,
            ..failed_round(message, round)
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::model::FailureClass as ModelClass;

    /// The table of P144.
    #[test]
    fn a_failed_run_has_a_class() {
        let of = |kind, round: Option<ModelClass>| {
            let error = RunError::new(kind, "m");
            let round = round.map(|class| ModelFailure::new(class, None));
            let failure = failure(&error, "m".to_owned(), round.as_ref());
            assert!(!failure.resumeable);
            (failure.class.name().to_owned(), failure.retryable)
        };
        let completion = |round| of(RunErrorKind::Completion, round);
        for (found, class, is_retryable) in [
            (of(RunErrorKind::Parse, None), "program_invalid", false),
            (of(RunErrorKind::Binding, None), "program_invalid", false),
            (of(RunErrorKind::Vfs, None), "program_error", false),
            (of(RunErrorKind::Tool, None), "provider_runtime_claim", true),
            (
                completion(Some(ModelClass::RateLimit)),
                "provider_rate_limit",
                true,
            ),
            (
                completion(Some(ModelClass::Overloaded)),
                "provider_capacity",
                true,
            ),
            (
                completion(Some(ModelClass::Connection)),
                "transport_disconnect",
                true,
            ),
            (
                completion(Some(ModelClass::Timeout)),
                "transport_timeout",
                true,
            ),
            (
                completion(Some(ModelClass::Overflow)),
                "provider_runtime_claim",
                true,
            ),
            (
                completion(Some(ModelClass::Server)),
                "provider_runtime_claim",
                true,
            ),
            (
                completion(Some(ModelClass::Credentials)),
                "provider_auth_claim",
                false,
            ),
            (
                completion(Some(ModelClass::Quota)),
                "provider_config_claim",
                false,
            ),
            (completion(None), "provider_config_claim", false),
        ] {
            assert_eq!(found, (class.to_owned(), is_retryable));
        }
    }
}
