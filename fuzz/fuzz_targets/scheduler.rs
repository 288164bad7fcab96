//! Random programs of tasks under random orders of answers: every run ends, reports every task's
//! start and end, and ends for a conflict exactly when the slow model finds one (spec part 03,
//! sections 7 to 18, and part 04, sections 12 to 15).
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
#[path = "../../tests/tasks/trace.rs"]
#[allow(dead_code)]
mod trace;

use drive::{Order, drive, program};
use plan::{Bytes, Plan};

fuzz_target!(|input: &[u8]| {
    let Some((head, body)) = input.split_first_chunk::<9>() else {
        return;
    };
    let (how, seed) = (head[0], &head[1..]);
    let order = Order {
        seed: seed.iter().fold(0, |seed, byte| seed << 8 | u64::from(*byte)),
        concurrency: u32::from(how % 4) + 1,
        meddles: how & 4 == 0,
    };
    let plan = match how & 8 {
        0 => Plan::wild(&mut Bytes(body)),
        _ => Plan::calm(&mut Bytes(body)),
    };
    trace::check(&drive(&program(&plan.prompt()), order));
});
