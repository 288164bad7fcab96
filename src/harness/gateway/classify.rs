//! What a failed reply's status and words mean (spec M69).

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

/// The failure that a status outside 2xx is, with its whole body.
pub(super) fn of_status(status: u16, mut body: Vec<u8>) -> ModelFailure {
    body.make_ascii_lowercase();
    let says = |phrases: &[&str]| says(&body, phrases);
    let class = match status {
        400 | 413 if says(&OVERFLOW) => FailureClass::Overflow,
        429 if says(&QUOTA) => FailureClass::Quota,
        429 => FailureClass::RateLimit,
        503 | 529 => FailureClass::Overloaded,
        500..=599 if says(&OVERLOADED) => FailureClass::Overloaded,
        500.. => FailureClass::Server,
        401 | 403 => FailureClass::Credentials,
        400 if says(&POLICY) => FailureClass::ContentPolicy,
        _ => FailureClass::Rejected,
    };
    ModelFailure::new(class, Some(status))
}

/// The failure that an error inside a stream is.
pub(super) fn in_stream(message: &str) -> ModelFailure {
    let message = message.to_ascii_lowercase();
    let says = |phrases: &[&str]| says(message.as_bytes(), phrases);
    let class = if says(&OVERFLOW) {
        FailureClass::Overflow
    } else if says(&QUOTA) {
        FailureClass::Quota
    } else if says(&OVERLOADED) {
        FailureClass::Overloaded
    } else if says(&POLICY) {
        FailureClass::ContentPolicy
    } else {
        FailureClass::Connection
    };
    ModelFailure::new(class, None)
}

fn says(text: &[u8], phrases: &[&str]) -> bool {
    phrases
        .iter()
        .any(|phrase| memmem::find(text, phrase.as_bytes()).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_that_fits_decides() {
        // spec M69
        use FailureClass::*;
        let cases = [
            (400, "This model's MAXIMUM Context Length is 5", Overflow),
            (413, "prompt is too long", Overflow),
            (413, "entity too large", Rejected),
            (422, "context window", Rejected),
            (400, "content_filter: context size", Overflow),
            (400, "Content Policy", ContentPolicy),
            (400, "no", Rejected),
            (429, "You have run out of Credits", Quota),
            (429, "context length", RateLimit),
            (503, "quota", Overloaded),
            (529, "", Overloaded),
            (500, "Overloaded", Overloaded),
            (599, "overloaded", Overloaded),
            (600, "overloaded", Server),
            (502, "context length", Server),
            (401, "overloaded", Credentials),
            (403, "content_filter", Credentials),
            (302, "", Rejected),
            (404, "", Rejected),
        ];
        for (status, body, class) in cases {
            let failure = of_status(status, body.into());
            assert_eq!(
                (failure.class, failure.status),
                (class, Some(status)),
                "{body}"
            );
        }
        for phrase in OVERFLOW {
            assert_eq!(of_status(413, phrase.into()).class, Overflow);
        }
        for (message, class) in [
            ("Too Many Tokens, quota", Overflow),
            ("billing overloaded", Quota),
            ("overloaded content policy", Overloaded),
            ("content_policy", ContentPolicy),
            ("boom", Connection),
        ] {
            let failure = in_stream(message);
            assert_eq!((failure.class, failure.status), (class, None), "{message}");
        }
    }
}
