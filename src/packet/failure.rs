//! How a provider's session failed, and what may follow from it (spec P74 to P78).

mod claim;
mod infer;

use std::borrow::Cow;
use std::fmt;
use std::io;

use serde_json::{Map, Value, json};

/// The delay that is suggested for a failure of capacity whose class was inferred (spec P74), in
/// milliseconds.
const INFERRED_DELAY_MS: u64 = 2000;

/// The class of a failure: one of the table of P74, or any other word that a claim names (P75).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FailureClass(Cow<'static, str>);

/// One row of the table of P74.
struct Row {
    names: &'static [&'static str],
    retryable: bool,
    repairable: bool,
    resumeable: bool,
    local: bool,
    remote: bool,
}

const TABLE: &[Row] = &[
    Row {
        names: &[
            "protocol_error",
            "transport_disconnect",
            "transport_timeout",
        ],
        retryable: true,
        repairable: true,
        resumeable: true,
        local: false,
        remote: true,
    },
    Row {
        names: &[
            "provider_capacity",
            "provider_rate_limit",
            "provider_auth_claim",
            "provider_config_claim",
            "provider_runtime_claim",
            "unknown",
        ],
        retryable: true,
        repairable: true,
        resumeable: false,
        local: false,
        remote: true,
    },
    Row {
        names: &["guardrail_blocked"],
        retryable: false,
        repairable: false,
        resumeable: false,
        local: false,
        remote: true,
    },
    Row {
        names: &["approval_denied", "user_cancelled"],
        retryable: false,
        repairable: false,
        resumeable: false,
        local: false,
        remote: false,
    },
    Row {
        names: &["program_error"],
        retryable: false,
        repairable: true,
        resumeable: false,
        local: false,
        remote: true,
    },
    Row {
        names: &[
            "cli_confirmation_missing",
            "cli_confirmation_mismatch",
            "provider_unavailable",
            "program_invalid",
        ],
        retryable: false,
        repairable: false,
        resumeable: false,
        local: true,
        remote: false,
    },
];

impl FailureClass {
    /// A stream or a protocol that broke.
    pub const PROTOCOL_ERROR: Self = Self(Cow::Borrowed("protocol_error"));
    /// A connection or a process that went away.
    pub const TRANSPORT_DISCONNECT: Self = Self(Cow::Borrowed("transport_disconnect"));
    /// A stream that fell silent.
    pub const TRANSPORT_TIMEOUT: Self = Self(Cow::Borrowed("transport_timeout"));
    /// A provider that has no room at present.
    pub const PROVIDER_CAPACITY: Self = Self(Cow::Borrowed("provider_capacity"));
    /// A provider that was asked too often.
    pub const PROVIDER_RATE_LIMIT: Self = Self(Cow::Borrowed("provider_rate_limit"));
    /// A provider that says that it may not be used.
    pub const PROVIDER_AUTH_CLAIM: Self = Self(Cow::Borrowed("provider_auth_claim"));
    /// A provider that says that it was asked wrongly.
    pub const PROVIDER_CONFIG_CLAIM: Self = Self(Cow::Borrowed("provider_config_claim"));
    /// A provider that failed in some other way.
    pub const PROVIDER_RUNTIME_CLAIM: Self = Self(Cow::Borrowed("provider_runtime_claim"));
    /// A failure that says nothing of its class.
    pub const UNKNOWN: Self = Self(Cow::Borrowed("unknown"));
    /// An approval that was refused.
    pub const APPROVAL_DENIED: Self = Self(Cow::Borrowed("approval_denied"));
    /// A policy that forbids the work.
    pub const GUARDRAIL_BLOCKED: Self = Self(Cow::Borrowed("guardrail_blocked"));
    /// A user who cancelled the session.
    pub const USER_CANCELLED: Self = Self(Cow::Borrowed("user_cancelled"));
    /// A program that failed while it ran.
    pub const PROGRAM_ERROR: Self = Self(Cow::Borrowed("program_error"));
    /// A program that cannot be run.
    pub const PROGRAM_INVALID: Self = Self(Cow::Borrowed("program_invalid"));
    /// A provider that cannot be started.
    pub const PROVIDER_UNAVAILABLE: Self = Self(Cow::Borrowed("provider_unavailable"));
    /// A model that the provider did not confirm (spec P139).
    pub const CLI_CONFIRMATION_MISSING: Self = Self(Cow::Borrowed("cli_confirmation_missing"));
    /// Another model than the configured one (spec P139).
    pub const CLI_CONFIRMATION_MISMATCH: Self = Self(Cow::Borrowed("cli_confirmation_mismatch"));

