//! The recovery settings, and the delay before a retry (spec P79 to P83).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::packet::failure::{Failure, FailureClass};
use crate::packet::scalar::{is_truthy, natural};

/// What a prompt may recover from, and how often (spec P79).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoverySettings {
    /// The most resumes of one attempt.
    pub resume_attempts: u64,
    /// Read, and not used.
    pub max_steers: u64,
    /// The most retries after a class that has no number of its own.
    pub max_attempts: u64,
    /// The delay before the first retry, in milliseconds.
    pub base_delay_ms: u64,
    /// The longest delay, in milliseconds.
    pub max_delay_ms: u64,
    /// Whether delays are drawn at random below their length.
    pub jitter: bool,
    /// The most retries after a class.
    pub class_attempts: BTreeMap<String, u64>,
    /// Whether there are repairs.
    pub repair_enabled: bool,
    /// The most repairs of a prompt in one invocation.
    pub repair_max_attempts: u64,
    /// Whether a success whose contract fails leads to a repair.
    pub on_nominal_success: bool,
    /// Whether a failure that left changes leads to a repair.
    pub on_provider_failure: bool,
    /// Whether spent retries that left changes lead to a repair.
    pub on_retry_exhaustion: bool,
    /// Whether a repair may follow directly on another.
    pub consecutive: bool,
}

impl Default for RecoverySettings {
    fn default() -> Self {
        let classes = [
            ("provider_capacity", 5),
            ("provider_rate_limit", 5),
            ("provider_auth_claim", 3),
            ("provider_config_claim", 3),
            ("provider_runtime_claim", 3),
            ("transport_disconnect", 4),
            ("transport_timeout", 4),
            ("protocol_error", 4),
            ("unknown", 3),
        ];
        let classes = classes.map(|(class, most)| (class.to_owned(), most));
        Self {
            resume_attempts: 2,
            max_steers: 3,
            max_attempts: 3,
            base_delay_ms: 1000,
            max_delay_ms: 30_000,
            jitter: true,
            class_attempts: BTreeMap::from(classes),
            repair_enabled: true,
            repair_max_attempts: 2,
            on_nominal_success: true,
            on_provider_failure: true,
            on_retry_exhaustion: true,
            consecutive: false,
        }
    }
}

impl RecoverySettings {
    /// Reads a `recovery` map, its layers merged, over the defaults. What is not a map, not a
    /// number or not a flag leaves the default (spec P80).
    pub fn read(recovery: &Value) -> Self {
        let mut out = Self::default();
        let Reader(root) = Reader(recovery);
        Reader(root).number("resume_attempts", &mut out.resume_attempts);
        Reader(root).number("max_steers", &mut out.max_steers);
        let retry = Reader(&root["retry"]);
        retry.number("max_attempts", &mut out.max_attempts);
        retry.number("base_delay_ms", &mut out.base_delay_ms);
        retry.number("max_delay_ms", &mut out.max_delay_ms);
        retry.flag("jitter", &mut out.jitter);
        if let Value::Object(classes) = &root["retry"]["class_attempts"] {
            for (class, most) in classes {
                if let Some(most) = natural(most) {
                    let class = FailureClass::named(class);
                    out.class_attempts.insert(class.name().to_owned(), most);
                }
            }
        }
        let repair = Reader(&root["repair"]);
        repair.flag("enabled", &mut out.repair_enabled);
        repair.number("max_attempts", &mut out.repair_max_attempts);
        repair.flag(
            "trigger_on_nominal_success_with_failed_verifier",
            &mut out.on_nominal_success,
        );
        repair.flag(
            "trigger_on_provider_failure_with_workspace_changes",
            &mut out.on_provider_failure,
        );
        repair.flag(
            "trigger_on_retry_exhaustion_with_workspace_changes",
            &mut out.on_retry_exhaustion,
        );
        repair.flag("consecutive", &mut out.consecutive);
        out
    }

    /// The most retries after a failure (spec P82).
    pub fn retry_limit(&self, failure: &Failure) -> u64 {
        let own = self.class_attempts.get(failure.class.name());
        let limit = own.copied().unwrap_or(self.max_attempts);
        limit.min(failure.suggested_max_attempts.unwrap_or(limit))
    }
}

/// A map that may be anything else.
struct Reader<'a>(&'a Value);

