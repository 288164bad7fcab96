//! A failure that says itself what it is: its `recovery` map (spec P75, P131).

use serde_json::{Map, Value};

use super::{Failure, FailureClass};
use crate::packet::scalar::{is_truthy, natural};

impl Failure {
    /// The failure of a `recovery` map, which class and flags are taken from alone (spec P75): an
    /// absent flag is false, an absent class `unknown`. Flag names may end in `?`.
    pub fn claimed(recovery: &Map<String, Value>, message: impl Into<String>) -> Self {
        let text = |key: &str| match recovery.get(key) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(number @ Value::Number(_)) => Some(number.to_string()),
            _ => None,
        };
        let flag = |key: &str| {
            let marked = format!("{key}?");
            let value = recovery.get(key).or_else(|| recovery.get(&marked));
            value.is_some_and(is_truthy)
        };
        let number = |key: &str| recovery.get(key).and_then(natural);
        let class = text("class").filter(|class| !class.is_empty());
        Self {
            class: class.map_or(FailureClass::UNKNOWN, |class| FailureClass::named(&class)),
            retryable: flag("retryable"),
            repairable: flag("repairable"),
            resumeable: flag("resumeable"),
            local_deterministic: flag("local_deterministic"),
            remote_claim: flag("remote_claim"),
            severity: text("severity").unwrap_or_else(|| "error".to_owned()),
            phase: text("phase"),
            provider_code: text("provider_code"),
            suggested_delay_ms: number("suggested_delay_ms"),
            suggested_max_attempts: number("suggested_max_attempts"),
            message: message.into(),
            raw: None,
        }
    }
}