    /// The class of a name: lower-cased, `-` as `_` (spec P75).
    pub fn named(name: &str) -> Self {
        Self(Cow::Owned(normal(name)))
    }

    /// The class of a name, if it is in the table of P74 (spec P76).
    pub fn known(name: &str) -> Option<Self> {
        let name = normal(name);
        let mut names = TABLE.iter().flat_map(|row| row.names);
        names
            .find(|known| **known == name)
            .map(|known| Self(Cow::Borrowed(known)))
    }

    /// All classes of the table of P74.
    pub fn all() -> impl Iterator<Item = Self> {
        let names = TABLE.iter().flat_map(|row| row.names);
        names.map(|name| Self(Cow::Borrowed(name)))
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.0
    }

    fn row(&self) -> Option<&'static Row> {
        TABLE.iter().find(|row| row.names.contains(&self.name()))
    }
}

impl fmt::Display for FailureClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A word as failures compare it: lower-cased, `-` as `_`. A class stands in lines of logs and
/// terminals, so a line end or the like is `_` too.
fn normal(word: &str) -> String {
    word.to_lowercase()
        .replace(|letter: char| letter == '-' || letter.is_control(), "_")
}

/// How a session failed (spec P74).
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The class.
    pub class: FailureClass,
    /// Whether another attempt with the same text may mend it.
    pub retryable: bool,
    /// Whether a repair may follow.
    pub repairable: bool,
    /// Whether the same conversation may go on.
    pub resumeable: bool,
    /// Whether it was seen on this side and would be the same every time.
    pub local_deterministic: bool,
    /// Whether it rests on what the provider said.
    pub remote_claim: bool,
    /// How bad it is; `error` unless a claim says otherwise.
    pub severity: String,
    /// When it happened, if a claim says so.
    pub phase: Option<String>,
    /// The provider's own code for it.
    pub provider_code: Option<String>,
    /// How long to wait before the first retry, in milliseconds (spec P83).
    pub suggested_delay_ms: Option<u64>,
    /// The most retries that make sense (spec P82).
    pub suggested_max_attempts: Option<u64>,
    /// What a person reads.
    pub message: String,
    /// What the provider reported, as it was.
    pub raw: Option<Value>,
}

impl Failure {
    /// A failure of a class, with the flags of the table of P74; a class that is not in it has
    /// none of them.
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        let row = class.row();
        Self {
            retryable: row.is_some_and(|row| row.retryable),
            repairable: row.is_some_and(|row| row.repairable),
            resumeable: row.is_some_and(|row| row.resumeable),
            local_deterministic: row.is_some_and(|row| row.local),
            remote_claim: row.is_some_and(|row| row.remote),
            class,
            severity: "error".to_owned(),
            phase: None,
            provider_code: None,
            suggested_delay_ms: None,
            suggested_max_attempts: None,
            message: message.into(),
            raw: None,
        }
    }

    /// A session for which this machine's system has no thread.
    pub(super) fn of_system(error: &io::Error) -> Self {
        let message = format!("the system gives no thread: {error}");
        Self::new(FailureClass::PROVIDER_RUNTIME_CLAIM, message)
    }

    /// A failure as it is recorded: the fields of P74, `class` and `class_name` both the name
    /// (spec P112). What is not known is absent.
    pub fn to_json(&self) -> Value {
        let mut out = Map::new();
        for key in ["class", "class_name"] {
            out.insert(key.to_owned(), json!(self.class.name()));
        }
        for (key, flag) in [
            ("retryable?", self.retryable),
            ("repairable?", self.repairable),
            ("resumeable?", self.resumeable),
            ("local_deterministic?", self.local_deterministic),
            ("remote_claim?", self.remote_claim),
        ] {
            out.insert(key.to_owned(), json!(flag));
        }
        out.insert("severity".to_owned(), json!(self.severity));
        out.insert("message".to_owned(), json!(self.message));
        let optional = [
            ("phase", self.phase.clone().map(Value::String)),
            (
                "provider_code",
                self.provider_code.clone().map(Value::String),
            ),
            (
                "suggested_delay_ms",
                self.suggested_delay_ms.map(Value::from),
            ),
            (
                "suggested_max_attempts",
                self.suggested_max_attempts.map(Value::from),
            ),
            ("raw", self.raw.clone()),
        ];
        for (key, value) in optional {
            if let Some(value) = value {
                out.insert(key.to_owned(), value);
            }
        }
        Value::Object(out)
    }
}

#[cfg(test)]
mod tests;
