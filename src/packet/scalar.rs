//! Flags and numbers as packets write them (spec: Notation, P80).

use serde_json::Value;

/// Whether a value is one of `true`, `"true"`, `"TRUE"`, `1` and `"1"`.
pub fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Bool(flag) => *flag,
        Value::String(text) => matches!(text.as_str(), "true" | "TRUE" | "1"),
        Value::Number(number) => number.as_u64() == Some(1),
        _ => false,
    }
}

/// A non-negative integer, or the decimal string of one (spec P80).
pub fn natural(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => {
            let is_decimal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            is_decimal.then(|| text.parse().ok()).flatten()
        }
        _ => None,
    }
}