impl Reader<'_> {
    fn number(&self, key: &str, to: &mut u64) {
        if let Some(number) = self.0.get(key).and_then(natural) {
            *to = number;
        }
    }

    /// A flag that is there is truthy or false; a null is as if it were not there.
    fn flag(&self, key: &str, to: &mut bool) {
        if let Some(value) = self.0.get(key).filter(|value| !value.is_null()) {
            *to = is_truthy(value);
        }
    }
}

/// The delay before retry number `nth`, counted from 1, in milliseconds (spec P83). `draw` gives
/// a number of the closed range that it is called with.
pub fn retry_delay(
    settings: &RecoverySettings,
    suggested_ms: Option<u64>,
    nth: u64,
    draw: impl FnOnce(u64, u64) -> u64,
) -> u64 {
    let base = settings.base_delay_ms;
    let cap = settings.max_delay_ms.max(base);
    let doublings = u32::try_from(nth.saturating_sub(1)).unwrap_or(u32::MAX);
    let factor = 1_u64.checked_shl(doublings).unwrap_or(u64::MAX);
    let delay = suggested_ms.unwrap_or(base).saturating_mul(factor).min(cap);
    if !settings.jitter || delay == 0 {
        return delay;
    }
    draw((delay / 2).max(1), delay)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn delays(base: u64, cap: u64, suggested: Option<u64>, most: u64) -> Vec<u64> {
        let settings = RecoverySettings {
            base_delay_ms: base,
            max_delay_ms: cap,
            jitter: false,
            ..RecoverySettings::default()
        };
        let delay = |nth| retry_delay(&settings, suggested, nth, |_, _| unreachable!());
        (1..=most).map(delay).collect()
    }

    /// P83, K10.
    #[test]
    fn delays_double_up_to_their_cap() {
        let expected = [1000, 2000, 4000, 8000, 16000, 30000];
        assert_eq!(delays(1000, 30_000, None, 6), expected);
        assert_eq!(delays(1000, 30_000, Some(2000), 2), [2000, 4000]);
        assert_eq!(delays(0, 0, Some(2000), 1), [0]);
        assert_eq!(delays(5000, 1000, None, 2), [5000, 5000]);
        let last = delays(1, u64::MAX, None, 70);
        assert_eq!(
            &last[62..],
            [
                1 << 62,
                1 << 63,
                u64::MAX,
                u64::MAX,
                u64::MAX,
                u64::MAX,
                u64::MAX,
                u64::MAX
            ]
        );
    }

    /// K11.
    #[test]
    fn a_delay_is_drawn_from_its_upper_half() {
        let range = |base| {
            let settings = RecoverySettings {
                base_delay_ms: base,
                ..RecoverySettings::default()
            };
            let mut asked = None;
            let delay = retry_delay(&settings, None, 1, |least, most| {
                asked = Some((least, most));
                least
            });
            (delay, asked)
        };
        assert_eq!(range(0), (0, None));
        assert_eq!(range(1), (1, Some((1, 1))));
        assert_eq!(range(5), (2, Some((2, 5))));
    }

    /// P80, K41, its second half.
    #[test]
    fn settings_are_read_leniently() {
        let read = RecoverySettings::read(&json!({"resume_attempts": "4", "retry": {
            "max_attempts": 7, "base_delay_ms": -1, "max_delay_ms": "x", "jitter": "yes",
            "class_attempts": {"unknown": 1, "my-class": "2"}}, "repair": {"enabled": "1"}}));
        assert_eq!(read.resume_attempts, 4);
        assert_eq!((read.base_delay_ms, read.max_delay_ms), (1000, 30_000));
        assert!(!read.jitter && read.repair_enabled);
        let limit = |class: &str| read.retry_limit(&Failure::new(FailureClass::named(class), ""));
        assert_eq!(limit("unknown"), 1);
        assert_eq!(limit("program_xyz"), 7);
        assert_eq!(limit("provider_capacity"), 5);
        assert_eq!(limit("my_class"), 2);
        for nothing in [json!(null), json!([]), json!({"retry": 3, "repair": []})] {
            assert_eq!(
                RecoverySettings::read(&nothing),
                RecoverySettings::default()
            );
        }
        let lowered = Failure {
            suggested_max_attempts: Some(0),
            ..Failure::new(FailureClass::UNKNOWN, "")
        };
        assert_eq!(read.retry_limit(&lowered), 0);
    }
}
