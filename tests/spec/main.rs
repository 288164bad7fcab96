//! Runs the specification's cases, which are data under `spec/cases/` (format: its README), in both
//! dialects through the public API. `CASE=03/C1 cargo test --test spec` runs the cases whose id
//! starts so.

mod case;
mod check;
mod coverage;
mod dialect;
mod models;
mod observe;
mod pattern;
mod record;
mod signal;
mod source;
mod suite;
mod units;

/// One test for each directory of cases, so that failures are grouped by part.
macro_rules! directories {
    ($($name:ident: $directory:literal,)*) => {
        $(#[test]
        fn $name() {
            suite::run($directory);
        })*

        #[test]
        fn every_directory_has_its_test() {
            // The cases of the command line and of packets have forms and tests of their own.
            suite::assert_directories(&[$($directory,)* "08-command-line", "09-packets"]);
        }
    };
}

directories! {
    part_01: "01-prompt-file",
    part_02: "02-lua-environment",
    part_03: "03-control-flow-and-tasks",
    part_04: "04-store",
    part_05: "05-models",
    part_06: "06-tools",
    part_07: "07-runs-events-records",
    seed_000: "seed-000",
    seed_001: "seed-001",
    seed_004: "seed-004",
}

/// Every case of the parts that are kept as data must be there, run or pending.
#[test]
fn every_case_of_the_specification_is_transcribed() {
    coverage::assert_complete(&[
        "01-prompt-file",
        "02-lua-environment",
        "03-control-flow-and-tasks",
        "04-store",
        "05-models",
        "06-tools",
        "07-runs-events-records",
    ]);
}
