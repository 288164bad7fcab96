//! Random programs of tasks under random orders of answers: every run ends, reports every task's
//! start and end, and ends for a conflict exactly when the slow model finds one (spec part 03,
//! sections 7 to 18, and part 04, sections 12 to 15). Programs that do not look at the order of
//! their answers do the same under another.
//!
//! The input is nine bytes that say how the run is driven, and then the program.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/tasks/drive.rs"]
mod drive;
#[path = "../../tests/tasks/plan.rs"]
mod plan;
#[path = "../../tests/store/slow.rs"]
#[allow(dead_code)]
mod slow;
#[path = "../../tests/tasks/talk.rs"]
mod talk;
#[path = "../../tests/tasks/trace.rs"]
mod trace;

use drive::{Order, drive, program};
use plan::{Bytes, Plan};
use runvil::engine::{Outcome, RunErrorKind};

fn is_conflict(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Failed(error) if error.kind == RunErrorKind::Determinism)
}

fuzz_target!(|input: &[u8]| {
    let Some((head, body)) = input.split_first_chunk::<9>() else {
        return;
    };
    let (how, seed) = (head[0], &head[1..]);
    let calm = how & 8 != 0;
    let order = Order {
        seed: seed
            .iter()
            .fold(0, |seed, byte| seed << 8 | u64::from(*byte)),
        concurrency: u32::from(how % 4) + 1,
        meddles: !calm && how & 4 == 0,
    };
    let plan = match calm {
        true => Plan::calm(&mut Bytes(body)),
        false => Plan::wild(&mut Bytes(body)),
    };
    let program = program(&plan.prompt());
    let ran = drive(&program, order);
    trace::check(&ran);
    if calm {
        let other = Order {
            seed: !order.seed,
            concurrency: 5 - order.concurrency,
            ..order
        };
        let other = drive(&program, other);
        trace::check(&other);
        assert_eq!(is_conflict(&ran.outcome), is_conflict(&other.outcome));
        if !is_conflict(&ran.outcome) {
            assert_eq!(ran.outcome, other.outcome);
            assert_eq!(ran.files, other.files);
            assert_eq!(trace::work(&ran), trace::work(&other));
        }
    }
});
