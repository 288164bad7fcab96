//! How a round fails (spec M68): a class, and a fixed phrase that carries nothing of the reply.

use std::fmt;

/// What went wrong, in the order of spec M68's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureClass {
    /// The connection could not be made, or broke.
    Connection,
    /// Nothing came in time.
    Timeout,
    /// The request is larger than the context window.
    Overflow,
    /// Too many requests.
    RateLimit,
    /// The quota is spent.
    Quota,
    /// The backend is overloaded.
    Overloaded,
    /// The backend has a fault.
    Server,
    /// The credentials were refused.
    Credentials,
    /// Refused on content policy grounds.
    ContentPolicy,
    /// Refused for another reason.
    Rejected,
    /// The reply could not be understood, or was too large.
    Malformed,
    /// There is no gateway.
    NoGateway,
}

/// The classes, each with its name in records, its phrase, and whether trying again may help.
const CLASSES: [(FailureClass, &str, &str, bool); 12] = [
    (
        FailureClass::Connection,
        "connection",
        "the connection to the model backend failed",
        true,
    ),
    (
        FailureClass::Timeout,
        "timeout",
        "the model backend did not answer in time",
        true,
    ),
    (
        FailureClass::Overflow,
        "overflow",
        "the request is larger than the model's context window",
        false,
    ),
    (
        FailureClass::RateLimit,
        "rate_limit",
        "the model backend is limiting the request rate",
        true,
    ),
    (
        FailureClass::Quota,
        "quota",
        "the model backend says the usage quota is spent",
        false,
    ),
    (
        FailureClass::Overloaded,
        "overloaded",
        "the model backend is overloaded",
        true,
    ),
    (
        FailureClass::Server,
        "server",
        "the model backend reported a fault of its own",
        true,
    ),
    (
        FailureClass::Credentials,
        "credentials",
        "the model backend did not accept the credentials",
        false,
    ),
    (
        FailureClass::ContentPolicy,
        "content_policy",
        "the model backend refused the request on content policy grounds",
        false,
    ),
    (
        FailureClass::Rejected,
        "rejected",
        "the model backend rejected the request",
        false,
    ),
    (
        FailureClass::Malformed,
        "malformed",
        "the model backend sent a reply that could not be understood",
        true,
    ),
    (
        FailureClass::NoGateway,
        "no_gateway",
        "model access is turned off or not configured",
        false,
    ),
];

impl FailureClass {
    fn row(self) -> &'static (Self, &'static str, &'static str, bool) {
        let found = CLASSES.iter().find(|(class, ..)| *class == self);
        found.unwrap_or(&CLASSES[0])
    }

    /// The class as a record names it (spec R21).
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The class of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        CLASSES
            .iter()
            .find(|(_, n, ..)| *n == name)
            .map(|(class, ..)| *class)
    }

    /// Whether the same request may succeed later.
    pub fn is_transient(self) -> bool {
        self.row().3
    }
}

/// A failed round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFailure {
    /// What went wrong.
    pub class: FailureClass,
    /// The HTTP status that told so, where one did.
    pub status: Option<u16>,
    /// The fixed phrase. Nothing that a server sent is in it.
    pub message: String,
    /// The local cause: the operating system's or the TLS library's own words.
    pub cause: Option<String>,
}

impl ModelFailure {
    /// A failure of a class, as a status told it or not.
    pub fn new(class: FailureClass, status: Option<u16>) -> Self {
        let mut message = class.row().2.to_owned();
        if let Some(status) = status {
            message += &format!(" (status {status})");
        }
        Self {
            class,
            status,
            message,
            cause: None,
        }
    }

    /// A reply that could not be understood; `what` is one of spec M70's texts.
    pub fn malformed(what: impl fmt::Display) -> Self {
        let mut failure = Self::new(FailureClass::Malformed, None);
        failure.message += &format!(": {what}");
        failure
    }

    /// A connection that failed, with the local cause.
    pub fn connection(cause: impl fmt::Display) -> Self {
        Self {
            cause: Some(cause.to_string()),
            ..Self::new(FailureClass::Connection, None)
        }
    }
}

impl fmt::Display for ModelFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ModelFailure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_name_the_status_alone() {
        // spec M68
        let failure = ModelFailure::new(FailureClass::RateLimit, Some(429));
        assert_eq!(
            failure.message,
            "the model backend is limiting the request rate (status 429)"
        );
        assert!(failure.class.is_transient());
        assert_eq!(FailureClass::from_name("quota"), Some(FailureClass::Quota));
        assert_eq!(
            ModelFailure::malformed("tool call id was blank").message,
            "the model backend sent a reply that could not be understood: tool call id was blank"
        );
    }
}
