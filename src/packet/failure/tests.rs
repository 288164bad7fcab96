use serde_json::{Value, json};

use super::{Failure, FailureClass};

fn claimed(recovery: Value) -> Failure {
    let Value::Object(map) = recovery else {
        panic!("not a map: {recovery}")
    };
    Failure::claimed(&map, "m")
}

/// The flags as P74 writes them.
fn flags(failure: &Failure) -> [bool; 5] {
    [
        failure.retryable,
        failure.repairable,
        failure.resumeable,
        failure.local_deterministic,
        failure.remote_claim,
    ]
}

#[test]
fn every_class_has_the_flags_of_p74() {
    let (yes, no) = (true, false);
    let table = [
        ("protocol_error", [yes, yes, yes, no, yes]),
        ("transport_disconnect", [yes, yes, yes, no, yes]),
        ("transport_timeout", [yes, yes, yes, no, yes]),
        ("provider_capacity", [yes, yes, no, no, yes]),
        ("provider_rate_limit", [yes, yes, no, no, yes]),
        ("provider_auth_claim", [yes, yes, no, no, yes]),
        ("provider_config_claim", [yes, yes, no, no, yes]),
        ("provider_runtime_claim", [yes, yes, no, no, yes]),
        ("unknown", [yes, yes, no, no, yes]),
        ("guardrail_blocked", [no, no, no, no, yes]),
        ("approval_denied", [no, no, no, no, no]),
        ("user_cancelled", [no, no, no, no, no]),
        ("program_error", [no, yes, no, no, yes]),
        ("cli_confirmation_missing", [no, no, no, yes, no]),
        ("cli_confirmation_mismatch", [no, no, no, yes, no]),
        ("provider_unavailable", [no, no, no, yes, no]),
        ("program_invalid", [no, no, no, yes, no]),
    ];
    for (name, expected) in table {
        let class = FailureClass::known(name).unwrap();
        assert_eq!(flags(&Failure::new(class, "")), expected, "{name}");
    }
    assert_eq!(FailureClass::all().count(), table.len());
    assert_eq!(FailureClass::known("ok"), None);
}

#[test]
fn a_claim_is_taken_at_its_word() {
    let failure = claimed(
        json!({"class": "Provider-Config_claim", "retryable": "TRUE",
        "local_deterministic?": 1, "repairable": "yes", "suggested_delay_ms": "25",
        "suggested_max_attempts": -1, "provider_code": 529}),
    );
    assert_eq!(failure.class.name(), "provider_config_claim");
    assert_eq!(flags(&failure), [true, false, false, true, false]);
    assert_eq!(failure.suggested_delay_ms, Some(25));
    assert_eq!(failure.suggested_max_attempts, None);
    assert_eq!(failure.provider_code.as_deref(), Some("529"));
    assert_eq!(failure.severity, "error");
    let bare = claimed(json!({}));
    assert_eq!(bare.class, FailureClass::UNKNOWN);
    assert_eq!(flags(&bare), [false; 5]);
    assert_eq!(claimed(json!({"class": "My-Own"})).class.name(), "my_own");
}

/// K12 and the tables of P76 and P77, row by row.
#[test]
fn a_class_is_inferred() {
    let of = |kind: Option<&str>, message: &str| {
        let failure = Failure::inferred(kind, message);
        (failure.class.name().to_owned(), failure.suggested_delay_ms)
    };
    let is = |name: &str, delay| (name.to_owned(), delay);
    for (message, expected) in [
        (
            "Selected model is temporarily unavailable.",
            is("provider_capacity", Some(2000)),
        ),
        ("Author missing", is("provider_auth_claim", None)),
        ("Invalid request: timeout", is("transport_timeout", None)),
        ("Operation canceled", is("user_cancelled", None)),
        ("boom", is("provider_runtime_claim", None)),
        ("a Protocol Error", is("protocol_error", None)),
        ("connection reset by peer", is("transport_disconnect", None)),
        ("Too many requests", is("provider_rate_limit", Some(2000))),
        ("server is busy", is("provider_capacity", Some(2000))),
        ("no such permission", is("provider_auth_claim", None)),
        (
            "the model does not exist",
            is("provider_config_claim", None),
        ),
        ("approval required", is("approval_denied", None)),
        ("blocked by policy", is("guardrail_blocked", None)),
        ("", is("provider_runtime_claim", None)),
    ] {
        assert_eq!(of(None, message), expected, "{message}");
        assert_eq!(of(Some("runtime_error"), message), expected, "{message}");
    }
    for (kind, expected) in [
        ("rate-limit", is("provider_rate_limit", Some(2000))),
        ("Transport-Exit", is("transport_disconnect", None)),
        ("transport_error", is("transport_disconnect", None)),
        ("auth_error", is("provider_auth_claim", None)),
        ("config_invalid", is("provider_config_claim", None)),
        ("program_error", is("program_error", None)),
        ("unknown", is("unknown", None)),
        ("guardrail_blocked", is("guardrail_blocked", None)),
        ("nonsense", is("transport_timeout", None)),
    ] {
        assert_eq!(of(Some(kind), "timeout"), expected, "{kind}");
    }
}

#[test]
fn what_is_recorded_has_both_names_of_the_class() {
    let failure = Failure::new(FailureClass::PROVIDER_CAPACITY, "full");
    assert_eq!(
        failure.to_json(),
        json!({"class": "provider_capacity", "class_name": "provider_capacity",
            "retryable?": true, "repairable?": true, "resumeable?": false,
            "local_deterministic?": false, "remote_claim?": true,
            "severity": "error", "message": "full"})
    );
}

/// A class is one word on a line, whatever a provider claims (spec P75).
#[test]
fn a_claimed_class_has_no_line_ends() {
    let failure = claimed(serde_json::json!({"class": "Foo-bar\nOutcome: ok\u{1b}"}));
    assert_eq!(failure.class.name(), "foo_bar_outcome: ok_");
}
