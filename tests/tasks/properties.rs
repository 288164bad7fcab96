//! What holds for any program of tasks, whatever order its answers come in.

use proptest::collection::vec;
use proptest::prelude::*;
use runvil::engine::{Outcome, RunErrorKind};

use super::drive::{Order, Ran, drive, program};
use super::plan::{Bytes, Plan};
use super::trace;

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..400)
}

fn is_conflict(ran: &Ran) -> bool {
    matches!(&ran.outcome, Outcome::Failed(error) if error.kind == RunErrorKind::Determinism)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(160)
    })]

    /// Whatever a program looks at, its events are whole, and it ends for a conflict exactly when
    /// it meets one. The same order of answers gives the same run (spec K200).
    #[test]
    fn wild_programs_end_whole(bytes in bytes(), seed in any::<u64>(), concurrency in 1..5_u32) {
        let program = program(&Plan::wild(&mut Bytes(&bytes)).prompt());
        for (seed, meddles) in [(seed, false), (seed ^ 0x5555, true)] {
            let order = Order { seed, concurrency, meddles };
            let ran = drive(&program, order);
            trace::check(&ran);
            let again = drive(&program, order);
            prop_assert_eq!(ran.items, again.items);
            prop_assert_eq!(ran.outcome, again.outcome);
        }
    }

    /// A program that does not look at the order in which its tasks end does the same under every
    /// order of answers and every limit on its tasks, and a conflict is found in all or in none
    /// (spec K198, S76).
    #[test]
    fn calm_programs_do_the_same_in_any_order(bytes in bytes(), seed in any::<u64>()) {
        let program = program(&Plan::calm(&mut Bytes(&bytes)).prompt());
        let runs: Vec<Ran> = (1..5)
            .map(|concurrency| {
                let seed = seed.wrapping_add(u64::from(concurrency) * 0x9e37_79b9);
                drive(&program, Order { seed, concurrency, meddles: false })
            })
            .collect();
        for ran in &runs {
            trace::check(ran);
            prop_assert_eq!(is_conflict(ran), is_conflict(&runs[0]));
            if !is_conflict(ran) {
                prop_assert_eq!(&ran.outcome, &runs[0].outcome);
                prop_assert_eq!(&ran.files, &runs[0].files);
                prop_assert_eq!(trace::work(ran), trace::work(&runs[0]));
            }
        }
    }
}
