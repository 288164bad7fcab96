//! The class of a failure from the kind and the message that a provider gave (spec P76, P77).

use super::{Failure, FailureClass, INFERRED_DELAY_MS, normal};

/// Texts of a lower-cased message, and the class that the first row with a match gives (spec P77).
const MESSAGES: &[(&[&str], FailureClass)] = &[
    (&["protocol error"], FailureClass::PROTOCOL_ERROR),
    (
        &["connection reset", "disconnected"],
        FailureClass::TRANSPORT_DISCONNECT,
    ),
    (&["timeout"], FailureClass::TRANSPORT_TIMEOUT),
    (
        &["rate limit", "too many requests"],
        FailureClass::PROVIDER_RATE_LIMIT,
    ),
    (
        &[
            "capacity",
            "temporarily unavailable",
            "try again later",
            "overloaded",
            "busy",
        ],
        FailureClass::PROVIDER_CAPACITY,
    ),
    (
        &["api key", "auth", "unauthorized", "forbidden", "permission"],
        FailureClass::PROVIDER_AUTH_CLAIM,
    ),
    (
        &[
            "unsupported",
            "invalid",
            "bad request",
            "unknown model",
            "does not exist",
            "not available",
        ],
        FailureClass::PROVIDER_CONFIG_CLAIM,
    ),
    (&["cancelled", "canceled"], FailureClass::USER_CANCELLED),
    (
        &["approval denied", "approval required"],
        FailureClass::APPROVAL_DENIED,
    ),
    (
        &["guardrail", "policy blocked", "blocked by policy"],
        FailureClass::GUARDRAIL_BLOCKED,
    ),
];

impl FailureClass {
    /// The class that a kind names, also by its other names (spec P76).
    pub fn of_kind(kind: &str) -> Option<Self> {
        match normal(kind).as_str() {
            "transport_error" | "transport_exit" => Some(Self::TRANSPORT_DISCONNECT),
            "rate_limit" => Some(Self::PROVIDER_RATE_LIMIT),
            "auth_error" => Some(Self::PROVIDER_AUTH_CLAIM),
            "config_invalid" => Some(Self::PROVIDER_CONFIG_CLAIM),
            _ => Self::known(kind),
        }
    }

    /// The class that the words of a message speak for (spec P77).
    pub fn of_message(message: &str) -> Self {
        let message = message.to_lowercase();
        let holds = |texts: &[&str]| texts.iter().any(|text| message.contains(text));
        let mut rows = MESSAGES.iter();
        rows.find(|(texts, _)| holds(texts))
            .map_or(Self::PROVIDER_RUNTIME_CLAIM, |(_, class)| class.clone())
    }
}

impl Failure {
    /// The failure that a kind, if there is one, and a message speak for (spec P76, P77). Where
    /// that is one of capacity, a delay of two seconds is suggested (spec P74).
    pub fn inferred(kind: Option<&str>, message: impl Into<String>) -> Self {
        let message = message.into();
        let class = kind
            .and_then(FailureClass::of_kind)
            .unwrap_or_else(|| FailureClass::of_message(&message));
        let is_capacity = [
            FailureClass::PROVIDER_CAPACITY,
            FailureClass::PROVIDER_RATE_LIMIT,
        ]
        .contains(&class);
        Self {
            suggested_delay_ms: is_capacity.then_some(INFERRED_DELAY_MS),
            ..Self::new(class, message)
        }
    }
}
