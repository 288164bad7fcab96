//! The outcome matrix of packets against a slow reading of it, row by row, and that every life it
//! decides comes to an end (spec P91, P93).

#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use runvil::packet::failure::{Failure, FailureClass};
use runvil::packet::recovery::{
    Action, RecoverySettings, Row, Situation, Trigger, Verdict, decide, retry_delay,
};
use runvil::packet::state::Mode;

#[derive(Arbitrary, Clone, Copy, Debug)]
struct Outcome {
    class: u8,
    /// Flags of a claim; those of the class without them.
    claim: Option<[bool; 4]>,
    verdict: u8,
    progress: bool,
    most: Option<u8>,
    delay: Option<u64>,
}

#[derive(Arbitrary, Debug)]
struct Input {
    retries: u8,
    class_retries: Option<u8>,
    repairs: u8,
    base: u64,
    cap: u64,
    flags: [bool; 6],
    outcomes: Vec<Outcome>,
}

fuzz_target!(|input: Input| {
    let [enabled, success, failed, spent, consecutive, jitter] = input.flags;
    let mut settings = RecoverySettings {
        max_attempts: u64::from(input.retries),
        base_delay_ms: input.base,
        max_delay_ms: input.cap,
        jitter,
        repair_enabled: enabled,
        repair_max_attempts: u64::from(input.repairs),
        on_nominal_success: success,
        on_provider_failure: failed,
        on_retry_exhaustion: spent,
        consecutive,
        ..RecoverySettings::default()
    };
    let all: Vec<FailureClass> = FailureClass::all().collect();
    if let Some(most) = input.class_retries {
        settings.class_attempts.insert(all[0].name().to_owned(), u64::from(most));
    }
    let (mut retries, mut repairs, mut mode) = (0, 0, Mode::Run);
    for outcome in &input.outcomes {
        let failure = all.get(usize::from(outcome.class)).map(|class| failure(class, outcome));
        let verdict = [Verdict::Pass, Verdict::Fail, Verdict::Empty, Verdict::Fault]
            [usize::from(outcome.verdict % 4)];
        let situation = Situation {
            failure: failure.as_ref(),
            verdict,
            mode,
            retries_used: retries,
            repairs_used: repairs,
            settings: &settings,
        };
        let decision = decide(situation, || outcome.progress);
        assert_eq!(decision.row, slow(&situation, outcome.progress), "{situation:?}");
        match decision.action {
            Action::Halt | Action::Complete | Action::Fail => return,
            Action::Retry => {
                retries += 1;
                mode = Mode::Retry;
                let suggested = failure.and_then(|failure| failure.suggested_delay_ms);
                let cap = settings.max_delay_ms.max(settings.base_delay_ms);
                let delay = retry_delay(&settings, suggested, retries, |least, most| {
                    assert!(least <= most && least > 0);
                    most
                });
                assert!(delay <= cap);
            }
            Action::Repair(_) => {
                repairs += 1;
                mode = Mode::Repair;
            }
        }
        // Each has its bound, whatever comes.
        let bound = settings.class_attempts.values().copied().chain([settings.max_attempts]).max();
        assert!(retries <= bound.unwrap_or_default());
        assert!(repairs <= settings.repair_max_attempts);
    }
});

fn failure(class: &FailureClass, outcome: &Outcome) -> Failure {
    let mut failure = Failure::new(class.clone(), "x");
    if let Some([retryable, repairable, resumeable, local]) = outcome.claim {
        failure.retryable = retryable;
        failure.repairable = repairable;
        failure.resumeable = resumeable;
        failure.local_deterministic = local;
    }
    failure.suggested_max_attempts = outcome.most.map(u64::from);
    failure.suggested_delay_ms = outcome.delay;
    failure
}

/// The first row of P91 that applies, each written as the table has it.
fn slow(s: &Situation<'_>, progress: bool) -> Row {
    let ready = |trigger: Trigger| {
        let on = match trigger {
            Trigger::NominalSuccess => s.settings.on_nominal_success,
            Trigger::ProviderFailure => s.settings.on_provider_failure,
            Trigger::RetryExhaustion => s.settings.on_retry_exhaustion,
        };
        on && s.settings.repair_enabled
            && s.repairs_used < s.settings.repair_max_attempts
            && (s.mode != Mode::Repair || s.settings.consecutive)
    };
    let ok = s.failure.is_none();
    let is = |what: fn(&Failure) -> bool| s.failure.is_some_and(what);
    let local = is(|failure| failure.local_deterministic);
    let r = !local && is(|failure| failure.retryable);
    let n = !local && is(|failure| !failure.retryable && failure.repairable);
    let t = !local && is(|failure| !failure.retryable && !failure.repairable);
    let denied = is(|failure| failure.class == FailureClass::APPROVAL_DENIED);
    let left = s.failure.is_some_and(|failure| s.retries_used < s.settings.retry_limit(failure));
    let v = s.verdict;
    let unmet = matches!(v, Verdict::Fail | Verdict::Empty);
    let rows = [
        (Row::M1, v == Verdict::Fault),
        (Row::M2, ok && v == Verdict::Pass),
        (Row::M3, ok && v == Verdict::Empty),
        (Row::M4, ok && v == Verdict::Fail && ready(Trigger::NominalSuccess)),
        (Row::M5, ok && v == Verdict::Fail),
        (Row::M6, local),
        (Row::M7, denied && v == Verdict::Pass),
        (Row::M8, (r || n || t) && v == Verdict::Pass),
        (Row::M9, r && unmet && left),
        (Row::M10, r && v == Verdict::Fail && progress && ready(Trigger::RetryExhaustion)),
        (Row::M11, n && v == Verdict::Fail && progress && ready(Trigger::ProviderFailure)),
        (Row::M12, (r || n || t) && unmet),
    ];
    let row = rows.into_iter().find(|(_, applies)| *applies);
    row.map(|(row, _)| row).expect("the rows leave nothing out")
}
