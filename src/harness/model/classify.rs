//! What a backend's error is (spec M69): its status and its words are read, and kept nowhere.

use memchr::memmem;

use crate::engine::model::{FailureClass, ModelFailure};

const OVERFLOW: [&str; 12] = [
    "context length",
    "context window",
    "context size",
    "context_length_exceeded",
    "maximum context length",
    "prompt is too long",
    "too many tokens",
    "exceeds the available context size",
    "exceed_context_size",
    "input is too long",
    "exceeds the maximum number of tokens",
    "too large for model",
];

const QUOTA: [&str; 4] = ["quota", "billing", "insufficient_quota", "credit"];

const OVERLOADED: [&str; 1] = ["overloaded"];

const POLICY: [&str; 3] = ["content_filter", "content policy", "content_policy"];

/// The failure that a reply with a status other than 2xx tells of, by its whole body.
pub fn classify(status: u16, body: impl AsRef<[u8]>) -> ModelFailure {
    let body = body.as_ref().to_ascii_lowercase();
    let class = match status {
        400 | 413 if holds(&body, &OVERFLOW) => FailureClass::Overflow,
        429 if holds(&body, &QUOTA) => FailureClass::Quota,
        429 => FailureClass::RateLimit,
        503 | 529 => FailureClass::Overloaded,
        500.. if holds(&body, &OVERLOADED) => FailureClass::Overloaded,
        500.. => FailureClass::Server,
        401 | 403 => FailureClass::Credentials,
        400 if holds(&body, &POLICY) => FailureClass::ContentPolicy,
        _ => FailureClass::Rejected,
    };
    ModelFailure::new(class, Some(status))
}

/// The failure that an error inside an open stream tells of, by its message.
pub fn classify_in_stream(message: &str) -> ModelFailure {
    let message = message.to_ascii_lowercase();
    let classes: [(&[&str], FailureClass); 4] = [
        (&OVERFLOW, FailureClass::Overflow),
        (&QUOTA, FailureClass::Quota),
        (&OVERLOADED, FailureClass::Overloaded),
        (&POLICY, FailureClass::ContentPolicy),
    ];
    let found = classes
        .iter()
        .find(|(words, _)| holds(message.as_bytes(), words));
    ModelFailure::new(
        found.map_or(FailureClass::Connection, |(_, class)| *class),
        None,
    )
}

fn holds(text: &[u8], words: &[&str]) -> bool {
    words
        .iter()
        .any(|word| memmem::find(text, word.as_bytes()).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_and_a_body_have_a_class() {
        // spec M69, row by row, and the order of the rows
        let table = [
            (400, "This model's Maximum Context Length is 8", "overflow"),
            (413, "prompt is too long", "overflow"),
            (413, "entity too large", "rejected"),
            (400, "context window; content_filter", "overflow"),
            (422, "context window", "rejected"),
            (429, "You have run out of CREDITS", "quota"),
            (429, "billing hard limit", "quota"),
            (429, "too many tokens", "rate_limit"),
            (429, "", "rate_limit"),
            (503, "", "overloaded"),
            (529, "quota", "overloaded"),
            (500, "Overloaded_error", "overloaded"),
            (500, "context length", "server"),
            (502, "", "server"),
            (999, "", "server"),
            (401, "", "credentials"),
            (403, "quota", "credentials"),
            (400, "violates the Content Policy", "content_policy"),
            (400, "content_policy_violation", "content_policy"),
            (403, "content_filter", "credentials"),
            (400, "overloaded", "rejected"),
            (404, "no such model", "rejected"),
            (301, "", "rejected"),
            (100, "", "rejected"),
        ];
        for (status, body, class) in table {
            let failure = classify(status, body);
            let expected = FailureClass::from_name(class);
            assert_eq!(Some(failure.class), expected, "{status} {body}");
            let said = format!(" (status {status})");
            assert!(failure.message.ends_with(&said), "{}", failure.message);
        }
    }

    #[test]
    fn every_overflow_phrase_is_known() {
        for phrase in OVERFLOW {
            let shouted = format!("<{}>", phrase.to_uppercase());
            assert_eq!(classify(400, &shouted).class, FailureClass::Overflow);
            assert_eq!(classify_in_stream(&shouted).class, FailureClass::Overflow);
        }
    }

    #[test]
    fn an_error_in_a_stream_has_no_status() {
        let table = [
            ("Context Size exceeded, overloaded", "overflow"),
            ("insufficient_quota", "quota"),
            ("server Overloaded", "overloaded"),
            ("content_filter", "content_policy"),
            ("something else", "connection"),
        ];
        for (message, class) in table {
            let failure = classify_in_stream(message);
            assert_eq!(Some(failure.class), FailureClass::from_name(class));
            assert!(!failure.message.contains("status"), "{}", failure.message);
        }
    }
}
