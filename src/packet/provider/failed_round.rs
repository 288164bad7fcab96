//! What the failure of a model's round means for a session (spec P144, P149).

use crate::engine::model::{FailureClass as ModelClass, ModelFailure};
use crate::packet::failure::{Failure, FailureClass};

/// The failure of a session whose round has failed; without a failed round its reply was empty.
pub(super) fn failed_round(message: String, round: Option<&ModelFailure>) -> Failure {
    let class = match round.map(|round| round.class) {
        Some(ModelClass::RateLimit) => FailureClass::PROVIDER_RATE_LIMIT,
        Some(ModelClass::Overloaded) => FailureClass::PROVIDER_CAPACITY,
        Some(ModelClass::Connection) => FailureClass::TRANSPORT_DISCONNECT,
        Some(ModelClass::Timeout) => FailureClass::TRANSPORT_TIMEOUT,
        Some(ModelClass::Overflow | ModelClass::Malformed | ModelClass::Server) => {
            FailureClass::PROVIDER_RUNTIME_CLAIM
        }
        Some(ModelClass::Credentials) => FailureClass::PROVIDER_AUTH_CLAIM,
        Some(
            ModelClass::Quota
            | ModelClass::ContentPolicy
            | ModelClass::Rejected
            | ModelClass::NoGateway,
        )
        | None => FailureClass::PROVIDER_CONFIG_CLAIM,
    };
    // What was seen at first hand is no claim that may be wrong.
    let is_final = [
        FailureClass::PROVIDER_AUTH_CLAIM,
        FailureClass::PROVIDER_CONFIG_CLAIM,
    ]
    .contains(&class);
    let failure = Failure::new(class, message);
    Failure {
        retryable: failure.retryable && !is_final,
        provider_code: round
            .and_then(|round| round.status)
            .map(|it| it.to_string()),
        ..failure
    }
}
